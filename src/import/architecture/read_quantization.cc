// quantization_config and hf_quant_config.json in the words of the tools that write them.
#include <algorithm>

#include "import/architecture/quantization.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr int64_t kLargestGroup = 1 << 20;

int64_t bounded(const ModelConfig& config, std::string_view key, int64_t fallback, int64_t most) {
  int64_t value = config.integer(key, fallback);
  if (value > most || value < -1) {
    throw Error("quantization: '" + std::string(key) + "' is " + std::to_string(value));
  }
  return value;
}

int64_t bits_of(const ModelConfig& config, int64_t fallback) {
  int64_t bits = bounded(config, "bits", config.integer("w_bit", fallback), 16);
  if (bits < 1) throw Error("quantization: 'bits' is " + std::to_string(bits));
  return bits;
}

void ignore_modules(Quantization& result, const ModelConfig& config) {
  for (const char* key : {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules",
                          "llm_int8_skip_modules"}) {
    for (const std::string& name : config.texts(key)) result.ignored.add(name);
  }
}

void override_format(Quantization& result, const std::string& name, const MatrixFormat& format) {
  result.overrides.add(name, result.formats.size());
  result.formats.push_back(format);
}

void read_fp8(Quantization& result, const ModelConfig& config) {
  std::vector<int64_t> block = config.integers("weight_block_size");
  result.format.storage = block.size() == 2 ? StorageFormat::kFp8Block : StorageFormat::kFp8Tensor;
  if (block.size() == 2) {
    result.format.block_rows = std::clamp<int64_t>(block[0], 1, kLargestGroup);
    result.format.block_columns = std::clamp<int64_t>(block[1], 1, kLargestGroup);
  }
  result.format.bits = 8;
  result.format.input_scale = config.text("activation_scheme") == "static";
}

// DeepSeek-V4's own checkpoints: fp8 blocks, experts in fp4, both with scales of e8m0; what compresses
// tokens and weighs the indexer's heads is not quantized.
void read_deepseek4(Quantization& result, const ModelConfig& config) {
  result.format.names = PartNames::kDeepseek4;
  for (const char* name : {"compressor", "weights_proj", "head"}) result.ignored.add(name);
  if (config.text("expert_dtype") != "fp4") return;
  override_format(result, "ffn.experts", {.storage = StorageFormat::kMxfp4, .bits = 4, .names = PartNames::kDeepseek4});
}

// A scheme of compressed-tensors: {"weights": {"num_bits", "type", "strategy", "group_size"}, …}.
MatrixFormat compressed_format(const ModelConfig& group, std::string_view how, DType dtype) {
  MatrixFormat format;
  ModelConfig weights = group.section("weights");
  format.bits = bounded(weights, "num_bits", 8, 16);
  format.group_size = std::max<int64_t>(0, bounded(weights, "group_size", 0, kLargestGroup));
  format.symmetric = weights.flag("symmetric", true);
  format.scale_dtype = dtype;
  format.input_scale = !group.section("input_activations").empty() &&
                       !group.section("input_activations").flag("dynamic", true);
  format.names = PartNames::kCompressed;
  std::string strategy = weights.text("strategy");
  bool floating = weights.text("type") == "float";
  if (how == "pack-quantized") format.storage = StorageFormat::kPacked;
  else if (floating && format.bits == 4) format.storage = format.group_size == 32 ? StorageFormat::kMxfp4 : StorageFormat::kNvfp4;
  else if (floating && strategy == "block") format.storage = StorageFormat::kFp8Block;
  else if (floating) format.storage = strategy == "tensor" ? StorageFormat::kFp8Tensor : StorageFormat::kFp8Channel;
  else format.storage = StorageFormat::kInt8Channel;
  std::vector<int64_t> block = weights.integers("block_structure");
  if (block.size() == 2 && block[0] > 0 && block[1] > 0) {
    format.block_rows = block[0];
    format.block_columns = block[1];
  }
  return format;
}

void read_compressed(Quantization& result, const ModelConfig& config, DType dtype) {
  ModelConfig groups = config.section("config_groups");
  for (const std::string& key : groups.keys()) {
    ModelConfig group = groups.section(key);
    std::string how = group.text("format", config.text("format"));
    MatrixFormat format = compressed_format(group, how, dtype);
    result.format = format;
    for (const std::string& target : group.texts("targets")) {
      if (target != "Linear") override_format(result, target, format);
    }
  }
}

MatrixFormat modelopt_format(const std::string& algorithm) {
  MatrixFormat format;
  if (algorithm == "FP8") {
    format = {.storage = StorageFormat::kFp8Tensor, .bits = 8, .input_scale = true};
  } else if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4") {
    format = {.storage = StorageFormat::kNvfp4, .bits = 4, .input_scale = algorithm == "NVFP4"};
  } else if (algorithm == "MXFP8") {
    format = {.storage = StorageFormat::kMxfp8, .bits = 8};
  } else if (algorithm == "FP8_PB_WO") {
    format = {.storage = StorageFormat::kFp8Block, .bits = 8};
  }
  return format;
}

