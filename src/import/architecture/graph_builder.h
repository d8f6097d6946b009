// GraphBuilder: writes the graph of one mode, module by module.
//
//   auto layer = builder.scope("layers", 0, "LlamaDecoderLayer");
//   {
//     auto attention = builder.scope("self_attn");
//     ValueId weight = builder.parameter("weight", {4096, 4096});
//     ValueId q = builder.op("MatMul", {x, weight});  // "layers.0.self_attn/MatMul"
//   }
//
// The open scopes are both the module path of each node and the prefix of each tensor's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/architecture/quantization.h"
#include "kcharter/model/model.h"

namespace kcharter {

struct BuildOptions {
  Mode mode = Mode::kPrefill;
  DType dtype = DType::kF32;               // of weights
  std::optional<DType> activation_dtype;   // none: that of weights
  std::optional<ElementFormat> kv_format;  // none: the activations'
  Quantization quantization;
};

class GraphBuilder {
 public:
  static constexpr size_t kMostNodes = 2'000'000;
  static constexpr size_t kMostTensors = 4'000'000;

  explicit GraphBuilder(BuildOptions options);

  // Leaves the scope when it goes out of scope.
  class [[nodiscard]] Scoped {
   public:
    Scoped(Scoped&& other) noexcept : builder_(other.builder_), levels_(other.levels_) {
      other.levels_ = 0;
    }
    ~Scoped() { builder_->leave(levels_); }
   private:
    friend class GraphBuilder;
    Scoped(GraphBuilder* builder, size_t levels) : builder_(builder), levels_(levels) {}
    GraphBuilder* builder_;
    size_t levels_;
  };
  // "attn.attention" opens two levels, "layers.0" one, an empty name none, so that optional levels
  // need no case. The class is that of the innermost.
  Scoped scope(std::string_view name, std::string_view class_name = {});
  Scoped scope(std::string_view list, int64_t index, std::string_view class_name = {});
  bool silent() const { return silent_ > 0; }
  std::string path(std::string_view name) const;  // "model.layers.0.<name>"

  const BuildOptions& options() const { return options_; }
  bool decode() const { return options_.mode == Mode::kDecode; }
  DType activation_dtype() const;
  const Expr& batch() const { return batch_; }
  // Tokens of this step: current_length, or 1 in decode.
  const Expr& tokens() const { return tokens_; }
  // Tokens kept from earlier steps: 0, or current_length - 1 in decode.
  const Expr& past() const { return past_; }

  ValueId input(std::string_view name, DType dtype, Shape shape);
  // A free dimension of the document, declared once.
  Expr variable(std::string_view name, std::string_view label, int64_t value, int64_t min = 1);

  // A stored tensor of the open module. `read_as`: how the operator reads it ([in, out] of a matrix
  // stored as [out, in]); empty: as stored.
  ValueId parameter(std::string_view name, std::vector<int64_t> dims,
                    std::vector<int64_t> read_as = {}, std::optional<DType> dtype = std::nullopt);
  ValueId stored(Initializer initializer, std::vector<int64_t> read_as);
  // The weight of the open module, a matrix [in, out], in the checkpoint's own storage: one tensor
  // "weight", or payload, scales … of a quantized one.
  struct Matrix {
    std::vector<ValueId> parts;
    bool quantized = false;
  };
  Matrix matrix(int64_t in, int64_t out, bool stored_in_out = false);
  // Such matrices of all experts in one tensor: "<name><suffix>".
  std::vector<ValueId> stacked_matrix(const std::string& name, const std::string& suffix, int64_t experts,
                                      int64_t in, int64_t out, bool stored_in_out);
  // While it lives tensors are declared but nothing runs: heads that predict further tokens, towers
  // in decode. Nodes are not written, values are none.
  class [[nodiscard]] Silence {
   public:
    explicit Silence(GraphBuilder& builder) : builder_(builder) { ++builder_.silent_; }
    Silence(const Silence&) = delete;
    ~Silence() { --builder_.silent_; }
   private:
    GraphBuilder& builder_;
  };
  // While it lives a tensor whose full name is known from such a time is used again, not stored twice:
  // layers that run on the same weights.
  class [[nodiscard]] SharedWeights {
   public:
    explicit SharedWeights(GraphBuilder& builder) : builder_(builder) { ++builder_.sharing_; }
    SharedWeights(const SharedWeights&) = delete;
    ~SharedWeights() { --builder_.sharing_; }
   private:
    GraphBuilder& builder_;
  };
  // Stored bytes that are another tensor's numbers once more: no parameters of their own.
  void copied_parameter(std::string_view name, std::vector<int64_t> dims);
  void buffer(std::string_view name, std::vector<int64_t> dims, DType dtype);
  // A buffer that an operator reads, in the weights' type where none is given.
  ValueId buffer_value(std::string_view name, std::vector<int64_t> dims, std::optional<DType> dtype = std::nullopt);
  // A second name, in the open module, of the tensor behind `original`.
  ValueId alias(std::string_view name, ValueId original, std::vector<int64_t> read_as);

