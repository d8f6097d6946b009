#include "overlay/sizes.h"

#include <algorithm>
#include <optional>

namespace kcharter {
namespace {

// variable, a, b of a·variable + b.
struct Line {
  std::string variable;
  Int factor = 0, offset = 0;
};

std::optional<Line> line_of(const Expr& expr) {
  const std::set<std::string> variables = expr.variables();
  if (variables.size() != 1) return std::nullopt;
  Line line{*variables.begin(), 0, 0};
  for (const auto& [factor, atom] : expr.terms()) {
    if (atom == Expr::variable(line.variable)) line.factor = factor;
    else if (atom == Expr(1)) line.offset = factor;
    else return std::nullopt;
  }
  return line.factor == 0 ? std::nullopt : std::optional(line);
}

std::string text_of(const std::vector<Int>& shape) {
  std::string text = "[";
  for (const Int dim : shape) text += (text.size() > 1 ? ", " : "") + to_string(dim);
  return text + "]";
}

}  // namespace

std::vector<MeasuredShape> measured_shapes(const DocumentIndex& document, const std::vector<ProfileEvent>& step,
                                           const std::vector<Joined>& joined) {
  std::vector<MeasuredShape> shapes;
  for (size_t i = 0; i < step.size(); ++i) {
    if (joined[i].by != JoinedBy::kName) continue;
    const IndexedNode& node = document.nodes()[joined[i].node];
    if (node.op_type != step[i].op_type) continue;
    const auto add = [&](const std::vector<uint32_t>& values, const std::vector<std::vector<int64_t>>& measured,
                         bool is_output) {
      if (values.size() != measured.size()) return;
      for (size_t at = 0; at < values.size(); ++at) {
        if (values[at] == DocumentIndex::kNone) continue;
        std::optional<std::vector<Expr>> expected = document.shape_of(values[at]);
        if (expected) shapes.push_back({joined[i].node, step[i].name, is_output, std::move(*expected), measured[at]});
      }
    };
    add(node.inputs, step[i].inputs, false);
    add(node.outputs, step[i].outputs, true);
  }
  return shapes;
}

std::map<std::string, Int> settings_of(const std::vector<MeasuredShape>& shapes) {
  std::map<std::string, std::map<Int, size_t>> votes;
  for (const MeasuredShape& shape : shapes) {
    if (shape.expected.size() != shape.measured.size()) continue;
    for (size_t axis = 0; axis < shape.measured.size(); ++axis) {
      const std::optional<Line> line = line_of(shape.expected[axis]);
      if (!line) continue;
      const Int rest = Int{shape.measured[axis]} - line->offset;
      if (rest % line->factor == 0 && rest / line->factor >= 0) ++votes[line->variable][rest / line->factor];
    }
  }
  std::map<std::string, Int> settings;
  for (const auto& [variable, values] : votes) {
    settings[variable] = std::ranges::max_element(values, {}, [](const auto& vote) { return vote.second; })->first;
  }
  return settings;
}

std::vector<Contradiction> contradictions_of(const std::vector<MeasuredShape>& shapes, const Bindings& settings) {
  constexpr size_t kMost = 100;
  std::vector<Contradiction> found;
  for (const MeasuredShape& shape : shapes) {
    if (!shape.is_output) continue;
    std::vector<Int> expected;
    try {
      for (const Expr& dim : shape.expected) expected.push_back(dim.evaluate(settings));
    } catch (const ArithmeticError&) {
      continue;  // a variable without a value
    }
    const std::vector<Int> measured(shape.measured.begin(), shape.measured.end());
    if (expected == measured) continue;
    found.push_back({shape.node, shape.name, text_of(expected), text_of(measured)});
    if (found.size() == kMost) break;
  }
  return found;
}

}  // namespace kcharter
