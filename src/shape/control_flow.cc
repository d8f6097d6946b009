#include "shape/control_flow.h"

#include <algorithm>
#include <set>
#include <string>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/merge_branches.h"

namespace kcharter {
namespace {

// Of the symbols that stand for a dimension while it is found out how it grows.
constexpr std::string_view kProbe = "kcharter_carried_";
// More iterations than this are "until the condition says so".
constexpr int64_t kUnbounded = INT32_MAX;

bool holds_probe(const Expr& formula) {
  const std::set<std::string> names = formula.variables();
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with(kProbe); });
}

int64_t axis_at(const Node& node, std::string_view attribute, size_t index) {
  const auto* axes = ints_attribute(node, attribute);
  return axes != nullptr && index < axes->size() ? (*axes)[index] : 0;
}

}  // namespace

bool is_control_flow(const Node& node) {
  return !node.bodies.empty() &&
         (node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan");
}

ControlFlow::ControlFlow(Inference& inference)
    : all_(inference), graph_(inference.graph), entered_(inference.graph.regions.size(), false) {
  if (!entered_.empty()) entered_[0] = true;
  if (graph_.regions.size() < 2) return;
  first_of_body_.resize(graph_.nodes.size());
  for (uint32_t i = 0; i < graph_.nodes.size(); ++i) first_of_body_[i] = i;
  for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    for (RegionId region = graph_.nodes[i].region; region && region.index != 0;) {
      const NodeId owner = graph_[region].owner;
      if (!owner) break;
      first_of_body_[owner.index] = std::min(first_of_body_[owner.index], i);
      region = graph_[owner].region;
    }
  }
}

void ControlFlow::enter(NodeId node) {
  std::vector<RegionId> chain;
  for (RegionId region = graph_[node].region; region && !entered_[region.index];) {
    chain.push_back(region);
    entered_[region.index] = true;
    region = graph_[region].parent;
  }
  for (size_t i = chain.size(); i-- > 0;) enter_region(chain[i]);
}

void ControlFlow::enter_region(RegionId region) {
  Region& body = graph_[region];
  if (!body.owner) return;
  const Node& owner = graph_[body.owner];
  const bool outer_runs = !body.parent || graph_[body.parent].runs != RegionRuns::kNo;
  if (body.kind == RegionKind::kThen || body.kind == RegionKind::kElse) {
    const NodeInference view(all_, body.owner);
    const auto condition = constant(view.scalar(0));
    body.runs = RegionRuns::kUnknown;
    if (condition) {
      const bool is_taken = (*condition != 0) == (body.kind == RegionKind::kThen);
      body.runs = is_taken ? RegionRuns::kYes : RegionRuns::kNo;
    }
  } else if (body.kind != RegionKind::kRoot) {
    body.runs = RegionRuns::kYes;  // others are run by their owner as it likes
  }
  if (!outer_runs) body.runs = RegionRuns::kNo;
  if (body.kind == RegionKind::kLoop) enter_loop(owner, region);
  if (body.kind == RegionKind::kScan) enter_scan(owner, region);
  if (owner.op_type == "SequenceMap" || owner.op_type == "FlexAttention") enter_function(region);
}

// Bodies that are functions of the owner's inputs: of each tensor of a sequence, of the scores.
void ControlFlow::enter_function(RegionId region) {
  Region& body = graph_[region];
  const NodeInference view(all_, body.owner);
  if (body.runs != RegionRuns::kNo) body.runs = RegionRuns::kYes;
  const bool maps = view.node.op_type == "SequenceMap";
  body.trip_count = maps ? view.sequence_length(0) : Dim(Expr(1));
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    if (!body.inputs[i]) continue;
    TensorType type = view.input(i);
    type.kind = TypeKind::kTensor;
    if (!maps) {
      type = {DType::kF32, Shape{view.input_dim(0, 0), view.input_dim(0, 1), view.input_dim(0, 2),
                                 view.input_dim(1, 2)}};
    }
    seed(body.inputs[i], type);
  }
}

void ControlFlow::seed(ValueId input, const TensorType& type) {
  Value& value = graph_[input];
  if (type.dtype != DType::kUnknown) value.type.dtype = type.dtype;
  if (type.shape) value.type.shape = type.shape;
  value.type.kind = type.kind;
  all_.facts[input.index] = {};
}

