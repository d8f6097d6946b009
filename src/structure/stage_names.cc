#include "structure/stage_names.h"

#include <optional>

namespace kcharter {
namespace {

// "model.layers.11" → "model.layers" and 11.
struct Numbered {
  std::string_view base;
  int64_t number = 0;
};

std::optional<Numbered> numbered(std::string_view path) {
  size_t dot = path.rfind('.');
  std::string_view last = dot == std::string_view::npos ? path : path.substr(dot + 1);
  if (!is_index(last)) return std::nullopt;
  std::string_view base = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  return Numbered{base, std::stoll(std::string(last))};
}

std::string slice(std::string_view base, int64_t begin, int64_t end) {
  return std::string(base) + "[" + std::to_string(begin) + ":" + std::to_string(end) + "]";
}

class StageNamer {
 public:
  StageNamer(const Outline& outline, const StageItems& items)
      : outline_(outline),
        module_(outline.modules[items.module]),
        begin_(items.begin),
        period_(items.period),
        repeat_(items.repeat),
        lacking_(items.period - items.first_size) {}

  StageNames run() {
    StageNames names;
    std::optional<Numbered> first = first_number();
    int64_t step = first ? numbers_per_instance(first->base) : 0;
    if (first && follow_on(*first, step)) {
      names.path = slice(first->base, first->number, first->number + step * repeat_);
    } else if (const OutlineModule* named = first_module(0)) {
      const OutlineModule* last = first_module(repeat_ - 1);
      names.path = module_.path + "[" + named->name + ".." + last->name + "]";
      first.reset();
    } else {
      names.path = slice(module_.path, begin_, begin_of(repeat_));
    }
    for (uint32_t i = 0; i < repeat_; ++i) names.instances.push_back(instance(i, first, step));
    return names;
  }

 private:
  uint32_t begin_of(uint32_t instance) const {
    return begin_ + instance * period_ - (instance > 0 ? lacking_ : 0);
  }

  const OutlineModule* module_at(uint32_t item) const {
    const ModuleItem& at = module_.items[item];
    return at.module ? &outline_.modules[at.module.index] : nullptr;
  }

  const OutlineModule* first_module(uint32_t instance) const {
    for (uint32_t item = begin_of(instance); item < begin_of(instance + 1); ++item) {
      if (const OutlineModule* module = module_at(item)) return module;
    }
    return nullptr;
  }

  std::optional<Numbered> first_number() const {
    for (uint32_t item = begin_; item < begin_of(1); ++item) {
      const OutlineModule* module = module_at(item);
      if (!module) continue;
      if (std::optional<Numbered> number = numbered(module->path)) return number;
    }
    return std::nullopt;
  }

  int64_t numbers_per_instance(std::string_view base) const {
    int64_t count = 0;
    for (uint32_t item = begin_; item < begin_of(1); ++item) {
      const OutlineModule* module = module_at(item);
      std::optional<Numbered> number = module ? numbered(module->path) : std::nullopt;
      count += number && number->base == base;
    }
    return count;
  }

  // Whether the numbers of the instances follow each other without a gap.
  bool follow_on(const Numbered& first, int64_t step) const {
    int64_t next = first.number;
    for (uint32_t item = begin_; item < begin_of(repeat_); ++item) {
      const OutlineModule* module = module_at(item);
      std::optional<Numbered> number = module ? numbered(module->path) : std::nullopt;
      if (number && number->base == first.base && number->number != next++) return false;
    }
    return step > 0;
  }

  std::string instance(uint32_t i, const std::optional<Numbered>& first, int64_t step) const {
    const OutlineModule* module = first_module(i);
    if (period_ == 1 && module) return module->path;
    if (first) return slice(first->base, first->number + step * i, first->number + step * (i + 1));
    if (module) return module_.path + "[" + module->name + ".." + module->name + "]";
    return slice(module_.path, begin_of(i), begin_of(i + 1));
  }

  const Outline& outline_;
  const OutlineModule& module_;
  uint32_t begin_, period_, repeat_;
  uint32_t lacking_;  // items that the first instance has less
};

}  // namespace

StageNames name_stage(const Outline& outline, const StageItems& items) {
  return StageNamer(outline, items).run();
}

}  // namespace kcharter
