#include "unit/support/check_conservation.h"

#include <algorithm>
#include <map>
#include <set>

namespace kcharter {
namespace {

class Checker {
 public:
  Checker(const ModuleTree& tree, const Graph& graph) : tree_(tree), graph_(graph) {}

  std::vector<std::string> run() {
    check_sizes();
    if (!wrong_.empty()) return wrong_;
    check_tree();
    check_nodes();
    check_tensors();
    check_caches();
    check_templates();
    return wrong_;
  }

 private:
  void fail(const std::string& sentence) {
    if (wrong_.size() < 20) wrong_.push_back(sentence);
  }
  void expect(bool holds, const std::string& sentence) {
    if (!holds) fail(sentence);
  }

  void check_sizes() {
    expect(!tree_.modules.empty(), "no root");
    expect(tree_.template_of_node.size() == graph_.nodes.size(), "template_of_node: size");
    expect(tree_.template_of_initializer.size() == graph_.initializers.size(),
           "template_of_initializer: size");
    expect(tree_.template_of_cache.size() == graph_.caches.size(), "template_of_cache: size");
    expect(tree_.template_of_value.size() == graph_.values.size(), "template_of_value: size");
    expect(tree_.module_of_node.size() == graph_.nodes.size(), "module_of_node: size");
    expect(tree_.module_of_initializer.size() == graph_.initializers.size(),
           "module_of_initializer: size");
  }

  void check_tree() {
    std::set<std::string> paths;
    for (size_t m = 0; m < tree_.modules.size(); ++m) {
      const Module& module = tree_.modules[m];
      const std::string name = "module '" + module.path + "'";
      expect(paths.insert(module.path).second, name + ": path is not unique");
      expect((m == 0) == !module.parent, name + ": has no parent, or is the root and has one");
      int64_t above = module.parent ? tree_[module.parent].multiplicity : 1;
      expect(!module.parent || module.parent.index < m, name + ": stands before its parent");
      expect(module.multiplicity == above * module.repeat, name + ": multiplicity");
      expect(module.is_stage == (module.repeat > 1), name + ": repeat of a stage");
      expect(!module.is_stage || module.instances.size() == static_cast<size_t>(module.repeat),
             name + ": instances");
      uint32_t last = 0;
      for (const ModuleItem& item : module.items) {
        expect(static_cast<bool>(item.module) != static_cast<bool>(item.node), name + ": item");
        if (item.module)
          expect(tree_[item.module].parent == ModuleId(m), name + ": child's parent");
        if (!item.node) continue;
        expect(item.node.index >= last, name + ": nodes out of order");
        last = item.node.index;
      }
    }
  }

  void check_nodes() {
    std::map<NodeId, int64_t> multiplicity;
    for (size_t m = 0; m < tree_.modules.size(); ++m) {
      for (const ModuleItem& item : tree_.modules[m].items) {
        if (!item.node) continue;
        expect(multiplicity.emplace(item.node, tree_.modules[m].multiplicity).second,
               node(item.node) + " is in two modules");
        expect(tree_.module_of_node[item.node.index] == ModuleId(m), node(item.node) + ": module");
        expect(tree_.template_of_node[item.node.index] == item.node,
               node(item.node) + " is an item and no template");
      }
    }
    // Nodes that a first instance lacks.
    for (const Variant& variant : tree_.variants) {
      if (!variant.stands) multiplicity[variant.node] = variant.count;
    }
    check_counts("node", multiplicity, tree_.template_of_node);
  }

  template <typename Id>
  void check_counts(const std::string& what, const std::map<Id, int64_t>& multiplicity,
                    const std::vector<Id>& templates) {
    std::map<Id, int64_t> count;
    for (Id id : templates) ++count[id];
    for (auto [id, n] : count) {
      auto found = multiplicity.find(id);
      if (found == multiplicity.end())
        fail(what + " " + std::to_string(id.index) + " is in no module");
      else if (found->second != n) {
        fail(what + " " + std::to_string(id.index) + " stands for " + std::to_string(n) +
             ", its module has " + std::to_string(found->second));
      }
    }
    expect(count.size() == multiplicity.size(),
           what + "s in modules and templates differ in number");
  }

