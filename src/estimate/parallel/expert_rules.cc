// Mixtures: experts over the expert group, each one over the devices that share it: its first
// matrices by columns, its last by rows. Rows of tokens go where their experts are.
#include <algorithm>

#include "estimate/parallel/layout_rules.h"
#include "kcharter/model/domains.h"
#include "kcharter/ops/dims.h"

namespace kcharter {
namespace {

ValueId input(const Node& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : ValueId();
}

constexpr size_t kFirstTensor = 2;

bool is_first_matrix(const LayoutPass& pass, const Node& node) {
  return pass.rank(node.inputs[0]) == 3;
}

void want_expert_matmul(LayoutPass& pass, const Node& node) {
  const int64_t in = int_attribute(node, "in", 0);
  pass.want_whole_but(node, {0});
  if (is_first_matrix(pass, node) || in < 1) return pass.want(node.inputs[0], {});
  Layout rows = split_last(pass, node.inputs[0], {{in, in}}, SplitUnit::kElement);
  rows.routed = true;
  pass.want(node.inputs[0], rows);
}

// Biases of the second matrix are added once, by the device that holds the expert's first part.
void split_tensors(LayoutPass& pass, const Node& node, const Layout& inside, bool by_rows) {
  const int64_t experts = int_attribute(node, "num_experts", 0);
  const int64_t out = int_attribute(node, "out", 0);
  const bool is_stacked = int_attribute(node, "stacked", 0) != 0;
  Layout cut = inside;
  if (is_split(cut)) cut.axis = 0;
  cut.experts = experts;
  cut.stacked = is_stacked;
  cut.routed = false;
  const Layout whole{.experts = experts, .stacked = is_stacked};
  for (size_t i = kFirstTensor; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (!value || !pass.is_constant(value)) continue;
    for (const InitializerId stored : source_of_constant(pass.graph, value).stored) {
      // Of one expert: scales of one number a column do not depend on the rows.
      const std::vector<int64_t>& dims = pass.graph[stored].dims;
      const size_t first = is_stacked && !dims.empty() ? 1 : 0;
      int64_t longer = 0, longest = 1;
      for (size_t d = first; d < dims.size(); ++d) {
        longer += dims[d] > 1;
        longest = std::max(longest, dims[d]);
      }
      const bool is_vector = longer == 0 || (by_rows && longer == 1 && longest == out);
      pass.set_weight(stored, is_vector ? whole : cut);
    }
  }
}

void set_expert_matmul(LayoutPass& pass, const Node& node) {
  const ValueId x = node.inputs[0], choice = input(node, 1), y = node.outputs[0];
  const Layout in = pass.of(x);
  pass.gather(choice);
  if (!in.routed) {
    pass.gather(x);
    const int64_t width = int_attribute(node, "in", 0);
    try {
      const Dim rows = choice ? times(element_count(pass.graph[choice].type), Expr(width)) : Dim();
      if (choice)
        pass.send(node, choice, rows ? Dim(byte_size(*rows, pass.graph[x].type.dtype)) : Dim());
    } catch (const ArithmeticError&) {
      pass.send(node, choice, std::nullopt);
    }
  }
  Layout inside;
  if (in.routed && is_split(in)) {
    inside = in;
  } else if (const Layout& out = pass.wanted(y); is_split_last(pass, y, out) && out.routed) {
    inside = out;
  }
  const bool by_rows = in.routed && is_split(in);
  inside.routed = true;
  split_tensors(pass, node, inside, by_rows);
  pass.set_work(node, inside);
  pass.set(y, by_rows ? Layout{.kind = LayoutKind::kPartial, .routed = true} : inside);
}

// Results come back; each device of the tensor group has a part of the sum.
void set_combine(LayoutPass& pass, const Node& node) {
  const ValueId y = node.inputs[0];
  if (!pass.of(y).routed) {
    pass.gather_all(node);
    return;
  }
  std::optional<Expr> bytes;
  try {
    bytes = byte_size(pass.graph[y].type);
  } catch (const ArithmeticError&) {
    bytes = std::nullopt;
  }
  pass.send(node, ValueId(), bytes);
  pass.gather(input(node, 1));
  pass.set_work(node, {.routed = true});
  pass.set(node.outputs[0], {.kind = LayoutKind::kPartial});
}

// com.microsoft MoE: 0 x, 1 router, then three matrices [experts, out, in] with what goes with
// them.
void set_fused_experts(LayoutPass& pass, const Node& node) {
  const bool is_quantized = node.op_type == "QMoE";
  const size_t second = is_quantized ? 5 : 4;
  const int64_t experts = pass.size(input(node, 2), 0);
  const int64_t inner = pass.size(input(node, second), -1);
  pass.gather_all(node);
  if (experts < 1 || inner < 1 || input(node, second) == ValueId()) return;
  Layout cut = split(0, {{inner, inner}}, SplitUnit::kElement);
  cut.experts = experts;
  cut.stacked = true;
  for (size_t i = 2; i < node.inputs.size(); ++i) {
    const bool is_output_bias = i == second + (is_quantized ? 2 : 1);
    pass.set_weight(node.inputs[i],
                    is_output_bias ? Layout{.experts = experts, .stacked = true} : cut);
  }
  Layout work = cut;
  work.experts = 0;
  work.stacked = false;
  work.routed = true;
  pass.set_work(node, work);
  const ValueId x = node.inputs[0];
  try {
    const int64_t chosen = int_attribute(node, "k", 1);
    const Dim rows = times(element_count(pass.graph[x].type), Expr(chosen));
    const Dim bytes = rows ? Dim(byte_size(*rows, pass.graph[x].type.dtype)) : Dim();
    pass.send(node, x, bytes);
    pass.send(node, ValueId(), bytes);
  } catch (const ArithmeticError&) {
    pass.send(node, x, std::nullopt);
  }
  pass.set(node.outputs[0], {.kind = LayoutKind::kPartial});
}

constexpr LayoutRule kExpertMatMul{want_expert_matmul, set_expert_matmul};
constexpr LayoutRule kCombine{[](LayoutPass& pass, const Node& node) { pass.want_whole(node); },
                              set_combine};
constexpr LayoutRule kFused{nullptr, set_fused_experts};

}  // namespace

const LayoutRule* find_expert_rule(const Node& node) {
  if (node.domain == kOurs && node.op_type == "ExpertMatMul") return &kExpertMatMul;
  if (node.domain == kOurs && node.op_type == "CombineExperts") return &kCombine;
  if (node.domain == kMicrosoft && (node.op_type == "MoE" || node.op_type == "QMoE"))
    return &kFused;
  return nullptr;
}

}  // namespace kcharter
