// LayoutPass: what the rules of operators say of layouts, collected over a graph in two sweeps.
//
// Backwards, each operator says in which layout it can take its inputs, given how its result is
// wanted (`want`). Forwards it says how its result lies, given how its inputs do (`set`), which
// weights it needs in parts (`set_weight`) and which inputs it must first have whole (`gather`, a
// communication).
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "estimate/parallel/layout.h"
#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/parallel.h"

namespace kcharter {

// A collective operation on what `node` made, once each time that it runs.
struct Transfer {
  Collective operation = Collective::kAllReduce;
  NodeId node;
  Dim bytes;  // of the whole value; of all rows sent to experts
};

struct Layouts {
  LayoutTable table;
  std::vector<LayoutId> values;   // by ValueId, as produced
  std::vector<LayoutId> work;     // by NodeId: how what it computes is spread
  std::vector<LayoutId> weights;  // by InitializerId
  std::vector<LayoutId> caches;   // by index
  std::vector<Transfer> transfers;
};

class LayoutPass {
 public:
  LayoutPass(const Graph& of_graph, const Operands& of_operands);

  const Graph& graph;
  const Operands& operands;

  bool is_constant(ValueId value) const { return operands.constant[value.index]; }
  int rank(ValueId value) const;  // -1: not known
  // The size along `axis`, which may count from the end; 0: not a known constant.
  int64_t size(ValueId value, int axis) const;

  // Backwards. Whole where nothing is wanted of it.
  const Layout& wanted(ValueId value) const;
  void want(ValueId value, const Layout& layout);
  void want_whole_but(const Node& node, const std::vector<size_t>& inputs);
  void want_whole(const Node& node) { want_whole_but(node, {}); }
  // Caches lie as they are wanted; what the graph returns may be put together at the end.
  void want_outputs();
  void set_caches();

  // Forwards.
  const Layout& of(ValueId value) const { return result_.table[result_.values[value.index]]; }
  void set(ValueId value, const Layout& layout);
  void set_work(const Node& node, const Layout& layout);
  void set_weight(ValueId value, const Layout& layout);
  void set_weight(InitializerId initializer, const Layout& layout);
  // Whole on each device from here on.
  void gather(ValueId value);
  void gather_all(const Node& node);
  // Rows sent to the experts of `choice` and back; once each.
  void send(const Node& node, ValueId choice, Dim bytes);

  // The vocabulary: rows of the largest table that tokens are looked up in; 0: none.
  int64_t vocabulary_rows = 0;

  void finish();
  Layouts take() { return std::move(result_); }

 private:
  Layouts result_;
  std::vector<LayoutId> wanted_;  // by ValueId; kAnything: nobody reads it so far
  std::vector<bool> weight_set_;  // by InitializerId
  std::unordered_set<uint32_t> gathered_;
  std::unordered_set<uint64_t> sent_;
};

}  // namespace kcharter
