#include "structure/fold_level.h"

#include <algorithm>
#include <map>
#include <queue>

#include "structure/repeats.h"

namespace kcharter {
namespace {

// Stages of nodes alone: fewer items than these are quicker read than opened.
constexpr uint32_t kManyItems = 64;

struct CoversLess {
  bool operator()(const Repeat& a, const Repeat& b) const { return covers_more(b, a); }
};

class LevelFolder {
 public:
  LevelFolder(const Level& level, uint32_t begin, uint32_t end, const std::vector<uint32_t>& shifts)
      : level_(level), begin_(begin), end_(end), shifts_(shifts) {}

  std::vector<FoldedStage> run() {
    std::span<const uint32_t> classes(level_.class_ids());
    for (Repeat repeat : find_repeats(classes.subspan(begin_, end_ - begin_))) {
      repeat.begin += begin_;
      // A whole repeated by itself is the stage around this one.
      if (repeat.period < end_ - begin_) queue_.push(repeat);
    }
    while (!queue_.empty()) {
      Repeat repeat = queue_.top();
      queue_.pop();
      if (push_free_parts(repeat)) continue;
      fold(repeat);
    }
    if (shifts_.empty()) pair_first_two();
    std::vector<FoldedStage> stages;
    for (auto& [at, stage] : stages_) stages.push_back(std::move(stage));
    return stages;
  }

 private:
  void push(Repeat repeat) {
    if (repeat.extent >= 2 * repeat.period) queue_.push(repeat);
  }

  // Where a part of `repeat` is taken, what is left of it waits for its turn.
  bool push_free_parts(const Repeat& repeat) {
    uint32_t end = repeat.begin + repeat.extent;
    for (const auto& [at, stage] : stages_) {
      if (stage.end() <= repeat.begin || stage.begin() >= end) continue;
      if (stage.begin() > repeat.begin) {
        push({repeat.begin, repeat.period, stage.begin() - repeat.begin});
      }
      if (stage.end() < end) push({stage.end(), repeat.period, end - stage.end()});
      return true;
    }
    return false;
  }

  void fold(const Repeat& repeat) {
    uint32_t end = repeat.begin + repeat.extent;
    uint32_t start = level_.best_cut(repeat.begin, repeat.period, repeat.extent % repeat.period);
    Stage stage = verify_everywhere(start, repeat.period, (end - start) / repeat.period);
    uint32_t next = start + repeat.period * std::max(stage.repeat, 1u);
    if (stage.repeat >= 2 && is_worth_it(stage)) {
      FoldedStage folded;
      folded.stage = std::move(stage);
      folded.first = match_first(folded.stage);
      stages_.emplace(folded.begin(), std::move(folded));
    }
    if (next < end) push({next, repeat.period, end - next});
  }

  // Two layers of which the first lacks the carried input.
  void pair_first_two() {
    for (uint32_t i = begin_ + 1; i < end_; ++i) {
      if (!level_[i].is_module || !level_[i - 1].is_module) continue;
      Stage second{i, 1, 1, {}};
      auto after = stages_.lower_bound(i);
      if (after != stages_.end() && after->first == i) continue;
      if (level_.mark(i) != level_.mark(i - 1)) continue;
      FoldedStage folded;
      folded.first = match_first(second);
      if (!folded.first) continue;
      folded.stage = std::move(second);
      stages_.emplace(folded.begin(), std::move(folded));
    }
  }

  // A first instance that differs in the items before a stage, if these are free.
  std::optional<FirstInstance> match_first(Stage& stage) const {
    if (!shifts_.empty()) return std::nullopt;
    for (uint32_t size : {stage.period, stage.period - 1}) {
      if (stage.begin < begin_ + size) continue;
      auto after = stages_.lower_bound(stage.begin);
      if (after != stages_.begin() && std::prev(after)->second.end() > stage.begin - size) continue;
      if (auto first = match_first_instance(level_, stage, size)) return first;
    }
    return std::nullopt;
  }

  Stage verify_everywhere(uint32_t begin, uint32_t period, uint32_t repeat) const {
    Stage stage = verify_stage(level_, begin, period, repeat);
    for (uint32_t shift : shifts_) {
      if (stage.repeat < 2) break;
      stage.repeat =
          std::min(stage.repeat, verify_stage(level_, begin + shift, period, stage.repeat).repeat);
    }
    return stage;
  }

  bool is_worth_it(const Stage& stage) const {
    bool has_parameter = false;
    for (uint32_t i = stage.begin; i < stage.begin + stage.period; ++i) {
      if (level_[i].is_module) return true;
      for (ValueId value : level_[i].inputs) has_parameter = has_parameter || is_parameter(value);
    }
    for (const Slot& slot : stage.slots) {
      if (slot.kind == SlotKind::kLikeNodes) return false;
    }
    uint32_t covered = stage.period * stage.repeat;
    return (has_parameter && stage.period >= 2 && covered >= 6) || covered >= kManyItems;
  }

  bool is_parameter(ValueId value) const {
    InitializerId tensor = level_.graph()[value].initializer;
    return tensor && level_.graph()[tensor].role == TensorRole::kParameter;
  }

  const Level& level_;
  uint32_t begin_, end_;
  const std::vector<uint32_t>& shifts_;
  std::priority_queue<Repeat, std::vector<Repeat>, CoversLess> queue_;
  std::map<uint32_t, FoldedStage> stages_;  // by begin
};

}  // namespace

std::vector<FoldedStage> fold_level(const Level& level, uint32_t begin, uint32_t end,
                                    const std::vector<uint32_t>& shifts) {
  return LevelFolder(level, begin, end, shifts).run();
}

}  // namespace kcharter
