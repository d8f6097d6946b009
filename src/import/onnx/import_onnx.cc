#include "import/onnx/import_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "import/onnx/bind_dimensions.h"
#include "import/onnx/convert_graph.h"
#include "import/onnx/find_caches.h"
#include "import/onnx/functions.h"
#include "import/onnx/model_settings.h"
#include "import/onnx/sort_nodes.h"
#include "import/onnx/tensor_roles.h"
#include "import/onnx/text_model.h"
#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"

namespace kcharter {
namespace {

// What this reader was written against (onnx 1.23: IR 14, opset 28).
constexpr int64_t kKnownIrVersion = 14;
constexpr int64_t kKnownOpset = 28;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void check_versions(ModelView& view, Diagnostics& diagnostics) {
  if (view.ir_version.value_or(0) > kKnownIrVersion) {
    diagnostics.add(
        Severity::kWarning, "newer-ir-version", "model",
        fmt::format("its IR version is {}, this program knows up to {}; fields it does not "
                    "know are passed over",
                    *view.ir_version, kKnownIrVersion));
  }
  bool has_default = false;
  for (const OpsetView& opset : view.opsets) {
    if (!canonical_domain(opset.domain).empty()) continue;
    has_default = true;
    if (opset.version > kKnownOpset) {
      diagnostics.add(
          Severity::kWarning, "newer-opset", "model",
          fmt::format("it uses opset {}, this program knows up to {}", opset.version, kKnownOpset));
    }
  }
  if (!has_default) {
    diagnostics.add(view.opsets.empty() ? Severity::kWarning : Severity::kNote, "no-opset-import",
                    "model",
                    "it does not say which opset its operators are of; opset 1 is assumed");
    view.opsets.push_back({"", 1});
  }
}

ModelView read_checked(FileBytes bytes, Diagnostics& diagnostics) {
  ModelView view = read_model(bytes);
  if (view.graphs.empty()) {
    throw Error(view.has_unknown_fields || !view.ir_version
                    ? "not an ONNX model: it has no graph and fields that no ONNX model has"
                    : "the model has no graph");
  }
  if (view.graphs.size() > 1) {
    throw Error(fmt::format("it holds {} graphs where a model has one: are two files joined?",
                            view.graphs.size()));
  }
  if (view.has_unknown_fields) {
    diagnostics.add(Severity::kWarning, "unknown-fields", "model",
                    "the file has fields that no known version of ONNX has; they are passed over");
  }
  check_versions(view, diagnostics);
  return view;
}

void note_unused(Model& model) {
  const Graph& graph = model.graph;
  std::vector<bool> read(graph.values.size(), false);
  const auto mark = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values) {
      if (value) read[value.index] = true;
    }
  };
  for (const Node& node : graph.nodes) mark(node.inputs);
  for (const Region& region : graph.regions) mark(region.outputs);
  for (const Initializer& tensor : graph.initializers) {
    if (!tensor.value || read[tensor.value.index]) continue;
    model.diagnostics.add(Severity::kNote, "unused-initializer",
                          fmt::format("initializer '{}'", tensor.name),
                          "no node reads it; it is counted");
  }
}

// --weight-dtype: the matrices that are stored as floats, as another format would store them.
void apply_what_if(Model& model, const ImportOptions& options) {
  if (options.activation_dtype) {
    model.diagnostics.add(Severity::kWarning, "what-if-not-applied", "--activation-dtype",
                          "the types of activations are those of the graph");
  }
  for (Initializer& tensor : model.graph.initializers) {
    const bool matrix = tensor.role == TensorRole::kParameter && is_float(tensor.dtype) &&
                        tensor.dims.size() >= 2 && !tensor.alias_of;
    const ElementFormat* format = matrix ? options.weight_formats.of(tensor.name) : nullptr;
    if (format == nullptr) continue;
    Int elements = 1;
    for (const int64_t dim : tensor.dims) elements *= dim;
    tensor.stored_bytes =
        static_cast<uint64_t>(*byte_size(Expr(elements), *format).constant());
  }
}

std::string name_of(const std::filesystem::path& path) { return path.stem().string(); }

// The model's view lies in `bytes`.
Model import_bytes(FileBytes bytes, const std::filesystem::path& path, bool embedded,
                   const ImportOptions& options) {
  Model model;
  model.name = name_of(path);
  model.format = Format::kOnnx;
  model.mode = options.mode.value_or(Mode::kPrefill);
  model.files = {path.filename().string()};
  ModelView view = read_checked(bytes, model.diagnostics);
  ExternalFiles external(path, model.files, model.diagnostics);
  ConvertedGraph converted = convert_graph({.model = view,
                                            .external = external,
                                            .embedded_file = embedded ? 0 : -1,
                                            .diagnostics = model.diagnostics});
  model.graph = std::move(converted.graph);
  if (sort_nodes(model.graph)) {
    model.diagnostics.add(Severity::kNote, "unsorted-nodes", "graph",
                          "its nodes were not in execution order; they are put into one");
  }
  note_unused(model);
  const GraphTypes types = read_types(model.graph, converted.declarations, model.diagnostics);
  set_tensor_roles(model.graph);
  find_caches(model.graph, types);
  bind_dimensions(model, types, options);
  apply_settings(model, path);
  apply_what_if(model, options);
  return model;
}

}  // namespace

Model import_onnx(const std::filesystem::path& path, OnnxEncoding encoding,
                  const ImportOptions& options) {
  const MappedFile file(path);
  if (encoding == OnnxEncoding::kBinary) {
    return import_bytes({text_of(file), 0}, path, true, options);
  }
  const std::string_view text = text_of(file);
  return import_onnx_bytes(
      encoding == OnnxEncoding::kText ? serialize_onnx_text(text) : serialize_proto_text(text),
      path, options);
}

Model import_onnx_bytes(std::string_view bytes, const std::filesystem::path& path,
                        const ImportOptions& options) {
  return import_bytes({bytes, 0}, path, false, options);
}

}  // namespace kcharter