void override_layers(Quantization& result, const ModelConfig& config) {
  ModelConfig layers = config.section("quantized_layers");
  for (const std::string& name : layers.keys()) {
    override_format(result, name, modelopt_format(layers.section(name).text("quant_algo")));
  }
}

// {"quantization": {"quant_algo": "NVFP4", "exclude_modules": […], "quantized_layers": {…}}}
void read_modelopt(Quantization& result, const ModelConfig& config) {
  std::string algorithm = config.text("quant_algo");
  result.format = modelopt_format(algorithm);
  override_layers(result, config);
  if (algorithm == "MIXED_PRECISION") result.format = MatrixFormat();
}

MatrixFormat mlx_format(const ModelConfig& config, DType dtype) {
  MatrixFormat format;
  format.storage = StorageFormat::kMlx;
  format.bits = bits_of(config, 4);
  format.group_size = std::max<int64_t>(1, bounded(config, "group_size", 64, kLargestGroup));
  format.scale_dtype = dtype;
  return format;
}

void read_mlx(Quantization& result, const ModelConfig& config, DType dtype) {
  result.method = "mlx";
  result.embeddings = true;
  result.format = mlx_format(config, dtype);
  for (const std::string& name : config.keys()) {
    ModelConfig own = config.section(name);
    if (!own.empty()) override_format(result, name, mlx_format(own, dtype));
    else if (config.has(name) && !config.flag(name, true)) result.ignored.add(name);
  }
}

DType scale_dtype_of(const ModelConfig& config) {
  std::string text = config.text("dtype");
  if (text.empty()) text = config.section("text_config").text("dtype");
  return parse_dtype(text).value_or(DType::kBF16);
}

// What implementations keep apart without saying it in the configuration.
void adjust_to_family(Quantization& result, const ModelConfig& config) {
  std::string type = config.text("model_type");
  if (result.method == "bitsandbytes" && (type == "t5" || type == "mt5" || type == "umt5")) {
    result.in_f32.add("wo");  // _keep_in_fp32_modules
  }
  if (result.method == "fp8" && type == "mimo_v2_flash") {
    // Quantized in four parts of the heads; outputs are not.
    MatrixFormat sharded = result.format;
    sharded.row_shards = 4;
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) override_format(result, name, sharded);
    for (const char* name : {"o_proj", "eh_proj"}) result.ignored.add(name);
  }
}

}  // namespace

Quantization read_quantization(const ModelConfig& config, const ModelConfig& side) {
  Quantization result;
  DType dtype = scale_dtype_of(config);
  ModelConfig own = config.section("quantization_config");
  if (own.empty()) own = config.section("text_config").section("quantization_config");
  if (own.empty()) own = config.section("compression_config");
  std::vector<std::string> classes = config.texts("architectures");
  if (!classes.empty() && classes[0] == "DeepseekV4ForCausalLM" && own.text("quant_method") == "fp8") {
    result.method = "fp8";
    read_fp8(result, own);
    read_deepseek4(result, config);
    override_layers(result, own);  // experts that another tool stored anew
    return result;
  }
  if (!side.empty()) {
    ignore_modules(result, own);
    own = side.section("quantization");
  }
  if (own.empty() || (own.text("quant_method").empty() && own.has("group_size") && !own.has("quant_algo"))) {
    ModelConfig mlx = config.section("quantization");
    if (mlx.empty()) mlx = own;
    if (!mlx.empty()) read_mlx(result, mlx, dtype);
    return result;
  }
  result.method = own.text("quant_method", "modelopt");
  ignore_modules(result, own);
  if (result.method == "fp8") {
    read_fp8(result, own);
  } else if (result.method == "gptq") {
    result.format = {.storage = StorageFormat::kGptq, .bits = bits_of(own, 4),
                     .group_size = bounded(own, "group_size", 128, kLargestGroup)};
    result.ignored.add("lm_head");
  } else if (result.method == "awq") {
    result.format = {.storage = StorageFormat::kAwq, .bits = bits_of(own, 4),
                     .group_size = bounded(own, "group_size", own.integer("q_group_size", 128), kLargestGroup)};
    result.ignored.add("lm_head");
  } else if (result.method == "compressed-tensors") {
    read_compressed(result, own, dtype);
  } else if (result.method == "bitsandbytes") {
    bool four = own.flag("load_in_4bit", own.flag("_load_in_4bit", false));
    result.format = {.storage = four ? StorageFormat::kNf4 : StorageFormat::kLlmInt8,
                     .bits = four ? 4 : 8, .nested = own.flag("bnb_4bit_use_double_quant", false),
                     .scale_dtype = dtype};
    if (own.texts("llm_int8_skip_modules").empty()) result.ignored.add("lm_head");
  } else if (result.method == "mxfp4") {
    result.format = {.storage = StorageFormat::kMxfp4, .bits = 4};
  } else if (result.method.starts_with("modelopt") || !own.text("quant_algo").empty()) {
    read_modelopt(result, own);
  } else {
    throw Error("quantization method '" + result.method + "' is not known");
  }
  if (result.method == "fp8") result.ignored.add("lm_head");
  adjust_to_family(result, config);
  return result;
}

}  // namespace kcharter
