#include "structure/level.h"

#include <algorithm>

namespace kcharter {
Level::Level(const Graph& graph, const ModuleClasses& classes, const Outline& outline,
             uint32_t module, ValuePlaces& places)
    : graph_(graph), classes_(classes), outline_(outline), module_(module), places_(places) {
  StringInterner stems;
  Interner folded;
  for (const ModuleItem& item : outline.modules[module].items) {
    auto i = static_cast<uint32_t>(views_.size());
    views_.push_back(classes.view(item));
    marks_.push_back(mark_of(item, stems));
    class_ids_.push_back(folded.id({views_.back().class_id, marks_.back()}));
    for (ValueId value : views_.back().inputs) {
      ValuePlace& place = place_of(value);
      place.first_use = std::min(place.first_use, i);
      place.last_use = i;
    }
    for (uint32_t k = 0; k < views_.back().outputs.size(); ++k) {
      ValuePlace& place = place_of(views_.back().outputs[k]);
      place.maker = i;
      place.place = k;
    }
  }
}

uint32_t Level::mark_of(const ModuleItem& item, StringInterner& stems) const {
  if (item.module) return stems.id(without_digits(outline_.modules[item.module.index].name));
  // Aliases stand for themselves, whatever they name.
  return classes_.readers().is_alias(item.node) ? item.node.index : 0;
}

ValuePlace& Level::place_of(ValueId value) {
  ValuePlace& place = places_[value.index];
  if (place.level != module_) {
    place = ValuePlace();
    place.level = module_;
  }
  return place;
}

std::optional<Port> Level::maker(ValueId value) const {
  const ValuePlace& place = places_[value.index];
  if (place.level != module_ || place.maker == UINT32_MAX) return std::nullopt;
  return Port{place.maker, place.place};
}

uint32_t Level::last_use(ValueId value) const {
  return classes_.is_used_outside(value, module_) ? UINT32_MAX : places_[value.index].last_use;
}

bool Level::is_used_only_in(ValueId value, uint32_t begin, uint32_t end) const {
  if (classes_.is_used_outside(value, module_)) return false;
  const ValuePlace& place = places_[value.index];
  // A value that no interface shows is at home within one item.
  if (place.level != module_) return true;
  return place.first_use >= begin && place.last_use < end;
}

uint32_t Level::best_cut(uint32_t begin, uint32_t period, uint32_t slack) const {
  uint32_t count = std::min(slack, period - 1) + 1;
  // Values that cross the cut before item begin + period + k, for each k; by differences.
  std::vector<int64_t> crossing(count + 1);
  uint32_t end = std::min(size(), begin + period + count);
  for (uint32_t i = begin; i < end; ++i) {
    for (ValueId value : views_[i].outputs) {
      uint32_t last = last_use(value);
      if (last == UINT32_MAX || last <= i || last - i > period)
        continue;  // not from one to the next
      uint32_t from = std::max(i + 1, begin + period) - (begin + period);
      if (last < begin + period || from >= count) continue;
      ++crossing[from];
      --crossing[std::min(last - (begin + period) + 1, count)];
    }
  }
  uint32_t best = 0;
  int64_t now = 0, fewest = INT64_MAX;
  for (uint32_t k = 0; k < count; ++k) {
    now += crossing[k];
    if (now >= fewest) continue;
    fewest = now;
    best = k;
  }
  return begin + best;
}

}  // namespace kcharter
