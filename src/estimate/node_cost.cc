#include "estimate/node_cost.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kcharter/estimate/operand_traffic.h"
#include "kcharter/estimate/caches.h"
#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

bool is_expected(const Expr& formula) {
  // The only function that is not exact.
  return !formula.is_constant() &&
         formula.to_string().find("expected_distinct") != std::string::npos;
}

Quantity quantity_of(const Dim& count, Source source) {
  if (!count) return unknown_quantity();
  return {*count, is_expected(*count) ? Exactness::kEstimated : Exactness::kExact, source};
}

class NodeTraffic {
 public:
  NodeTraffic(const Graph& graph, const Operands& operands, const Node& node, const Work& work)
      : graph_(graph), operands_(operands), node_(node), work_(work) {}

  std::vector<OperandTraffic> measure() {
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      if (node_.inputs[i]) add_read(i);
    }
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i]) add_write(i);
    }
    return traffic_;
  }

 private:
  void add_read(size_t input) {
    ValueId value = node_.inputs[input];
    Dim all = element_count(graph_[value].type);
    Dim elements = input < work_.read_elements.size() ? work_.read_elements[input] : all;
    // A scalar read of a known size costs its bytes; a tensor of unknown size stays unknown.
    if (operands_.constant[value.index]) {
      add(input, false, Metric::kWeightReadBytes, constant_bytes(value, elements, all));
      return;
    }
    uint32_t cache = operands_.cache_in[operands_.memory_of(value).index];
    if (cache != kNoCache) {
      add(input, false, Metric::kKvReadBytes, cache_bytes(cache, value, elements));
    } else {
      add(input, false, Metric::kActivationReadBytes, value_bytes(value, elements));
    }
  }

  void add_write(size_t output) {
    ValueId value = node_.outputs[output];
    Dim all = element_count(graph_[value].type);
    bool said = output < work_.written_elements.size();
    Dim elements = said ? work_.written_elements[output] : all;
    uint32_t cache = operands_.cache_out[operands_.memory_of(value).index];
    if (cache == kNoCache) {
      add(output, true, Metric::kActivationWriteBytes, value_bytes(value, elements));
      return;
    }
    Dim fresh = said ? elements : new_elements(graph_.caches[cache], elements);
    add(output, true, Metric::kKvWriteBytes, cache_bytes(cache, value, fresh));
    if (elements && fresh && !(*elements == *fresh)) {
      add(output, true, Metric::kActivationWriteBytes, value_bytes(value, *elements - *fresh));
    }
  }

  void add(size_t operand, bool is_output, Metric metric, Quantity bytes) {
    traffic_.push_back({static_cast<uint32_t>(operand), is_output, metric, std::move(bytes)});
  }

  // What a grown copy holds beyond the past that it was grown from.
  Dim new_elements(const Cache& cache, const Dim& elements) const {
    if (cache.kind != CacheKind::kKeyValue || !cache.input || !elements) return elements;
    Dim past = element_count(graph_[cache.input].type);
    if (!past || *past == *elements) return elements;
    return *elements - *past;
  }

  Quantity value_bytes(ValueId value, const Dim& elements) const {
    DType dtype = graph_[value].type.dtype;
    if (!elements || bits(dtype) == 0) return unknown_quantity();
    return quantity_of(byte_size(*elements, dtype), Source::kGraph);
  }

  Quantity cache_bytes(uint32_t index, ValueId value, const Dim& elements) const {
    const Cache& cache = graph_.caches[index];
    if (!elements) return unknown_quantity();
    if (cache.format.block_bytes == 0) return value_bytes(value, elements);
    return quantity_of(cache_byte_size(*elements, cache, operands_.kv_blocks), Source::kGraph);
  }

  Quantity constant_bytes(ValueId value, const Dim& elements, const Dim& all) const {
    ConstantSource source = source_of_constant(graph_, value);
    if (source.stored.empty()) return value_bytes(value, elements);
    if (!elements) return unknown_quantity();
    if (all && *elements == *all)
      return {Expr(source.stored_bytes), Exactness::kExact, Source::kTensor};
    std::optional<Int> count = all ? all->constant() : std::nullopt;
    if (!count || *count <= 0) return value_bytes(value, elements);
    return quantity_of(part_of(*elements, source.stored_bytes, *count), Source::kTensor);
  }

  // elements · stored / all, rounded up, in lowest terms.
  static Expr part_of(const Expr& elements, Int stored, Int all) {
    Int a = stored, b = all;
    while (b != 0) {
      Int rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 0) return Expr(0);
    return ceil_div(elements * Expr(stored / a), Expr(all / a));
  }

  const Graph& graph_;
  const Operands& operands_;
  const Node& node_;
  const Work& work_;
  std::vector<OperandTraffic> traffic_;
};

