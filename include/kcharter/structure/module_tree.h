// ModuleTree: the hierarchy of modules over a graph's nodes and tensors, equal neighbours folded.
//
// A module holds child modules and nodes, together in execution order (`items`). A stage is a
// module made by folding: its items are those of the first instance, `repeat` says how many
// instances there are, `instances` names them. Every node, initializer and cache of the graph has a
// template: itself, or the one that stands for it in the first instance. Conservation: every node
// and initializer belongs to exactly one module; what cannot be placed is in "(unattributed)".
//
//   model                          items: embed_tokens, layers, norm
//     layers                       items: Stage layers[0:12]
//       model.layers[0:12]         repeat 12, instances model.layers.0 … model.layers.11
//         self_attn, mlp …         paths of the first instance: model.layers.0.self_attn
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kcharter/model/model.h"

namespace kcharter {

using ModuleId = Id<struct ModuleTag>;

// Exactly one of the two is set.
struct ModuleItem {
  ModuleId module;
  NodeId node;
};

// What a stage hands from one instance to the next: the value of the first instance that is
// produced there, and the value that the first instance reads in its place.
struct CarriedValue {
  ValueId produced;
  ValueId read;
};

struct Module {
  std::string name;  // one segment: "self_attn"; a stage: "Stage 1"
  std::string path;  // unique; a stage: a slice of its parent, "model.layers[1:12]"
  std::string kind;  // class name, or what it contains ("norm + attention + mlp"); may be empty
  ModuleId parent;
  ScopeSource source = ScopeSource::kNone;
  bool is_stage = false;
  int64_t repeat = 1;        // how many instances a stage stands for
  int64_t multiplicity = 1;  // product of the repeats above and here
  std::vector<ModuleItem> items;
  std::vector<InitializerId> initializers;  // its own, of the first instance
  std::vector<uint32_t> caches;             // its own, indices into Graph::caches
  std::vector<std::string> instances;       // a stage: the path of each, in order
  std::vector<CarriedValue> carried;        // a stage
  // A stage: sentences that name what differs though folded ("varying constant payload …",
  // "instance 0 lacks the carried input").
  std::vector<std::string> differences;
};

// A first instance that lacks the carried input may run another operator in place of one (a norm
// where others add first): `count` instances run `node` instead of `stands`, which counts them too.
// `stands` none: it lacks `node`, a template of the `count` others. `differences` names either.
struct Variant {
  NodeId stands;  // a template; none: nothing of the first instance
  NodeId node;
  int64_t count = 0;
};

struct ModuleTree {
  std::vector<Module> modules;  // 0 is the root; a parent stands before its children
  // By NodeId, InitializerId, cache index and ValueId: the one of the first instance.
  std::vector<NodeId> template_of_node;
  std::vector<InitializerId> template_of_initializer;
  std::vector<uint32_t> template_of_cache;
  std::vector<ValueId> template_of_value;
  std::vector<Variant> variants;
  // By NodeId and InitializerId: the module that owns it or its template.
  std::vector<ModuleId> module_of_node;
  std::vector<ModuleId> module_of_initializer;

  Module& operator[](ModuleId id) { return modules[id.index]; }
  const Module& operator[](ModuleId id) const { return modules[id.index]; }
};

// Paths come from Node::scope, from names of weights, and where these give nothing from the graph.
// Modules are folded only where operators, attributes, shapes, dtypes, bytes and wiring agree.
ModuleTree build_module_tree(const Model& model);

}  // namespace kcharter
