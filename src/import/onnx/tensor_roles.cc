#include "import/onnx/tensor_roles.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "import/onnx/consumers.h"
#include "kcharter/base/integer.h"

namespace kcharter {
namespace {

// Smaller float tensors that only elementwise operators read are scalars and the like, unless their
// name says that they are trained.
constexpr int64_t kSmall = 64;
// A weight passes a few aliases and views.
constexpr size_t kMaxTraced = 256;
// Of all weights together, so that a graph made to be slow is not.
constexpr size_t kMaxSteps = 20'000'000;

enum class Use : uint8_t {
  kPassed,     // goes on in another form: alias, view, cast
  kShape,      // steers shapes, or only its shape is read
  kWeight,     // a slot for trained values: matrices, norms, embedding rows
  kQuantized,  // the scale or zero point of a weight
  kTable,      // a slot for cos and sin
  kMask,       // chosen by Where
  kElementwise,
  kOther,
};

struct Slot {
  std::string_view op_type;
  uint32_t first;
  uint32_t last;
  Use use;
};

// By operator, whatever its domain: the names are the same where they are shared.
constexpr Slot kSlots[] = {
    {"Identity", 0, 0, Use::kPassed},
    {"Transpose", 0, 0, Use::kPassed},
    {"Cast", 0, 0, Use::kPassed},
    {"Reshape", 0, 0, Use::kPassed},
    {"Squeeze", 0, 0, Use::kPassed},
    {"Unsqueeze", 0, 0, Use::kPassed},
    {"Flatten", 0, 0, Use::kPassed},
    {"CastLike", 0, 0, Use::kPassed},
    {"Split", 0, 0, Use::kPassed},
    {"Slice", 0, 0, Use::kPassed},
    {"Expand", 0, 0, Use::kPassed},
    {"Tile", 0, 0, Use::kPassed},
    {"QuantizeLinear", 0, 0, Use::kPassed},
    {"Concat", 0, 1u << 20, Use::kPassed},
    {"Shape", 0, 0, Use::kShape},
    {"Size", 0, 0, Use::kShape},
    {"MatMul", 0, 1, Use::kWeight},
    {"Gemm", 0, 2, Use::kWeight},
    {"Conv", 1, 2, Use::kWeight},
    {"ConvTranspose", 1, 2, Use::kWeight},
    {"FusedConv", 1, 2, Use::kWeight},
    {"NhwcConv", 1, 2, Use::kWeight},
    {"FusedMatMul", 0, 1, Use::kWeight},
    {"FusedGemm", 0, 2, Use::kWeight},
    {"TransposeMatMul", 0, 1, Use::kWeight},
    {"Einsum", 0, 1u << 20, Use::kWeight},
    {"DeformConv", 1, 4, Use::kWeight},
    {"Gather", 0, 0, Use::kWeight},
    {"GatherElements", 0, 0, Use::kWeight},
    {"LSTM", 1, 3, Use::kWeight},
    {"GRU", 1, 3, Use::kWeight},
    {"RNN", 1, 3, Use::kWeight},
    {"LSTM", 7, 7, Use::kWeight},
    {"DynamicQuantizeLSTM", 1, 3, Use::kWeight},
    {"BatchNormalization", 1, 4, Use::kWeight},
    {"InstanceNormalization", 1, 2, Use::kWeight},
    {"LayerNormalization", 1, 2, Use::kWeight},
    {"SimplifiedLayerNormalization", 1, 2, Use::kWeight},
    {"RMSNormalization", 1, 1, Use::kWeight},
    {"GroupNormalization", 1, 2, Use::kWeight},
    {"GroupNorm", 1, 2, Use::kWeight},
    {"SkipGroupNorm", 1, 3, Use::kWeight},
    {"SkipLayerNormalization", 2, 4, Use::kWeight},
    {"SkipSimplifiedLayerNormalization", 2, 3, Use::kWeight},
    {"EmbedLayerNormalization", 2, 6, Use::kWeight},
    {"PRelu", 1, 1, Use::kWeight},
    {"BiasGelu", 1, 1, Use::kWeight},
    {"FastGelu", 1, 1, Use::kWeight},
    {"BiasAdd", 1, 1, Use::kWeight},
    {"BiasSplitGelu", 1, 1, Use::kWeight},
    {"QuickGelu", 1, 1, Use::kWeight},
    {"BiasSoftmax", 1, 1, Use::kMask},
    {"CausalConvWithState", 1, 2, Use::kWeight},
    {"QOrderedMatMul", 2, 4, Use::kWeight},
    {"MatMulNBits", 1, 1, Use::kWeight},
    {"MatMulNBits", 2, 4, Use::kQuantized},
    {"MatMulNBits", 5, 5, Use::kWeight},
    {"MatMulBnb4", 1, 1, Use::kWeight},
    {"MatMulBnb4", 2, 2, Use::kQuantized},
    {"MatMulFpQ4", 1, 1, Use::kWeight},
    {"MatMulInteger", 0, 1, Use::kWeight},
    {"MatMulInteger", 2, 3, Use::kQuantized},
    {"MatMulIntegerToFloat", 1, 1, Use::kWeight},
    {"MatMulIntegerToFloat", 2, 5, Use::kQuantized},
    {"MatMulIntegerToFloat", 6, 6, Use::kWeight},
    {"DynamicQuantizeMatMul", 1, 1, Use::kWeight},
    {"DynamicQuantizeMatMul", 2, 3, Use::kQuantized},
    {"DynamicQuantizeMatMul", 4, 4, Use::kWeight},
    {"ConvInteger", 1, 1, Use::kWeight},
    {"ConvInteger", 2, 3, Use::kQuantized},
    {"QLinearConv", 3, 3, Use::kWeight},
    {"QLinearConv", 1, 7, Use::kQuantized},
    {"QLinearConv", 8, 8, Use::kWeight},
    {"QLinearMatMul", 3, 3, Use::kWeight},
    {"QLinearMatMul", 1, 7, Use::kQuantized},
    {"QGemm", 3, 3, Use::kWeight},
    {"QGemm", 6, 6, Use::kWeight},
    {"QGemm", 1, 8, Use::kQuantized},
    {"QAttention", 1, 2, Use::kWeight},
    {"QAttention", 3, 7, Use::kQuantized},
    {"QEmbedLayerNormalization", 2, 6, Use::kWeight},
    {"GatherBlockQuantized", 0, 0, Use::kWeight},
    {"GatherBlockQuantized", 2, 3, Use::kQuantized},
    {"MoE", 2, 7, Use::kWeight},
    {"QMoE", 2, 2, Use::kWeight},
    {"QMoE", 4, 5, Use::kWeight},
    {"QMoE", 7, 8, Use::kWeight},
    {"QMoE", 10, 10, Use::kWeight},
    {"QMoE", 3, 13, Use::kQuantized},
    {"DequantizeLinear", 0, 0, Use::kPassed},
    {"DequantizeLinear", 1, 2, Use::kQuantized},
    {"TRT_FP8DequantizeLinear", 0, 0, Use::kPassed},
    {"TRT_FP8DequantizeLinear", 1, 2, Use::kQuantized},
    {"TRT_MXFP8DequantizeLinear", 0, 0, Use::kPassed},
    {"TRT_MXFP8DequantizeLinear", 1, 2, Use::kQuantized},
    {"Quant", 0, 0, Use::kPassed},
    {"BipolarQuant", 0, 0, Use::kPassed},
    {"Quant", 1, 3, Use::kQuantized},
    {"GroupQueryAttention", 7, 8, Use::kTable},
    {"GroupQueryAttention", 9, 11, Use::kWeight},
    {"SparseAttention", 7, 8, Use::kTable},
    {"PagedAttention", 7, 8, Use::kTable},
    {"MultiHeadAttention", 3, 3, Use::kWeight},
    {"DecoderMaskedMultiHeadAttention", 9, 9, Use::kWeight},
    {"PackedAttention", 1, 2, Use::kWeight},
    {"LongformerAttention", 1, 2, Use::kWeight},
    {"Where", 0, 2, Use::kMask},
    {"And", 0, 1, Use::kMask},
    {"Or", 0, 1, Use::kMask},
    {"TreeEnsembleClassifier", 0, 0, Use::kOther},
};

bool is_elementwise(std::string_view op) {
  static constexpr std::string_view kNames[] = {
      "Add",         "Sub",     "Mul",     "Div",  "Pow",        "Max",
      "Min",         "Sqrt",    "Neg",     "Exp",  "Reciprocal", "Sum",
      "Clip",        "Mod",     "Greater", "Less", "Equal",      "GreaterOrEqual",
      "LessOrEqual", "PythonOp"};
  return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

Use use_of(const Node& node, uint32_t input) {
  // Attention has packed weights in com.microsoft, and none in ai.onnx.
  if (node.op_type == "Attention" && node.domain == "com.microsoft") {
    return input == 1 || input == 2 ? Use::kWeight : (input == 5 ? Use::kMask : Use::kOther);
  }
  if (node.op_type == "RotaryEmbedding") {
    const uint32_t first = node.domain.empty() ? 1 : 2;
    return input == first || input == first + 1 ? Use::kTable : Use::kOther;
  }
  for (const Slot& slot : kSlots) {
    if (slot.op_type == node.op_type && slot.first <= input && input <= slot.last) return slot.use;
  }
  return is_elementwise(node.op_type) ? Use::kElementwise : Use::kOther;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool names_table(std::string_view name) {
  const std::string text = lower(name);
  for (const std::string_view part :
       {"cos_cache", "sin_cache", "cos_cached", "sin_cached", "inv_freq", "rotary_emb", "rope",
        "freqs_cis", "cos_table", "sin_table"}) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

bool names_parameter(std::string_view name) {
  const std::string text = lower(name);
  for (const std::string_view part :
       {"weight", "bias", "gamma", "beta", "logit_scale", "layer_scale", "layerscale", "alpha",
        "slope", "running_mean", "running_var", "a_log", "dt_bias", "sinks", "lambda", "gate",
        "token", "embed"}) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

struct Uses {
  bool weight = false;
  bool quantized = false;
  bool table = false;
  bool mask = false;
  bool elementwise = false;
  bool other = false;
  bool gathered = false;
  bool multiplied = false;  // after rows were gathered: cos and sin, unlike what is added
  bool added = false;
};

class RoleSetter {
 public:
  explicit RoleSetter(Graph& graph) : graph_(graph), consumers_(graph) {}

  void run() {
    for (Initializer& tensor : graph_.initializers) {
      if (tensor.value) tensor.role = role_of(tensor);
    }
    // An alias is what the tensor is that it stands for.
    for (Initializer& tensor : graph_.initializers) {
      if (tensor.alias_of) tensor.role = graph_[tensor.alias_of].role;
    }
  }

 private:
  Uses trace(const Initializer& tensor) {
    Uses uses;
    struct Step {
      ValueId value;
      bool gathered;
    };
    std::vector<Step> queue = {{tensor.value, false}};
    std::unordered_set<uint32_t> seen = {tensor.value.index};
    for (size_t next = 0; next < queue.size() && next < kMaxTraced; ++next) {
      const Step step = queue[next];
      for (const Consumer& consumer : consumers_.of(step.value)) {
        if (++steps_ > kMaxSteps) return uses;
        const Node& node = graph_[consumer.node];
        const Use use = use_of(node, consumer.input);
        note(node, use, step.gathered, uses);
        const bool gathers = node.op_type == "Gather" && consumer.input == 0;
        if (use != Use::kPassed && !gathers) continue;
        for (const ValueId output : node.outputs) {
          if (output && seen.insert(output.index).second) {
            queue.push_back({output, step.gathered || gathers});
          }
        }
      }
    }
    return uses;
  }

  static void note(const Node& node, Use use, bool gathered, Uses& uses) {
    switch (use) {
      case Use::kWeight:
        if (node.op_type == "Gather") {
          uses.gathered = true;
        } else if (!gathered) {
          uses.weight = true;
        }
        break;
      case Use::kQuantized:
        uses.quantized = true;
        break;
      case Use::kTable:
        uses.table = true;
        break;
      case Use::kMask:
        uses.mask = true;
        break;
      case Use::kElementwise:
        uses.elementwise = true;
        if (gathered) (node.op_type == "Mul" ? uses.multiplied : uses.added) = true;
        break;
      case Use::kOther:
        uses.other = true;
        break;
      case Use::kPassed:
      case Use::kShape:
        break;
    }
  }

  TensorRole role_of(const Initializer& tensor) {
    const bool from_constant = tensor.role == TensorRole::kConstant;
    Int count = 1;
    for (const int64_t dim : tensor.dims) count *= dim;
    const bool large = count > kSmall;
    const TensorRole not_trained = large ? TensorRole::kBuffer : TensorRole::kConstant;
    if (tensor.dtype == DType::kBool || tensor.dtype == DType::kString || count == 0)
      return not_trained;

    const Uses uses = trace(tensor);
    if (!is_float(tensor.dtype))
      return is_quantized_weight(tensor, uses, large) ? TensorRole::kParameter : not_trained;
    if (uses.table || names_table(tensor.name)) return not_trained;
    if (uses.weight) return TensorRole::kParameter;
    if (uses.gathered && !uses.elementwise && !uses.other) return TensorRole::kParameter;
    if (uses.gathered) {
      const bool cos_or_sin =
          uses.multiplied && !uses.added && !uses.other && !names_parameter(tensor.name);
      return cos_or_sin ? not_trained : TensorRole::kParameter;
    }
    if (uses.quantized && !uses.elementwise) {
      return large ? TensorRole::kParameter : TensorRole::kConstant;
    }
    if (uses.mask && !names_parameter(tensor.name)) return not_trained;
    // Written in a Constant node: numbers of the exporter, unless there are many. Stored as a
    // tensor: trained, unless it is a single number.
    if (from_constant) return large ? TensorRole::kParameter : TensorRole::kConstant;
    if (count == 1 && !names_parameter(tensor.name)) return TensorRole::kConstant;
    return TensorRole::kParameter;
  }

  // Integers are weights where an operator for quantized weights reads them; those of few bits are
  // nothing else.
  static bool is_quantized_weight(const Initializer& tensor, const Uses& uses, bool large) {
    if (bits(tensor.dtype) > 32) return false;
    return uses.weight || (uses.quantized && large) || bits(tensor.dtype) < 8;
  }

  Graph& graph_;
  Consumers consumers_;
  size_t steps_ = 0;
};

}  // namespace

void set_tensor_roles(Graph& graph) { RoleSetter(graph).run(); }

}  // namespace kcharter
