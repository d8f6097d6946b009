// Mixtures of experts as checkpoints' graphs say them.
//
//   Route(scores [B,S,E] → weights [B,S,k], experts [B,S,k]; k)
//   ExpertMatMul(x [B,S,in] or [B,S,k,in], experts [B,S,k], tensors … → [B,S,k,out];
//                num_experts, k, in, out, stacked)
//   CombineExperts(y [B,S,k,H], weights [B,S,k] → [B,S,H])
//
// `tensors`: stacked, each holds all experts along its first axis; otherwise those of expert 0,
// then those of expert 1 … A step reads the distinct experts that its tokens are expected to
// choose.
#include "ops/common_work.h"

namespace kcharter {
namespace {

constexpr size_t kFirstTensor = 2;

// Softmax, then one comparison an element.
Work route_work(const Graph& graph, const Node& node) {
  return {.elementwise_flops = times(Expr(6), input_elements(graph, node, 0))};
}

Dim chosen_rows(const Graph& graph, const Node& node) { return input_elements(graph, node, 1); }

Work expert_matmul_work(const Graph& graph, const Node& node) {
  int64_t experts = int_attribute(node, "num_experts", 0);
  int64_t chosen = int_attribute(node, "k", 0);
  bool stacked = int_attribute(node, "stacked", 0) != 0;
  Expr in(int_attribute(node, "in", 0)), out(int_attribute(node, "out", 0));
  Dim rows = chosen_rows(graph, node);
  Work work{.flops = times(rows, 2 * in * out)};
  Dim tokens = times(input_dim(graph, node, 1, 0), input_dim(graph, node, 1, 1));
  if (experts <= 0 || chosen <= 0 || !tokens) return work;
  Expr met = expected_distinct(Expr(experts), Expr(chosen), *tokens);
  work.elementwise_flops = Expr(0);
  work.read_elements = {input_elements(graph, node, 0), input_elements(graph, node, 1)};
  work.active_share.assign(kFirstTensor, Work::Share{});
  size_t tensors = node.inputs.size() - std::min(node.inputs.size(), kFirstTensor);
  size_t parts = stacked ? tensors : tensors / static_cast<size_t>(experts);
  for (size_t i = 0; i < tensors; ++i) {
    Dim all = input_elements(graph, node, kFirstTensor + i);
    Dim read;
    if (all && stacked) read = met * floor_div(*all, Expr(experts));
    // Experts are alike: what is read of them stands at the first one's tensors.
    else if (all)
      read = i < parts ? met * *all : Expr(0);
    work.read_elements.push_back(read);
    work.active_share.push_back({chosen, experts});
  }
  return work;
}

Work combine_work(const Graph& graph, const Node& node) {
  return {.elementwise_flops = times(Expr(2), input_elements(graph, node, 0))};
}

}  // namespace

OperatorFamily kcharter_expert_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "Route", {.work = route_work}},
      {kOurs, "ExpertMatMul", {.selects_experts = true, .work = expert_matmul_work}},
      {kOurs, "CombineExperts", {.work = combine_work}},
  };
  return kEntries;
}

}  // namespace kcharter