ControlFlow::Carried ControlFlow::carried_from(ValueId start) const {
  Carried carried;
  if (!start) {
    carried.unranked = true;
    return carried;
  }
  carried.type = graph_[start].type;
  carried.is_sequence = carried.type.kind == TypeKind::kSequence;
  carried.length.start = all_.facts[start.index].sequence_length;
  carried.unranked = !carried.type.shape;
  if (carried.unranked) return carried;
  for (const Dim& dim : *carried.type.shape) {
    CarriedDim& added = carried.dims.emplace_back();
    added.start = dim;
    if (!dim) added.carry = Carry::kUnknown;
  }
  return carried;
}

// What stands for the dimension in the body: in its last iteration, where it grows.
void ControlFlow::seed_carried(ValueId input, const Carried& carried, const Dim& trips) {
  const auto in_body = [&](const CarriedDim& dim) -> Dim {
    switch (dim.carry) {
      case Carry::kFixed:
        return dim.start;
      case Carry::kProbed:
      case Carry::kFree:
        return dim.symbol;
      case Carry::kGrowing:
        if (constant(trips) == 0) return dim.start;
        return plus(dim.start, times(dim.growth, minus(trips, Expr(1))));
      case Carry::kUnknown:
        break;
    }
    return std::nullopt;
  };
  seed(input, TensorType{carried.type.dtype, std::nullopt, carried.type.kind});
  std::optional<Shape>& shape = graph_[input].type.shape;
  shape = std::nullopt;
  if (!carried.unranked) {
    shape.emplace();
    for (const CarriedDim& dim : carried.dims) shape->push_back(in_body(dim));
  }
  if (carried.is_sequence) all_.facts[input.index].sequence_length = in_body(carried.length);
}

void ControlFlow::enter_loop(const Node& owner, RegionId region) {
  const Region& body = graph_[region];
  Loop& loop = loops_[body.owner.index];
  if (loop.pass == 0) {
    for (size_t i = 2; i < owner.inputs.size(); ++i)
      loop.carried.push_back(carried_from(owner.inputs[i]));
  }
  ++loop.pass;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const ValueId input = body.inputs[i];
    if (!input) continue;
    if (i < 2) {
      // Exporters write the counter as a scalar or as one element; the file says which.
      if (!graph_[input].type.shape) graph_[input].type.shape = Shape{};
      graph_[input].type.dtype = i == 0 ? DType::kInt64 : DType::kBool;
      all_.facts[input.index] = {};
      // Where the body runs its condition holds.
      if (i == 1)
        all_.facts[input.index].elements = std::make_shared<Elements>(1, Element{Expr(1), 1});
    } else if (i - 2 < loop.carried.size()) {
      seed_carried(input, loop.carried[i - 2], loop.trips);
    }
  }
}

void ControlFlow::enter_scan(const Node& owner, RegionId region) {
  const Region& body = graph_[region];
  Loop& loop = loops_[body.owner.index];
  const bool batched = owner.since_version > 0 && owner.since_version < 9;
  const size_t first = batched ? 1 : 0;  // version 8 has the lengths in front
  const int64_t scanned = int_attribute(owner, "num_scan_inputs", 0);
  const size_t given = owner.inputs.size() > first ? owner.inputs.size() - first : 0;
  if (scanned < 0 || static_cast<size_t>(scanned) > given)
    throw Error("num_scan_inputs is too large");
  const size_t states = given - static_cast<size_t>(scanned);
  if (loop.pass == 0) {
    for (size_t i = 0; i < states; ++i) {
      Carried carried = carried_from(owner.inputs[first + i]);
      if (batched && !carried.dims.empty()) carried.dims.erase(carried.dims.begin());
      loop.carried.push_back(std::move(carried));
    }
    for (size_t i = 0; i < static_cast<size_t>(scanned) && !loop.trips; ++i) {
      const NodeInference view(all_, body.owner);
      loop.trips =
          view.input_dim(first + states + i, batched ? 1 : axis_at(owner, "scan_input_axes", i));
    }
  }
  ++loop.pass;
  for (size_t i = 0; i < body.inputs.size() && i < given; ++i) {
    if (!body.inputs[i]) continue;
    if (i < states) {
      seed_carried(body.inputs[i], loop.carried[i], loop.trips);
      continue;
    }
    const ValueId source = owner.inputs[first + i];
    if (!source) continue;
    TensorType type = graph_[source].type;
    if (batched)
      type.shape = without_axis(without_axis(type.shape, 1), 0);
    else
      type.shape = without_axis(type.shape, axis_at(owner, "scan_input_axes", i - states));
    seed(body.inputs[i], type);
  }
}

