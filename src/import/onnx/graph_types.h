// GraphTypes: what the file declares of values' types, its symbols as it spells them.
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/convert_graph.h"
#include "import/onnx/model_view.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/model/graph.h"

namespace kcharter {

struct GraphTypes {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<TypeView> distinct;  // large graphs repeat a few hundred types
  std::vector<uint32_t> of_value;  // by ValueId, into `distinct`

  // nullptr: nothing is declared.
  const TypeView* find(ValueId value) const;
  // The declared dimensions; nullptr where there are none or the value is no tensor.
  const std::vector<DimensionView>* dims(ValueId value) const;
};

// A dimension below 0 is unknown, and a symbol that is a number is that number (torch writes both).
GraphTypes read_types(const Graph& graph, const std::vector<Declaration>& declarations,
                      Diagnostics& diagnostics);

}  // namespace kcharter