  void check_tensors() {
    std::map<InitializerId, int64_t> multiplicity;
    for (size_t m = 0; m < tree_.modules.size(); ++m) {
      for (InitializerId id : tree_.modules[m].initializers) {
        expect(multiplicity.emplace(id, tree_.modules[m].multiplicity).second,
               tensor(id) + " is in two modules");
        expect(tree_.module_of_initializer[id.index] == ModuleId(m), tensor(id) + ": module");
      }
    }
    check_counts("tensor", multiplicity, tree_.template_of_initializer);
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      const Initializer& stands = graph_[tree_.template_of_initializer[i]];
      const Initializer& own = graph_.initializers[i];
      expect(
          stands.dtype == own.dtype && stands.dims == own.dims && stands.role == own.role &&
              stands.part == own.part && stands.stored_bytes == own.stored_bytes &&
              stands.logical_elements == own.logical_elements,
          tensor(InitializerId(i)) + " differs from " + tensor(tree_.template_of_initializer[i]));
    }
  }

  void check_caches() {
    std::map<Id<struct CacheTag>, int64_t> multiplicity;
    for (const Module& module : tree_.modules) {
      for (uint32_t cache : module.caches) {
        expect(multiplicity.emplace(Id<struct CacheTag>(cache), module.multiplicity).second,
               "cache " + std::to_string(cache) + " is in two modules");
      }
    }
    std::vector<Id<struct CacheTag>> templates;
    for (uint32_t cache : tree_.template_of_cache) templates.emplace_back(cache);
    check_counts("cache", multiplicity, templates);
  }

  // Every node equals its template in operator, attributes and types, and reads what its template
  // reads, instance by instance: a value stands for one value, or comes from the instance before.
  void check_templates() {
    std::set<NodeId> variants;
    for (const Variant& variant : tree_.variants) variants.insert(variant.stands);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      NodeId stands = tree_.template_of_node[n];
      if (stands == NodeId(n) || variants.count(stands)) continue;
      const Node& own = graph_.nodes[n];
      const Node& first = graph_[stands];
      const std::string name = node(NodeId(n));
      expect(own.op_type == first.op_type && own.domain == first.domain &&
                 own.since_version == first.since_version,
             name + ": operator differs from " + node(stands));
      expect(own.op_type == "Constant" || own.attributes == first.attributes,
             name + ": attributes differ from " + node(stands));
      expect(own.inputs.size() == first.inputs.size() &&
                 own.outputs.size() == first.outputs.size() &&
                 own.bodies.size() == first.bodies.size(),
             name + ": interface differs from " + node(stands));
      if (own.inputs.size() != first.inputs.size()) continue;
      for (size_t k = 0; k < own.inputs.size(); ++k) {
        check_input(name, first.inputs[k], own.inputs[k]);
      }
      for (size_t k = 0; k < own.outputs.size() && k < first.outputs.size(); ++k) {
        ValueId a = first.outputs[k], b = own.outputs[k];
        expect(static_cast<bool>(a) == static_cast<bool>(b), name + ": absent output");
        if (!a || !b) continue;
        expect(tree_.template_of_value[b.index] == a, name + ": output stands for another");
        expect(graph_[a].type == graph_[b].type, name + ": output type differs");
      }
    }
  }

  void check_input(const std::string& name, ValueId a, ValueId b) {
    expect(static_cast<bool>(a) == static_cast<bool>(b), name + ": absent input");
    if (!a || !b) return;
    expect(graph_[a].type == graph_[b].type, name + ": input type differs");
    // What the template reads, or what an instance before makes in its place, or a value outside.
    ValueId stands = tree_.template_of_value[b.index];
    if (stands == tree_.template_of_value[a.index]) return;
    NodeId made = graph_[stands].producer;
    bool first_differs = made && (is_carried(stands) || is_lacking(made));
    bool own_value = stands == b;  // given from outside; the stage's differences name it
    expect(first_differs || own_value, name + ": reads '" + graph_[b].name +
                                           "' where its template reads '" + graph_[a].name + "'");
  }

  bool is_lacking(NodeId node) const {
    return std::any_of(tree_.variants.begin(), tree_.variants.end(), [&](const Variant& variant) {
      return !variant.stands && variant.node == node;
    });
  }

  bool is_carried(ValueId value) const {
    for (const Module& module : tree_.modules) {
      for (const CarriedValue& carried : module.carried) {
        if (carried.produced == value) return true;
      }
    }
    return false;
  }

  std::string node(NodeId id) const {
    return "node " + std::to_string(id.index) + " '" + graph_[id].name + "' (" +
           graph_[id].op_type + ")";
  }
  std::string tensor(InitializerId id) const {
    return "tensor " + std::to_string(id.index) + " '" + graph_[id].name + "'";
  }

  const ModuleTree& tree_;
  const Graph& graph_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> check_conservation(const ModuleTree& tree, const Graph& graph) {
  return Checker(tree, graph).run();
}

}  // namespace kcharter