Work work_of(const Graph& graph, const Node& node, const OperatorInfo* info) {
  if (info == nullptr) return {.flops = std::nullopt, .elementwise_flops = std::nullopt};
  if (info->work != nullptr) return info->work(graph, node);
  if (node.outputs.empty() || !node.outputs[0]) return {};
  return {.elementwise_flops = element_count(graph[node.outputs[0]].type)};
}

Metrics unknown_cost() {
  Metrics metrics;
  for (Metric metric :
       {Metric::kFlops, Metric::kElementwiseFlops, Metric::kWeightReadBytes, Metric::kKvReadBytes,
        Metric::kKvWriteBytes, Metric::kActivationReadBytes, Metric::kActivationWriteBytes}) {
    metrics[metric] = unknown_quantity();
  }
  return metrics;
}

void assume(Quantity& quantity) {
  bool nothing = quantity.formula && quantity.formula->is_zero();
  if (!nothing) quantity.exactness = std::max(quantity.exactness, Exactness::kAssumed);
}

}  // namespace

std::string describe(const Node& node) {
  return "node '" + node.name + "' (" + (node.domain.empty() ? "" : node.domain + ".") +
         node.op_type + ")";
}

std::vector<OperandTraffic> operand_traffic(const Graph& graph, const Operands& operands,
                                            NodeId id) {
  if (operands.costs_nothing(id)) return {};
  const Node& node = graph[id];
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  try {
    Work work = work_of(graph, node, info);
    return NodeTraffic(graph, operands, node, work).measure();
  } catch (const ArithmeticError&) {
    return {{0, true, Metric::kActivationWriteBytes, unknown_quantity()}};
  }
}

Metrics node_cost(const Graph& graph, const Operands& operands, NodeId id,
                  Diagnostics& diagnostics) {
  const Node& node = graph[id];
  if (operands.costs_nothing(id)) return {};
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  try {
    Work work = work_of(graph, node, info);
    Metrics metrics;
    metrics[Metric::kFlops] = quantity_of(work.flops, Source::kRule);
    metrics[Metric::kElementwiseFlops] = quantity_of(work.elementwise_flops, Source::kRule);
    // An operand of unknown size leaves the others as a lower bound.
    for (const OperandTraffic& part : NodeTraffic(graph, operands, node, work).measure()) {
      metrics[part.metric] = metrics[part.metric] + part.bytes;
    }
    // What an operator without an entry touches is not known; all of its operands is an assumption.
    if (info == nullptr) {
      for (Quantity& quantity : metrics.all) assume(quantity);
    }
    return metrics;
  } catch (const ArithmeticError& error) {
    diagnostics.add(Severity::kWarning, "arithmetic-overflow", describe(node), error.what());
    return unknown_cost();
  }
}

DType compute_dtype(const Graph& graph, const Node& node) {
  // The importer says so where the format of a weight asks for other units than the activations.
  const std::string asked = string_attribute(node, "computed_in", "");
  if (!asked.empty()) return parse_dtype(asked).value_or(DType::kUnknown);
  DType first = DType::kUnknown;
  for (ValueId input : node.inputs) {
    if (!input) continue;
    first = graph[input].type.dtype;
    break;
  }
  DType result = DType::kUnknown;
  if (!node.outputs.empty() && node.outputs[0]) result = graph[node.outputs[0]].type.dtype;
  if (first == DType::kUnknown) return result;
  // Gather(table, ids), DequantizeLinear, Where(condition, …): what comes out is what it works on.
  bool product =
      node.op_type.find("Integer") != std::string::npos || node.op_type.starts_with("QLinear");
  if (!product && !is_float(first) && is_float(result)) return result;
  return first;
}

}  // namespace kcharter