  ValueId op(std::string_view op_type, std::vector<ValueId> inputs,
             std::vector<Attribute> attributes = {});
  ValueId ours(std::string_view op_type, std::vector<ValueId> inputs,
               std::vector<Attribute> attributes = {});
  std::vector<ValueId> ours(std::string_view op_type, std::vector<ValueId> inputs, size_t outputs,
                            std::vector<Attribute> attributes);
  std::vector<ValueId> split(ValueId value, std::vector<int64_t> sizes);  // along the last axis
  ValueId reshape(ValueId value, std::vector<int64_t> shape);  // 0 keeps a dimension, -1 is the rest

  // A cache that the next node written by cached() reads and writes in place. `shape_past` is what
  // this step reads, `shape_present` what stands there after it, `allocated` what is set aside.
  struct CacheSpec {
    std::string name;
    CacheKind kind = CacheKind::kKeyValue;
    std::vector<Expr> past, present, allocated;
    int32_t sequence_axis = -1;
    std::optional<DType> dtype;  // states: f32 …; none: --kv-dtype or that of activations
    std::optional<ElementFormat> format;  // where no dtype says it
  };
  struct CachedNode {
    std::vector<ValueId> outputs;   // those before the caches'
    std::vector<ValueId> presents;  // of each cache
  };
  // A node of our domain with `inputs`, then the past of each cache; `outputs` values, then the
  // present of each cache.
  CachedNode cached(std::string_view op_type, std::vector<ValueId> inputs, size_t outputs,
                    const std::vector<CacheSpec>& caches, std::vector<Attribute> attributes);

  // Keys and values of a layer, for later layers that use them too.
  void remember(int64_t layer, std::vector<ValueId> values) { remembered_[layer] = std::move(values); }
  // Throws Error where that layer kept none.
  std::vector<ValueId> remembered(int64_t layer) const;

  void output(ValueId value);
  void expect(std::string_view convention);
  // Counts a tensor's parameters as taking part in one token only by used/of (experts).
  void active_share(ValueId weight, int64_t used, int64_t of);

  Graph& graph() { return graph_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  std::string_view architecture;   // set by the family chosen
  std::optional<int64_t> context_limit;
  bool can_decode = false;
  // What was built. Call once, last.
  Model finish();

 private:
  friend class Scoped;
  friend class Silence;
  friend class SharedWeights;
  void leave(size_t levels);
  ScopeId current_scope();
  NodeId add_node(std::string_view domain, std::string_view op_type, std::vector<ValueId> inputs,
                  size_t outputs, std::vector<Attribute> attributes, int32_t version);
  ValueId add_value(std::string name);
  std::vector<ValueId> store_parts(const std::vector<StoredPart>& parts, const std::string& prefix,
                                   const std::vector<int64_t>& logical);
  ValueId store_once(Initializer initializer, std::vector<int64_t> read_as);
  InitializerId add_initializer(Initializer initializer);
  Int active_parameters() const;
  ElementFormat cache_format(const CacheSpec& spec) const;

  BuildOptions options_;
  Graph graph_;
  Diagnostics diagnostics_;
  std::vector<Variable> variables_;
  std::vector<std::string> conventions_;
  std::vector<std::string> segments_;
  std::vector<std::string> classes_;
  std::vector<ScopeId> scope_ids_;  // parallel to segments_; none where not used yet
  std::unordered_map<std::string, int> names_;
  std::unordered_map<uint32_t, std::pair<int64_t, int64_t>> active_;  // by InitializerId
  std::unordered_map<int64_t, std::vector<ValueId>> remembered_;
  int silent_ = 0;
  int sharing_ = 0;
  std::unordered_map<std::string, ValueId> shared_;  // by the tensor's full name
  Expr batch_, tokens_, past_;
};

Attribute attribute(std::string_view name, AttributeValue value);

}  // namespace kcharter
