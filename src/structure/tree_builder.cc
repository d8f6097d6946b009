#include "structure/tree_builder.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "structure/content.h"
#include "structure/differences.h"
#include "structure/fold_level.h"
#include "structure/stage_names.h"
#include "structure/template_map.h"

namespace kcharter {
namespace {

// A part of a level that waits to be written into a module of the tree.
struct Range {
  ModuleId into;
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> shifts;  // to the other instances of the stages around it
};

class TreeBuilder {
 public:
  TreeBuilder(const Model& model, const Outline& outline, const ValueReaders& readers)
      : graph_(model.graph),
        outline_(outline),
        readers_(readers),
        classes_(graph_, readers_, outline),
        contents_(graph_, outline),
        map_(graph_, outline, readers_, classes_),
        places_(graph_.values.size()),
        tree_of_module_(outline.modules.size()) {
    tree_.module_of_node.resize(graph_.nodes.size());
    tree_.module_of_initializer.resize(graph_.initializers.size());
    add_module(0, ModuleId());
    tree_[ModuleId(0)].name = model.name;
  }

  ModuleTree run() {
    while (!waiting_.empty()) {
      uint32_t module = waiting_.front();
      waiting_.pop_front();
      write_level(module);
    }
    map_.finish(tree_);
    place_lacking();
    take_out_uneven_tensors();
    place_left_overs();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      tree_.module_of_node[n] = tree_.module_of_node[tree_.template_of_node[n].index];
    }
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      tree_.module_of_initializer[i] =
          tree_.module_of_initializer[tree_.template_of_initializer[i].index];
    }
    return std::move(tree_);
  }

 private:
  ModuleId add(Module module, ModuleId parent) {
    ModuleId id(tree_.modules.size());
    module.parent = parent;
    if (parent) module.multiplicity = tree_[parent].multiplicity * module.repeat;
    std::string path = module.path;
    for (int n = 2; !paths_.insert(module.path).second; ++n) {
      module.path = path + "~" + std::to_string(n);
    }
    tree_.modules.push_back(std::move(module));
    return id;
  }

  ModuleId add_module(uint32_t m, ModuleId parent) {
    const OutlineModule& own = outline_.modules[m];
    Module module;
    module.name = own.name;
    module.path = own.path;
    module.kind = m == 0 ? std::string() : kind_of(m);
    module.source = own.source;
    tree_of_module_[m] = add(std::move(module), parent);
    waiting_.push_back(m);
    return tree_of_module_[m];
  }

  std::string kind_of(uint32_t m) const {
    const std::string& own = outline_.modules[m].kind;
    return own.empty() ? contents_.of_module(m) : own;
  }

  void write_level(uint32_t m) {
    Level level(graph_, classes_, outline_, m, places_);
    ModuleId top = tree_of_module_[m];
    stages_of_level_.clear();
    std::vector<Range> ranges = {{top, 0, level.size(), {}}};
    while (!ranges.empty()) {
      Range range = std::move(ranges.back());
      ranges.pop_back();
      write_range(level, m, range, ranges);
    }
    place_tensors(m, top);
  }

  void write_range(const Level& level, uint32_t m, const Range& range, std::vector<Range>& ranges) {
    const std::vector<ModuleItem>& items = outline_.modules[m].items;
    std::vector<FoldedStage> stages = fold_level(level, range.begin, range.end, range.shifts);
    auto stage = stages.begin();
    int number = 0;
    for (uint32_t i = range.begin; i < range.end;) {
      if (stage != stages.end() && stage->begin() == i) {
        write_stage(level, m, range, *stage, ++number, ranges);
        i = stage->end();
        ++stage;
        continue;
      }
      if (items[i].module) {
        ModuleId child = add_module(items[i].module.index, range.into);
        tree_[range.into].items.push_back({child, NodeId()});
      } else {
        tree_[range.into].items.push_back(items[i]);
        tree_.module_of_node[items[i].node.index] = range.into;
      }
      ++i;
    }
  }

