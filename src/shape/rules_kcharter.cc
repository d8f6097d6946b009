// Operators of our own domain, in which checkpoints' graphs are written where ONNX has no word.
#include "shape/rule_table.h"

namespace kcharter {

ShapeRuleFamily kcharter_shape_rules() { return {}; }

}  // namespace kcharter
