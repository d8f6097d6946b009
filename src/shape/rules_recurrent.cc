// Recurrent layers and their sequence axis.
#include <string>

#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// X: [sequence, batch, input], or batch first under layout 1.
void recurrent(NodeInference& node, bool has_cell) {
  const DType dtype = node.input_dtype(0);
  const std::string direction = string_attribute(node.node, "direction", "forward");
  const Expr directions = direction == "bidirectional" ? 2 : 1;
  const int64_t declared = int_attribute(node.node, "hidden_size", 0);
  // The recurrence weight is [directions, gates·hidden, hidden].
  const Dim hidden = declared > 0 ? Dim(Expr(declared)) : node.input_dim(2, -1);
  const bool batch_first = int_attribute(node.node, "layout", 0) == 1;
  const Dim sequence = node.input_dim(0, batch_first ? 1 : 0);
  const Dim batch = node.input_dim(0, batch_first ? 0 : 1);
  const Shape all = batch_first ? Shape{batch, sequence, directions, hidden}
                                : Shape{sequence, directions, batch, hidden};
  const Shape last =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  node.set(0, dtype, all);
  node.set(1, dtype, last);
  if (has_cell) node.set(2, dtype, last);
}

void lstm(NodeInference& node) { recurrent(node, true); }
void gru(NodeInference& node) { recurrent(node, false); }

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "GRU", gru},
    {kOnnx, "LSTM", lstm},
    {kOnnx, "RNN", gru},
    {kMicrosoft, "DynamicQuantizeLSTM", lstm},
};

}  // namespace

ShapeRuleFamily recurrent_shape_rules() { return kEntries; }

}  // namespace kcharter