  void write_stage(const Level& level, uint32_t m, const Range& around, const FoldedStage& folded,
                   int number, std::vector<Range>& ranges) {
    const std::vector<ModuleItem>& items = outline_.modules[m].items;
    uint32_t begin = folded.begin(), period = folded.period(), size = folded.first_size();
    StageNames names = name_stage(outline_, {m, begin, period, folded.repeat(), size});
    Module stage;
    stage.name = "Stage " + std::to_string(number);
    stage.path = names.path;
    stage.is_stage = true;
    stage.repeat = folded.repeat();
    stage.instances = std::move(names.instances);
    std::vector<ModuleItem> first(items.begin() + begin, items.begin() + begin + size);
    stage.source = source_of(first);
    stage.kind = contents_.of_items(first);
    bool is_one_module = period == 1 && first[0].module;
    if (is_one_module) stage.kind = kind_of(first[0].module.index);
    pair_instances(level, m, folded, stage);
    ModuleId id = add(std::move(stage), around.into);
    tree_[around.into].items.push_back({id, NodeId()});
    if (folded.first) {
      int64_t count = tree_[id].multiplicity / folded.repeat() * folded.stage.repeat;
      for (auto [stands, node] : folded.first->variants)
        tree_.variants.push_back({stands, node, count});
      for (NodeId node : folded.first->lacks) {
        tree_.variants.push_back({NodeId(), node, count});
        lacking_.push_back({id, node});
      }
    }
    stages_of_level_.push_back({id, begin, size, period, folded.end()});
    if (is_one_module) {  // the stage is that module, and holds what it holds
      tree_of_module_[first[0].module.index] = id;
      waiting_.push_back(first[0].module.index);
      return;
    }
    Range inner{id, begin, begin + size, {}};
    for (uint32_t shift = size; shift < folded.end() - begin; shift += period) {
      inner.shifts.push_back(shift);
      for (uint32_t more : around.shifts) inner.shifts.push_back(more + shift);
    }
    inner.shifts.insert(inner.shifts.end(), around.shifts.begin(), around.shifts.end());
    ranges.push_back(std::move(inner));
  }

  ScopeSource source_of(const std::vector<ModuleItem>& items) const {
    for (const ModuleItem& item : items) {
      if (item.module) return outline_.modules[item.module.index].source;
    }
    return ScopeSource::kStructure;
  }

  void pair_instances(const Level& level, uint32_t m, const FoldedStage& folded, Module& stage) {
    const Stage& equal = folded.stage;
    Differences differences(level, folded, stage.instances);
    TemplateMap::Instance first{m, equal.begin, equal.begin + equal.period};
    if (folded.first) {
      map_.pair(*folded.first, {m, folded.begin(), equal.begin}, first, level);
    }
    for (uint32_t i = 1; i < equal.repeat; ++i) {
      uint32_t shift = i * equal.period;
      std::vector<NodeId> varying;
      map_.pair(level, first, {m, first.begin + shift, first.end + shift}, varying);
      differences.add_varying(varying);
    }
    for (const Slot& slot : equal.slots) {
      if (slot.kind != SlotKind::kCarried) continue;
      // What the first instance makes there, and what it reads where the others read it.
      const ItemView& maker = level[equal.begin + slot.carried_from.item];
      CarriedValue carried{maker.outputs[slot.carried_from.place], slot.first};
      if (folded.first) carried = carried_of_first(*folded.first, carried);
      if (carried.read) stage.carried.push_back(carried);
    }
    stage.differences = differences.sentences();
  }

  static CarriedValue carried_of_first(const FirstInstance& first, CarriedValue second) {
    CarriedValue carried;
    for (auto [stands, value] : first.made) {
      if (value == second.produced) carried.produced = stands;
    }
    for (auto [stands, value] : first.entered) {
      if (value == second.read) carried.read = stands;
    }
    // What the first lacks stands for itself.
    if (!carried.produced) carried.produced = second.produced;
    return carried;
  }

  // The tensors and caches of the level's own module go into the innermost stage that has all their
  // readers.
  void place_tensors(uint32_t m, ModuleId top) {
    const OutlineModule& module = outline_.modules[m];
    for (InitializerId tensor : module.initializers) {
      ModuleId at = stage_of_readers(m, top, graph_[tensor].value);
      if (!at) continue;
      tree_.module_of_initializer[tensor.index] = at;
      tree_[at].initializers.push_back(tensor);
    }
    for (uint32_t cache : module.caches) {
      ValueId value = graph_.caches[cache].input;
      if (!value || readers_.of(value).empty()) value = graph_.caches[cache].output;
      if (ModuleId at = stage_of_readers(m, top, value)) tree_[at].caches.push_back(cache);
    }
  }

  // None: the readers are in one instance that is folded away.
  ModuleId stage_of_readers(uint32_t m, ModuleId top, ValueId value) const {
    uint32_t first = UINT32_MAX, last = 0;
    if (value) {
      for (NodeId reader : readers_.of(value)) include(reader, m, first, last);
      NodeId producer = graph_[value].producer;
      if (first == UINT32_MAX && producer) include(producer, m, first, last);
    }
    if (first == UINT32_MAX) return top;
    for (const LevelStage& stage : stages_of_level_) {  // outer ones stand before inner ones
      if (first < stage.begin || last >= stage.end) continue;
      uint32_t instance = stage.instance_of(first);
      if (instance != stage.instance_of(last)) break;
      if (instance > 0) return ModuleId();
      top = stage.id;
    }
    return top;
  }

