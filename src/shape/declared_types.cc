#include "shape/declared_types.h"

namespace kcharter {
namespace {

// Only what can never be equal contradicts: a label of the file is no equation.
bool contradicts(const Dim& declared, const Dim& inferred) {
  if (!declared || !inferred) return false;
  const auto difference = (*declared - *inferred).constant();
  return difference && *difference != 0;
}

bool contradicts(const TensorType& declared, const TensorType& inferred) {
  if (declared.dtype != DType::kUnknown && inferred.dtype != DType::kUnknown &&
      declared.dtype != inferred.dtype) {
    return true;
  }
  if (!declared.shape || !inferred.shape) return false;
  if (declared.shape->size() != inferred.shape->size()) return true;
  for (size_t i = 0; i < declared.shape->size(); ++i) {
    if (contradicts((*declared.shape)[i], (*inferred.shape)[i])) return true;
  }
  return false;
}

// True where the declaration said something that was not known.
bool fill(const TensorType& declared, TensorType& type) {
  bool filled = false;
  if (type.dtype == DType::kUnknown && declared.dtype != DType::kUnknown) {
    type.dtype = declared.dtype;
    filled = true;
  }
  if (!declared.shape) return filled;
  if (!type.shape) {
    type.shape = declared.shape;
    return true;
  }
  if (type.shape->size() != declared.shape->size()) return filled;
  for (size_t i = 0; i < type.shape->size(); ++i) {
    if ((*type.shape)[i] || !(*declared.shape)[i]) continue;
    (*type.shape)[i] = (*declared.shape)[i];
    filled = true;
  }
  return filled;
}

}  // namespace

void apply_declared_types(NodeInference& node) {
  for (const ValueId output : node.node.outputs) {
    if (!output || !node.graph[output].declared) continue;
    Value& value = node.graph[output];
    const TensorType& declared = *value.declared;
    const bool nothing_known = value.type.dtype == DType::kUnknown && !value.type.shape;
    if (nothing_known) value.type.kind = declared.kind;
    if (declared.kind != value.type.kind) continue;
    if (contradicts(declared, value.type)) {
      node.warn("declared-shape-differs", "the file declares " + to_string(declared) +
                                              ", what it computes is " + to_string(value.type));
    } else if (fill(declared, value.type)) {
      node.note("declared-shape-used", "types of outputs of " + node.node.op_type +
                                           " are in part those that the file declares");
    }
  }
}

}  // namespace kcharter