bool ControlFlow::compare_dim(NodeId owner, size_t index, CarriedDim& dim, const Dim& before,
                              const Dim& after, int pass) {
  if (dim.carry == Carry::kFixed) {
    if (before == after) return false;
    if (!before || !after || pass > 1) {
      dim.carry = Carry::kUnknown;
      return true;
    }
    dim.carry = Carry::kProbed;
    dim.symbol = Expr::variable(std::string(kProbe) + std::to_string(owner.index) + "_" +
                                std::to_string(index));
    return true;
  }
  if (dim.carry != Carry::kProbed) return false;
  dim.carry = Carry::kUnknown;
  if (!after) return true;
  dim.growth = *after - dim.symbol;
  if (!holds_probe(dim.growth)) {
    dim.carry = dim.growth.is_zero() ? Carry::kFixed : Carry::kGrowing;
    return true;
  }
  const Dim free = all_.data_dependent_dim(graph_[owner], index, "carried", 0);
  if (free) {
    dim.carry = Carry::kFree;
    dim.symbol = *free;
  }
  return true;
}

// Whether what the body gives differs from what it was given, so that it has to be visited again.
bool ControlFlow::compare(NodeId owner, Loop& loop, const std::vector<ValueId>& results,
                          size_t first, const std::vector<ValueId>& body_inputs,
                          size_t first_input) {
  bool changed = false;
  size_t index = 0;
  for (size_t k = 0; k < loop.carried.size(); ++k) {
    Carried& carried = loop.carried[k];
    if (first + k >= results.size() || first_input + k >= body_inputs.size()) break;
    const ValueId result = results[first + k];
    const ValueId input = body_inputs[first_input + k];
    if (!result || !input) continue;
    const TensorType& after = graph_[result].type;
    const TensorType& before = graph_[input].type;
    if (carried.is_sequence) {
      const Dim length_before = all_.facts[input.index].sequence_length;
      // An empty sequence takes the type of what is put into it.
      if (constant(carried.length.start) == 0 && carried.unranked && after.shape &&
          loop.pass == 1) {
        carried.unranked = false;
        for (const Dim& dim : *after.shape) {
          CarriedDim& added = carried.dims.emplace_back();
          added.start = dim;
          if (!dim) added.carry = Carry::kUnknown;
        }
        carried.type.dtype = after.dtype;
        changed = true;
      }
      changed |= compare_dim(owner, index++, carried.length, length_before,
                             all_.facts[result.index].sequence_length, loop.pass);
    }
    if (carried.unranked || !before.shape) continue;
    if (!after.shape || after.shape->size() != carried.dims.size()) {
      carried.unranked = true;
      changed = true;
      continue;
    }
    for (size_t d = 0; d < carried.dims.size(); ++d) {
      changed |= compare_dim(owner, index++, carried.dims[d], (*before.shape)[d], (*after.shape)[d],
                             loop.pass);
    }
  }
  return changed && loop.pass < kMaxPasses;
}

void ControlFlow::set_carried_outputs(const Node& owner, const Loop& loop) {
  const auto at_the_end = [&](const CarriedDim& dim) -> Dim {
    switch (dim.carry) {
      case Carry::kFixed:
        return dim.start;
      case Carry::kGrowing:
        return plus(dim.start, times(dim.growth, loop.trips));
      case Carry::kFree:
        return dim.symbol;
      default:
        return std::nullopt;
    }
  };
  for (size_t k = 0; k < loop.carried.size() && k < owner.outputs.size(); ++k) {
    if (!owner.outputs[k]) continue;
    const Carried& carried = loop.carried[k];
    TensorType& type = graph_[owner.outputs[k]].type;
    type = {carried.type.dtype, std::nullopt, carried.type.kind};
    if (!carried.unranked) {
      Shape& shape = type.shape.emplace();
      for (const CarriedDim& dim : carried.dims) shape.push_back(at_the_end(dim));
    }
    ValueFacts& facts = all_.facts[owner.outputs[k].index];
    facts = {};
    if (carried.is_sequence) facts.sequence_length = at_the_end(carried.length);
  }
}

// M where nothing else ends the loop; else M is a bound, and without one the count is a number of
// its own.
Dim ControlFlow::loop_trips(NodeId owner, Region& body) {
  const NodeInference view(all_, owner);
  const ValueId next = body.outputs.empty() ? ValueId() : body.outputs[0];
  const auto goes_on = next && all_.facts[next.index].elements != nullptr &&
                               all_.facts[next.index].elements->size() == 1
                           ? constant(all_.facts[next.index].elements->front())
                           : std::nullopt;
  const auto starts = view.has_input(1) ? constant(view.scalar(1)) : std::optional<int64_t>(1);
  if (starts == 0) return Expr(0);
  Dim most = integer(view.scalar(0));
  if (const auto number = constant(most); number && *number >= kUnbounded) most = std::nullopt;
  if (const auto number = constant(most); number && *number < 0) most = Expr(0);
  if (most && !view.at_least(most, 0)) most = max(*most, Expr(0));
  if (goes_on == 0) return starts ? (most ? min(*most, Expr(1)) : Dim(Expr(1))) : most;
  const bool condition_holds = goes_on && starts;
  body.trip_count_is_bound = most && !condition_holds;
  if (!most) most = all_.data_dependent_dim(graph_[owner], 0, "trip_count", 0);
  return most;
}

