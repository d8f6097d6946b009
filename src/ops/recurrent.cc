// Recurrent layers: at each step the input and the last output meet their matrices.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// X [length, batch, input] (or batch first), W [directions, gates·hidden, input], R [directions,
// gates·hidden, hidden]. Each gate: three additions and its function; then the cell's own.
Work recurrent_work(const Graph& graph, const Node& node, int64_t gates, int64_t cell) {
  Dim steps = times(input_dim(graph, node, 0, 0), input_dim(graph, node, 0, 1));
  Dim matrices = plus(input_elements(graph, node, 1), input_elements(graph, node, 2));
  Dim directions = input_dim(graph, node, 1, 0);
  int64_t hidden = int_attribute(node, "hidden_size", 0);
  Dim units = times(times(steps, directions), hidden > 0 ? Dim(Expr(hidden)) : Dim());
  return {.flops = times(times(Expr(2), steps), matrices),
          .elementwise_flops = times(Expr(4 * gates + cell), units)};
}

// Four gates; f·c + i·g, tanh, o·tanh.
Work lstm_work(const Graph& graph, const Node& node) { return recurrent_work(graph, node, 4, 5); }
// Three gates; (1−z)·h + z·H.
Work gru_work(const Graph& graph, const Node& node) { return recurrent_work(graph, node, 3, 4); }
Work rnn_work(const Graph& graph, const Node& node) { return recurrent_work(graph, node, 1, 0); }

TensorPart dynamic_lstm_part(const Node&, size_t input) { return part_at(".pp.....szsz", input); }

}  // namespace

OperatorFamily recurrent_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "LSTM", {.is_recurrent = true, .work = lstm_work}},
      {kOnnx, "GRU", {.is_recurrent = true, .work = gru_work}},
      {kOnnx, "RNN", {.is_recurrent = true, .work = rnn_work}},
      {kMicrosoft,
       "DynamicQuantizeLSTM",
       {.is_recurrent = true, .work = lstm_work, .tensor_part = dynamic_lstm_part}},
  };
  return kEntries;
}

}  // namespace kcharter
