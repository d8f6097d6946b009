// Elementwise operators: one operation per output element, whatever the function.
#include "ops/registry.h"

namespace kcharter {

OperatorFamily arithmetic_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Abs", {}},
      {kOnnx, "Add", {}},
  };
  return kEntries;
}

}  // namespace kcharter
