// Quantization: how a checkpoint stores the matrices of linear layers, from its quantization_config.
//
//   Quantization q = read_quantization(config, side);
//   for (const StoredPart& part : stored_parts(q, "model.layers.0.mlp.up_proj", {4096, 14336})) …
//   // GPTQ: qweight int32 [512, 14336], qzeros, scales, g_idx
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/architecture/model_config.h"
#include "kcharter/model/graph.h"

namespace kcharter {

enum class StorageFormat : uint8_t {
  kPlain,
  kFp8Block,        // e4m3, a scale for each block of block_rows x block_columns
  kFp8Tensor,       // e4m3, one scale; static input scale where activations are quantized statically
  kFp8Channel,      // e4m3, a scale for each output
  kInt8Channel,     // int8, a scale for each output
  kNvfp4,           // e2m1 pairs, an e4m3 scale for 16, one f32 scale
  kMxfp4,           // e2m1 pairs, an e8m0 scale for 32
  kMxfp8,           // e4m3, an e8m0 scale for 32
  kGptq,            // int32 words of `bits`-bit integers along the inputs
  kAwq,             // … along the outputs
  kPacked,          // compressed-tensors' pack-quantized: int32 words along the inputs, row by row
  kNf4,             // bitsandbytes 4 bit
  kLlmInt8,         // bitsandbytes 8 bit
  kMlx,             // uint32 words, scales and biases for each group
};

// kDeepseek4: "weight" and "scale" of e8m0. kCompressed: compressed-tensors' "weight_packed",
// "weight_global_scale" and "input_global_scale".
enum class PartNames : uint8_t { kUsual, kDeepseek4, kCompressed };

struct MatrixFormat {
  StorageFormat storage = StorageFormat::kPlain;
  int64_t bits = 16;
  int64_t group_size = 0;   // 0: one group over all inputs
  int64_t block_rows = 128, block_columns = 128;
  bool symmetric = true;
  bool group_index = true;    // GPTQ's g_idx
  bool nested = false;        // bitsandbytes: the scales are quantized too
  bool input_scale = false;   // a static scale of activations is stored
  DType scale_dtype = DType::kF16;
  PartNames names = PartNames::kUsual;
  int64_t row_shards = 1;   // kFp8Block: rows were cut into so many parts before they were cut into blocks
};

// Modules by name. A name stands for the module, all below it and, as most libraries read it, for any
// module with these names somewhere in its path ("gate", "lm_head"). It may hold * for anything;
// "re:" begins an expression. Lists name every expert of every layer, so plain names are looked up.
class ModuleNames {
 public:
  void add(std::string_view name, size_t meaning = 0);
  // The meaning of the name that fits; nullopt: none does.
  std::optional<size_t> find(std::string_view path) const;
  bool contains(std::string_view path) const { return find(path).has_value(); }

 private:
  std::map<std::string, size_t, std::less<>> plain_;
  std::vector<std::pair<std::string, size_t>> patterns_;
};

struct Quantization {
  std::string method;  // as the configuration says; empty: not quantized
  MatrixFormat format;
  ModuleNames ignored;
  // Modules with a format of their own: wins over all. Their meaning is an index into `formats`.
  ModuleNames overrides;
  std::vector<MatrixFormat> formats;
  bool embeddings = false;  // MLX quantizes tables too
  ModuleNames in_f32;       // neither quantized nor narrowed
};

// `side` is hf_quant_config.json, empty where there is none. Throws Error where a figure is absurd.
Quantization read_quantization(const ModelConfig& config, const ModelConfig& side);

// How the module at `path` is stored.
MatrixFormat format_of(const Quantization& quantization, std::string_view path);

struct MatrixShape {
  int64_t in = 0;
  int64_t out = 0;
};

// One tensor of a stored matrix; its name follows the module's.
struct StoredPart {
  std::string name;
  DType dtype = DType::kUnknown;
  std::vector<int64_t> dims;
  TensorPart part = TensorPart::kPlain;
};

// Payload first. Empty for kPlain.
std::vector<StoredPart> stored_parts(const MatrixFormat& format, const MatrixShape& shape);

}  // namespace kcharter
