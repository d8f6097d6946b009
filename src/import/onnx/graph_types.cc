#include "import/onnx/graph_types.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <unordered_map>

namespace kcharter {
namespace {

// Some exporters write an unknown end as the largest number there is.
constexpr int64_t kMaxDimension = int64_t{1} << 48;

void clean(DimensionView& dim, std::string_view subject, Diagnostics& diagnostics) {
  if (dim.value && (*dim.value < 0 || *dim.value > kMaxDimension)) {
    diagnostics.add(Severity::kWarning, "impossible-dimension", subject,
                    fmt::format("a declared dimension is {}; it is taken as unknown", *dim.value));
    dim.value.reset();
  }
  if (dim.value) {
    dim.symbol = {};
    return;
  }
  int64_t number = 0;
  const char* end = dim.symbol.data() + dim.symbol.size();
  const auto [stop, error] = std::from_chars(dim.symbol.data(), end, number);
  if (!dim.symbol.empty() && error == std::errc() && stop == end && number >= 0 &&
      number <= kMaxDimension) {
    diagnostics.add(Severity::kNote, "numeric-symbol", subject,
                    fmt::format("the symbolic dimension '{}' is taken as that number", dim.symbol));
    dim.value = number;
    dim.symbol = {};
  }
}

}  // namespace

const TypeView* GraphTypes::find(ValueId value) const {
  if (!value || value.index >= of_value.size() || of_value[value.index] == kNone) return nullptr;
  return &distinct[of_value[value.index]];
}

const std::vector<DimensionView>* GraphTypes::dims(ValueId value) const {
  const TypeView* type = find(value);
  if (type == nullptr || type->kind != TypeViewKind::kTensor || !type->dims) return nullptr;
  return &*type->dims;
}

GraphTypes read_types(const Graph& graph, const std::vector<Declaration>& declarations,
                      Diagnostics& diagnostics) {
  GraphTypes types;
  types.of_value.assign(graph.values.size(), GraphTypes::kNone);
  std::unordered_map<std::string_view, uint32_t> known;
  for (const Declaration& declaration : declarations) {
    const auto [found, added] =
        known.try_emplace(declaration.type.text, static_cast<uint32_t>(types.distinct.size()));
    if (added) {
      TypeView type = read_type(declaration.type);
      const std::string subject = fmt::format("value '{}'", graph[declaration.value].name);
      if (type.dims) {
        for (DimensionView& dim : *type.dims) clean(dim, subject, diagnostics);
      }
      types.distinct.push_back(std::move(type));
    }
    types.of_value[declaration.value.index] = found->second;
  }
  return types;
}

}  // namespace kcharter
