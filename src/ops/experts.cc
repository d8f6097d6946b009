// Mixtures of experts in one operator: k of E experts for each row.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// Where each of the three matrices [experts, ..] is among the inputs, with what goes with it.
struct ExpertInputs {
  size_t weights[3];
  size_t companions[9];
  int64_t packed;  // numbers in one stored element
};

bool listed(const size_t* begin, size_t count, size_t input) {
  for (size_t i = 0; i < count; ++i) {
    if (begin[i] == input) return true;
  }
  return false;
}

// Rows go to `chosen` experts each; the weights of the distinct experts met are read once.
Work experts_work(const Graph& graph, const Node& node, const ExpertInputs& inputs) {
  Dim rows = input_elements(graph, node, 0);
  Dim hidden = input_dim(graph, node, 0, -1);
  Dim experts = input_dim(graph, node, inputs.weights[0], 0);
  int64_t chosen = int_attribute(node, "k", 1);
  Work work{.flops = std::nullopt, .elementwise_flops = std::nullopt};
  int64_t count = constant_up_to(experts, INT32_MAX);
  if (!rows || !hidden || count <= 0 || chosen <= 0 || chosen > count) return work;
  Expr tokens = floor_div(*rows, *hidden);
  Dim per_row = Expr(0);
  for (size_t input : inputs.weights) {
    const Shape* shape = input_shape(graph, node, input);
    if (has_input(node, input)) {
      per_row = plus(per_row, shape ? product(*shape, 1, shape->size()) : Dim());
    }
  }
  work.flops = times(times(Expr(2 * inputs.packed * chosen), tokens), per_row);
  // Activation and gate of each intermediate unit, and the weighted sum of the results.
  work.elementwise_flops = times(Expr(2 * chosen), rows);
  Expr met = expected_distinct(*experts, Expr(chosen), tokens);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    Dim all = input_elements(graph, node, i);
    bool of_experts = listed(inputs.weights, 3, i) || listed(inputs.companions, 9, i);
    work.active_share.push_back(of_experts ? Work::Share{chosen, count} : Work::Share{});
    work.read_elements.push_back(of_experts && all ? met * floor_div(*all, *experts) : all);
  }
  return work;
}

constexpr ExpertInputs kPlain{{2, 4, 6}, {3, 5, 7, 3, 3, 3, 3, 3, 3}, 1};

Work moe_work(const Graph& graph, const Node& node) { return experts_work(graph, node, kPlain); }

bool is_packed(const Graph& graph, const Node& node) {
  return has_input(node, 2) && graph[node.inputs[2]].type.dtype == DType::kUInt8 &&
         int_attribute(node, "expert_weight_bits", 4) == 4;
}

Work quantized_moe_work(const Graph& graph, const Node& node) {
  ExpertInputs inputs{{2, 5, 8}, {3, 4, 6, 7, 9, 10, 11, 12, 13}, is_packed(graph, node) ? 2 : 1};
  return experts_work(graph, node, inputs);
}

std::optional<int64_t> quantized_moe_elements(const Graph& graph, const Node& node, size_t input) {
  if ((input != 2 && input != 5 && input != 8) || !is_packed(graph, node)) return std::nullopt;
  int64_t count = constant_up_to(input_elements(graph, node, input), INT64_MAX / 2);
  if (count < 0) return std::nullopt;
  return count * 2;
}

TensorPart quantized_moe_part(const Node&, size_t input) {
  return part_at("..ps.ps.ps.zzz", input);
}

}  // namespace

OperatorFamily expert_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kMicrosoft, "MoE", {.selects_experts = true, .work = moe_work}},
      {kMicrosoft,
       "QMoE",
       {.selects_experts = true,
        .work = quantized_moe_work,
        .logical_elements = quantized_moe_elements,
        .tensor_part = quantized_moe_part}},
  };
  return kEntries;
}

}  // namespace kcharter
