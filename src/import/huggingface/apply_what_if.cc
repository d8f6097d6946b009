#include "import/huggingface/apply_what_if.h"

#include <vector>

namespace kcharter {
namespace {

bool is_plain_matrix(const Initializer& tensor) {
  return tensor.role == TensorRole::kParameter && tensor.part == TensorPart::kPlain &&
         is_float(tensor.dtype) && tensor.dims.size() >= 2;
}

class WhatIf {
 public:
  WhatIf(Graph& graph, const ImportOptions& options)
      : graph_(graph),
        formats_(options.weight_formats),
        activation_dtype_(options.activation_dtype),
        computed_in_(graph.initializers.size(), DType::kUnknown) {}

  void apply() {
    for (uint32_t i = 0; i < graph_.initializers.size(); ++i) {
      const Initializer& tensor = graph_.initializers[i];
      if (!tensor.alias_of) store(i, tensor.name);
    }
    // After the tensors themselves: the head's name decides over the table's.
    for (const Initializer& tensor : graph_.initializers) {
      if (!tensor.alias_of) continue;
      if (activation_dtype_ && tensor.value) graph_[tensor.value].type.dtype = *activation_dtype_;
      const ElementFormat* own = formats_.of(tensor.name);
      const bool is_apart = own != nullptr && !(formats_.all && own == &*formats_.all);
      if (is_apart) store(tensor.alias_of.index, tensor.name);
    }
    for (Node& node : graph_.nodes) mark(node);
  }

 private:
  void store(uint32_t id, std::string_view path) {
    Initializer& tensor = graph_.initializers[id];
    // Kernels read a weight in the type they compute in, however it is stored.
    if (activation_dtype_ && tensor.value && tensor.part == TensorPart::kPlain && is_float(tensor.dtype)) {
      graph_[tensor.value].type.dtype = *activation_dtype_;
    }
    if (!is_plain_matrix(tensor)) {
      if (tensor.part == TensorPart::kPayload) computed_in_[id] = of_payload(tensor.dtype);
      return;
    }
    const ElementFormat* format = formats_.of(path);
    if (format == nullptr) return;
    Int elements = 1;
    for (const int64_t dim : tensor.dims) elements = checked_mul(elements, dim);
    const Int bytes = byte_size(Expr(elements), *format).constant().value();
    tensor.stored_bytes = static_cast<uint64_t>(to_int64(bytes));
    computed_in_[id] = computed_in(*format);
  }

  static DType of_payload(DType stored) {
    const bool is_narrow = bits(stored) == 8 && (is_float(stored) || stored == DType::kInt8);
    return is_narrow ? stored : DType::kUnknown;
  }

  void mark(Node& node) {
    if (node.op_type.find("Gather") != std::string::npos) return;  // looks up, does not multiply
    for (const ValueId input : node.inputs) {
      if (!input || !graph_[input].initializer) continue;
      InitializerId id = graph_[input].initializer;
      if (graph_[id].alias_of) id = graph_[id].alias_of;
      // NVFP4's payload is bytes; its second scale tells it from others.
      const bool is_nvfp4 = graph_[id].name.ends_with("weight_scale_2");
      const DType asked = is_nvfp4 ? DType::kF4E2M1 : computed_in_[id.index];
      if (asked == DType::kUnknown) continue;
      node.attributes.push_back({"computed_in", std::string(name(asked))});
      return;
    }
  }

  Graph& graph_;
  const WeightFormats& formats_;
  std::optional<DType> activation_dtype_;
  std::vector<DType> computed_in_;  // by InitializerId
};

}  // namespace

void apply_what_if(Model& model, const ImportOptions& options) {
  WhatIf(model.graph, options).apply();
}

}  // namespace kcharter
