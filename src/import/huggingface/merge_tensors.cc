#include "import/huggingface/merge_tensors.h"

#include <algorithm>
#include <unordered_map>

namespace kcharter {
namespace {

using Names = std::unordered_map<std::string, size_t>;

// How a file's names become the architecture's: a prefix taken away, another put in front.
struct Renaming {
  std::string strip;
  std::string add;
  std::string operator()(const std::string& name) const {
    if (!name.starts_with(strip)) return name;
    return add + name.substr(strip.size());
  }
};

Renaming choose_renaming(const std::vector<FoundTensor>& found, const Names& expected) {
  std::vector<Renaming> choices = {{"", ""}};
  if (!found.empty() && !expected.empty()) {
    for (const char* prefix : {"model.", "transformer.", "base_model.model.", "bert.", "roberta."}) {
      choices.push_back({prefix, ""});
      choices.push_back({"", prefix});
    }
  }
  Renaming best;
  size_t most = 0;
  for (const Renaming& choice : choices) {
    size_t hits = 0;
    for (const FoundTensor& tensor : found) hits += expected.contains(choice(tensor.tensor.name));
    if (hits > most) {
      most = hits;
      best = choice;
    }
  }
  return best;
}

bool is_buffer(const SafetensorsTensor& tensor) {
  auto ends = [&](const char* ending) { return tensor.name.ends_with(ending); };
  if (ends("inv_freq") || ends(".masked_bias") || ends("position_ids") || ends("num_batches_tracked")) {
    return true;
  }
  // GPT-2's causal mask is stored as a "bias" of four dimensions.
  return tensor.dtype == DType::kBool || (ends(".attn.bias") && tensor.dims.size() == 4);
}

Initializer unexpected(const FoundTensor& found) {
  Initializer initializer;
  initializer.name = found.tensor.name;
  initializer.dtype = found.tensor.dtype;
  initializer.dims = found.tensor.dims;
  initializer.location = {found.file, found.tensor.offset, found.tensor.length};
  initializer.stored_bytes = found.tensor.length;
  initializer.role = is_buffer(found.tensor) ? TensorRole::kBuffer : TensorRole::kParameter;
  return initializer;
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

// The file's word stands: type, shape and bytes.
void adopt(Model& model, Initializer& expected, const FoundTensor& found) {
  const SafetensorsTensor& tensor = found.tensor;
  if (expected.dims != tensor.dims) {
    model.diagnostics.add(Severity::kWarning, "tensor-shape-differs", "tensor '" + tensor.name + "'",
                          "the configuration gives " + dims_text(expected.dims) + ", the file holds " +
                              dims_text(tensor.dims));
  }
  if (expected.value) {
    Value& value = model.graph[expected.value];
    value.type.dtype = tensor.dtype;
    if (expected.dims != tensor.dims) {
      bool transposed = expected.dims.size() == 2 && tensor.dims.size() == 2 &&
                        *value.type.shape != shape_of(expected.dims);
      value.type.shape = transposed ? shape_of({tensor.dims[1], tensor.dims[0]}) : shape_of(tensor.dims);
    }
  }
  expected.name = tensor.name;
  expected.dtype = tensor.dtype;
  expected.dims = tensor.dims;
  expected.location = {found.file, tensor.offset, tensor.length};
  expected.stored_bytes = tensor.length;
}

}  // namespace

void merge_tensors(Model& model, const std::vector<FoundTensor>& found) {
  Graph& graph = model.graph;
  Names expected;
  for (size_t i = 0; i < graph.initializers.size(); ++i) expected.emplace(graph.initializers[i].name, i);
  Renaming rename = choose_renaming(found, expected);
  std::vector<bool> seen(graph.initializers.size());
  for (const FoundTensor& tensor : found) {
    auto match = expected.find(rename(tensor.tensor.name));
    if (match == expected.end()) {
      if (!tensor.present) {
        model.diagnostics.add(Severity::kWarning, "unknown-size", "tensor '" + tensor.tensor.name + "'",
                              "its shard is missing and no configuration gives its shape");
        continue;
      }
      graph.initializers.push_back(unexpected(tensor));
      if (model.graph_known && graph.initializers.back().role == TensorRole::kParameter) {
        model.diagnostics.add(Severity::kWarning, "unexpected-tensor", "tensor '" + tensor.tensor.name + "'",
                              "in the file, not in the architecture: stored, but no operator reads it");
      }
      continue;
    }
    seen[match->second] = true;
    Initializer& initializer = graph.initializers[match->second];
    if (!tensor.present) {
      initializer.location.file = tensor.file;
      continue;
    }
    // A second copy of a tied tensor is stored bytes, though the same parameters.
    adopt(model, initializer, tensor);
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    const Initializer& initializer = graph.initializers[i];
    if (seen[i] || initializer.alias_of) continue;
    model.diagnostics.add(Severity::kWarning, "missing-tensor", "tensor '" + initializer.name + "'",
                          "the architecture has it, the files do not: counted as expected");
  }
}

}  // namespace kcharter
