// ControlFlow: the bodies of If, Loop and Scan.
//
// A body's nodes stand before their owner. On meeting the first of them the body's inputs are
// seeded from the owner's (`enter`); after the last, at the owner, its outputs are made from the
// body's
// (`leave`). A tensor that a Loop carries may change its shape from one iteration to the next: the
// body is then visited again with a symbol in place of the dimension, which shows how it grows;
// what grows by a fixed step ends at start + trips · step. No body is visited more than kMaxPasses
// times.
#pragma once

#include <map>
#include <vector>

#include "shape/inference.h"

namespace kcharter {

// If, Loop and Scan. Others that hold graphs run them in a way of their own.
bool is_control_flow(const Node& node);

class ControlFlow {
 public:
  static constexpr int kMaxPasses = 3;

  explicit ControlFlow(Inference& inference);

  // Seeds the bodies that `node` stands in and that were not entered yet, outermost first.
  void enter(NodeId node);
  // `node` is an If, Loop or Scan whose bodies are done: sets its outputs and its regions' runs and
  // trip counts. True where the bodies have to be visited again, from `first_of_body(node)`, which
  // is not asked for unless `may_revisit`.
  bool leave(NodeId node, bool may_revisit);
  uint32_t first_of_body(NodeId node) const { return first_of_body_[node.index]; }

 private:
  // How one dimension of a carried tensor behaves over the iterations.
  enum class Carry : uint8_t { kFixed, kProbed, kGrowing, kFree, kUnknown };
  struct CarriedDim {
    Carry carry = Carry::kFixed;
    Dim start;    // before the first iteration
    Expr growth;  // kGrowing: per iteration
    Expr symbol;  // kProbed, kFree: stands for it in the body
  };
  struct Carried {
    TensorType type;  // before the first iteration; its shape that of `dims`
    std::vector<CarriedDim> dims;
    bool is_sequence = false;
    CarriedDim length;  // of a sequence
    bool unranked = false;
  };
  struct Loop {
    int pass = 0;
    Dim trips;
    std::vector<Carried> carried;
  };

  void enter_region(RegionId region);
  void enter_loop(const Node& owner, RegionId body);
  void enter_scan(const Node& owner, RegionId body);
  void enter_function(RegionId body);
  void seed(ValueId input, const TensorType& type);
  void seed_carried(ValueId input, const Carried& carried, const Dim& trips);
  Carried carried_from(ValueId start) const;
  bool compare(NodeId owner, Loop& loop, const std::vector<ValueId>& results, size_t first,
               const std::vector<ValueId>& body_inputs, size_t first_input);
  bool compare_dim(NodeId owner, size_t index, CarriedDim& dim, const Dim& before, const Dim& after,
                   int pass);
  void set_carried_outputs(const Node& owner, const Loop& loop);
  void leave_if(NodeId owner);
  bool leave_loop(NodeId owner, bool may_revisit);
  bool leave_scan(NodeId owner, bool may_revisit);
  Dim loop_trips(NodeId owner, Region& body);

  Inference& all_;
  Graph& graph_;
  std::vector<bool> entered_;            // by RegionId
  std::vector<uint32_t> first_of_body_;  // by NodeId of owners; empty where there are no bodies
  std::map<uint32_t, Loop> loops_;       // by NodeId of owners
};

}  // namespace kcharter
