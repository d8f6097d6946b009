// The small parts every family is made of: linear layers, norms, embeddings, feed-forward blocks.
// Each is a plain description and one function that writes it into the open scope of a GraphBuilder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/architecture/graph_builder.h"

namespace kcharter {

struct Linear {
  std::string name;
  int64_t in = 0;
  int64_t out = 0;
  bool bias = false;
  bool stored_in_out = false;  // GPT-2 stores [in, out]; all others [out, in]
};
ValueId linear(GraphBuilder& builder, ValueId x, const Linear& part);

// With the weights of an embedding [out, in], under this layer's name.
ValueId tied_linear(GraphBuilder& builder, ValueId x, const Linear& part,
                    const std::vector<ValueId>& table);

enum class NormKind : uint8_t { kNone, kRms, kLayer };
struct Norm {
  NormKind kind = NormKind::kRms;
  double epsilon = 1e-6;
  bool weight = true;
  bool bias = true;  // kLayer only
  std::optional<DType> dtype = std::nullopt;  // where it is not that of all weights
};
// Over the last axis, which has `size` elements. kNone or an empty name: x itself.
ValueId normalize(GraphBuilder& builder, ValueId x, std::string_view name, int64_t size,
                  const Norm& norm);

// Rows of a table [rows, size], one for each id.
struct Embedded {
  ValueId rows;
  std::vector<ValueId> table;  // one tensor, or the parts of a quantized one
};
Embedded embed(GraphBuilder& builder, std::string_view name, int64_t rows, int64_t size, ValueId ids);

// x * factor; x itself where the factor is 1.
ValueId scale(GraphBuilder& builder, ValueId x, double factor);

// "silu", "gelu", "gelu_pytorch_tanh", "gelu_new", "relu", "relu2", "tanh", "quick_gelu" … as
// configurations name them.
ValueId activate(GraphBuilder& builder, ValueId x, std::string_view function);

// down(activation(gate(x)) * up(x)), or down(activation(up(x))) where `gate` is empty and `fused` false.
struct FeedForward {
  std::string name = "mlp";
  std::string class_name;
  std::string gate = "gate_proj";
  std::string up = "up_proj";
  std::string down = "down_proj";
  bool fused = false;  // gate and up are one matrix called `up`, gate first
  bool up_bias = false;
  bool down_bias = false;
  bool stored_in_out = false;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  std::string activation = "silu";
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

}  // namespace kcharter
