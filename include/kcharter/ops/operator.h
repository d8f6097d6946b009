// What is known of each operator: how much it computes and which of its operands it really touches.
// One entry per operator in the tables of src/ops/<family>.cc, found by (domain, op_type).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kcharter/model/graph.h"

namespace kcharter {

// Work of one run of one node. A count that cannot be known from the shapes is nullopt.
struct Work {
  // 2 per multiply-add of matmul, convolution and attention.
  Dim flops = Expr(0);
  // Everything else: one per output element of an arithmetic operator unless its entry says more.
  Dim elementwise_flops = Expr(0);
  // Elements read of each input and written of each output; an entry left out means all of them.
  std::vector<Dim> read_elements = {};
  std::vector<Dim> written_elements = {};
  // The fraction k of E of a weight's experts that one token uses: {k, E} per input; {1, 1}
  // otherwise.
  struct Share {
    int64_t used = 1;
    int64_t of = 1;
  };
  std::vector<Share> active_share = {};
};

struct OperatorInfo {
  // Moves and computes nothing: the output is the input's memory under another shape.
  bool is_view = false;
  // Applied to a weight it gives the same weight in another layout or type: a kernel may read the
  // stored one in its place.
  bool is_weight_transform = false;
  // Runs on the host on shapes; launches nothing, costs nothing.
  bool is_shape_arithmetic = false;
  // Attention or recurrence: owns the cache or state that it reads.
  bool is_attention = false;
  bool is_recurrent = false;
  // Gives other numbers each time: never folded at load.
  bool is_random = false;
  // Uses a part of its weights for each token: Work::active_share says which.
  bool selects_experts = false;
  // nullptr: elementwise, one operation per output element.
  Work (*work)(const Graph& graph, const Node& node) = nullptr;
  // Quantized weights; nullptr: every input is what it looks like. See the functions below.
  std::optional<int64_t> (*logical_elements)(const Graph& graph, const Node& node,
                                             size_t input) = nullptr;
  TensorPart (*tensor_part)(const Node& node, size_t input) = nullptr;
};

// nullptr: not known. Its outputs' work is unknown, never 0.
const OperatorInfo* find_operator(std::string_view domain, std::string_view op_type);

// Parameters that the packed weight at `input` of `node` stands for (MatMulNBits: N*K); nullopt
// where the stored elements are the parameters.
std::optional<int64_t> logical_elements(const Graph& graph, const Node& node, size_t input);
// Which part of a quantized weight the initializer at `input` is.
TensorPart tensor_part(const Node& node, size_t input);

}  // namespace kcharter
