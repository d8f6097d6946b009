#include "import/onnx/count_heads.h"

#include <unordered_set>
#include <vector>

namespace kcharter {
namespace {

// A projection stands a few views before the cache.
constexpr size_t kMaxSteps = 64;

// The stored matrix that `node` multiplies by; rows, the size of what it projects.
std::optional<int64_t> projected_size(const Graph& graph, const Node& node) {
  if ((node.op_type != "MatMul" && node.op_type != "Gemm") || node.inputs.size() < 2)
    return std::nullopt;
  const ValueId weight = node.inputs[1];
  if (!weight || !graph[weight].initializer) return std::nullopt;
  const std::vector<int64_t>& dims = graph[graph[weight].initializer].dims;
  if (dims.size() != 2) return std::nullopt;
  return int_attribute(node, "transB", 0) != 0 ? dims[1] : dims[0];
}

}  // namespace

std::optional<int64_t> count_heads(const Graph& graph, const GraphTypes& types,
                                   const Cache& cache) {
  const auto* dims = types.dims(cache.input);
  if (dims == nullptr || !cache.output) return std::nullopt;
  int64_t head_size = 0;
  for (size_t axis = 1; axis < dims->size(); ++axis) {
    if ((*dims)[axis].value) head_size = *(*dims)[axis].value;
  }
  if (head_size <= 0) return std::nullopt;

  // Backwards, nearest first.
  std::vector<ValueId> queue = {cache.output};
  std::unordered_set<uint32_t> seen = {cache.output.index};
  for (size_t next = 0; next < queue.size() && next < kMaxSteps; ++next) {
    const NodeId producer = graph[queue[next]].producer;
    if (!producer) continue;
    const Node& node = graph[producer];
    if (const std::optional<int64_t> size = projected_size(graph, node)) {
      if (*size % head_size != 0) return std::nullopt;
      return *size / head_size;
    }
    for (const ValueId input : node.inputs) {
      if (input && seen.insert(input.index).second) queue.push_back(input);
    }
  }
  return std::nullopt;
}

}  // namespace kcharter