bool ControlFlow::leave_loop(NodeId owner, bool may_revisit) {
  const Node& node = graph_[owner];
  if (node.bodies.empty()) return false;
  Region& body = graph_[node.bodies[0]];
  if (!entered_[node.bodies[0].index]) {
    entered_[node.bodies[0].index] = true;
    enter_region(node.bodies[0]);
  }
  Loop& loop = loops_[owner.index];
  loop.trips = loop_trips(owner, body);
  body.trip_count = loop.trips;
  if (constant(loop.trips) == 0) body.runs = RegionRuns::kNo;
  if (compare(owner, loop, body.outputs, 1, body.inputs, 2) && may_revisit) return true;
  set_carried_outputs(node, loop);
  for (size_t i = loop.carried.size(); i < node.outputs.size(); ++i) {
    if (!node.outputs[i] || 1 + i >= body.outputs.size() || !body.outputs[1 + i]) continue;
    TensorType type = graph_[body.outputs[1 + i]].type;
    type.shape = with_axis(type.shape, 0, loop.trips);
    graph_[node.outputs[i]].type = std::move(type);
  }
  return false;
}

bool ControlFlow::leave_scan(NodeId owner, bool may_revisit) {
  const Node& node = graph_[owner];
  if (node.bodies.empty()) return false;
  Region& body = graph_[node.bodies[0]];
  if (!entered_[node.bodies[0].index]) {
    entered_[node.bodies[0].index] = true;
    enter_region(node.bodies[0]);
  }
  Loop& loop = loops_[owner.index];
  body.trip_count = loop.trips;
  if (compare(owner, loop, body.outputs, 0, body.inputs, 0) && may_revisit) return true;
  set_carried_outputs(node, loop);
  const bool batched = node.since_version > 0 && node.since_version < 9;
  const Dim batch = batched ? NodeInference(all_, owner).input_dim(1, 0) : std::nullopt;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i] || i >= body.outputs.size() || !body.outputs[i]) continue;
    TensorType& type = graph_[node.outputs[i]].type;
    if (i >= loop.carried.size()) {
      type = graph_[body.outputs[i]].type;
      const int64_t axis = batched ? 0 : axis_at(node, "scan_output_axes", i - loop.carried.size());
      type.shape = with_axis(type.shape, axis, loop.trips);
    }
    if (batched) type.shape = with_axis(type.shape, 0, batch);
  }
  return false;
}

void ControlFlow::leave_if(NodeId owner) {
  const Node& node = graph_[owner];
  for (const RegionId id : node.bodies) {
    if (entered_[id.index]) continue;
    entered_[id.index] = true;
    enter_region(id);
  }
  const NodeInference view(all_, owner);
  const auto number = constant(view.scalar(0));
  std::optional<bool> condition;
  if (number) condition = *number != 0;
  if (!condition && is_squeeze(all_, owner)) {
    condition = true;
    graph_[node.bodies[1]].runs = RegionRuns::kNo;
    view.note("assumed-branch", "an axis that is squeezed where it is 1 is taken to be 1");
  }
  if (condition && node.bodies.size() == 2) {
    merge_branches(all_, owner, {node.bodies[*condition ? 0 : 1]});
  } else {
    merge_branches(all_, owner, node.bodies);
  }
}

bool ControlFlow::leave(NodeId owner, bool may_revisit) {
  const Node& node = graph_[owner];
  bool again = false;
  if (node.op_type == "If")
    leave_if(owner);
  else if (node.op_type == "Loop")
    again = leave_loop(owner, may_revisit);
  else if (node.op_type == "Scan")
    again = leave_scan(owner, may_revisit);
  if (!again) return false;
  // The body and what is nested in it is entered anew.
  const uint32_t first = first_of_body(owner);
  if (first == owner.index) return leave(owner, false);
  for (uint32_t i = first; i <= owner.index; ++i) {
    for (const RegionId body : graph_.nodes[i].bodies) entered_[body.index] = false;
    if (i != owner.index) loops_.erase(i);
  }
  return true;
}

}  // namespace kcharter