  void include(NodeId node, uint32_t m, uint32_t& first, uint32_t& last) const {
    uint32_t item = map_.item_of_node(node, m);
    if (item == UINT32_MAX) return;
    first = std::min(first, item);
    last = std::max(last, item);
  }

  // What a first instance lacks stands beside its neighbours, after all that the first has.
  void place_lacking() {
    for (auto [stage, node] : lacking_) {
      ModuleId at = stage;
      uint32_t module = outline_.module_of_node[node.index];
      for (uint32_t n = node.index; n-- > 0 && outline_.module_of_node[n] == module;) {
        NodeId stands = tree_.template_of_node[n];
        if (stands == NodeId(n)) continue;
        at = tree_.module_of_node[stands.index];
        break;
      }
      while (tree_[at].multiplicity > tree_[stage].multiplicity) at = tree_[at].parent;
      tree_[at].items.push_back({ModuleId(), node});
      tree_.module_of_node[node.index] = at;
    }
  }

  // Small constants that the instances share unevenly fold into none: each stands for itself again.
  void take_out_uneven_tensors() {
    std::vector<int64_t> stands_for(graph_.initializers.size());
    for (InitializerId stands : tree_.template_of_initializer) ++stands_for[stands.index];
    std::vector<bool> uneven(graph_.initializers.size());
    for (size_t i = 0; i < uneven.size(); ++i) {
      ModuleId at = tree_.module_of_initializer[i];
      if (stands_for[i] > 0) uneven[i] = stands_for[i] != (at ? tree_[at].multiplicity : 1);
    }
    for (size_t i = 0; i < uneven.size(); ++i) {
      if (!uneven[tree_.template_of_initializer[i].index]) continue;
      tree_.template_of_initializer[i] = InitializerId(i);
      if (ValueId value = graph_.initializers[i].value)
        tree_.template_of_value[value.index] = value;
      ModuleId& at = tree_.module_of_initializer[i];
      if (at) std::erase(tree_[at].initializers, InitializerId(i));
      at = ModuleId();
    }
  }

  // What an instance that is folded away owns though nothing stands for it: with the nearest module
  // that is shown.
  void place_left_overs() {
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      if (tree_.template_of_initializer[i] != InitializerId(i) || tree_.module_of_initializer[i]) {
        continue;
      }
      ModuleId at = shown(outline_.module_of_initializer[i]);
      tree_.module_of_initializer[i] = at;
      tree_[at].initializers.push_back(InitializerId(i));
    }
    std::vector<bool> placed(graph_.caches.size());
    for (const Module& module : tree_.modules) {
      for (uint32_t cache : module.caches) placed[cache] = true;
    }
    for (uint32_t c = 0; c < graph_.caches.size(); ++c) {
      if (tree_.template_of_cache[c] != c || placed[c]) continue;
      tree_[shown(outline_.module_of_cache[c])].caches.push_back(c);
    }
  }

  // The nearest module around that stands for itself alone.
  ModuleId shown(uint32_t m) const {
    while (!tree_of_module_[m] || tree_[tree_of_module_[m]].multiplicity != 1) {
      m = outline_.modules[m].parent;
    }
    return tree_of_module_[m];
  }

  struct LevelStage {
    ModuleId id;
    uint32_t begin, first_size, period, end;

    uint32_t instance_of(uint32_t item) const {
      return item < begin + first_size ? 0 : (item - begin - first_size) / period + 1;
    }
  };
  struct Lacking {
    ModuleId stage;
    NodeId node;
  };

  const Graph& graph_;
  const Outline& outline_;
  const ValueReaders& readers_;
  ModuleClasses classes_;
  Contents contents_;
  TemplateMap map_;
  ValuePlaces places_;
  std::vector<ModuleId> tree_of_module_;  // by outline module
  std::vector<LevelStage> stages_of_level_;
  std::vector<Lacking> lacking_;
  std::deque<uint32_t> waiting_;
  std::unordered_set<std::string> paths_;
  ModuleTree tree_;
};

}  // namespace

ModuleTree build_tree(const Model& model, const Outline& outline, const ValueReaders& readers) {
  return TreeBuilder(model, outline, readers).run();
}

}  // namespace kcharter
