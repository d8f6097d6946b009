#include "import/onnx/find_caches.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/onnx/cache_operators.h"
#include "import/onnx/consumers.h"

namespace kcharter {
namespace {

// A cache passes a handful of operators; more is another kind of input.
constexpr size_t kMaxTraced = 4096;
// Of all inputs together, so that a graph made to be slow is not.
constexpr size_t kMaxSteps = 2'000'000;
// A cache comes out once; an input that comes out everywhere is no cache.
constexpr size_t kMaxArrivals = 64;
// How many inputs may be followed through all operators when only their names speak for a state.
constexpr size_t kMaxNamedStates = 64;

// How an input came to an output.
struct Trail {
  ValueId value;
  bool extended = false;
  bool cut = false;
  bool written = false;
  bool moved_axes = false;  // Transpose, Reshape …: an axis of the Concat is not that of the input
  bool recurrent = false;
  bool named = false;  // the input's name says that it is kept
  NodeId writer;       // the scatter that puts new tokens into it
  NodeId keeper;       // the attention or recurrence that keeps it
  int64_t extend_axis = 0;
};

struct Arrival {
  ValueId output;
  Trail trail;
};

struct Flow {
  std::vector<Arrival> arrivals;
  NodeId reader;  // the first node that computes with it
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool names_cross_attention(const std::string& name) {
  return contains(name, "encoder") || contains(name, "cross");
}

// What is left of a name without the words that tell before from after: "0conv_state".
std::string stem(const std::string& name) {
  static constexpr std::string_view kWords[] = {"past_key_values",
                                                "present_key_values",
                                                "past_states",
                                                "updated",
                                                "previous",
                                                "present",
                                                "past",
                                                "prev",
                                                "next",
                                                "input",
                                                "output",
                                                "new",
                                                "in",
                                                "out",
                                                "n"};
  std::string text = lower(name);
  for (const std::string_view word : {kWords[0], kWords[1], kWords[2]}) {
    if (text.starts_with(word)) text.erase(0, word.size());
  }
  std::string result;
  std::string token;
  const auto flush = [&] {
    if (std::find(std::begin(kWords), std::end(kWords), token) == std::end(kWords)) result += token;
    token.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      token += c;
    } else {
      flush();
    }
  }
  flush();
  return result;
}

bool names_state(const std::string& name) {
  const std::string text = lower(name);
  for (const std::string_view word : {"past", "prev", "state", "cache", "present"}) {
    if (contains(text, word)) return true;
  }
  return text == "h" || text == "c" || text == "h0" || text == "c0";
}

bool names_agree(const std::string& input, const std::string& output) {
  const std::string a = stem(input);
  const std::string b = stem(output);
  return !a.empty() && (a == b || b == a + "n");
}

class CacheFinder {
 public:
  CacheFinder(Graph& graph, const GraphTypes& types)
      : graph_(graph), types_(types), consumers_(graph) {
    for (const ValueId output : graph.outputs) {
      if (!output) continue;
      outputs_.insert(output.index);
      outputs_by_stem_[stem(graph[output].name)].push_back(output);
    }
    for (size_t i = 1; i < graph.regions.size(); ++i) {
      const Region& region = graph.regions[i];
      if (region.kind != RegionKind::kThen && region.kind != RegionKind::kElse) continue;
      for (uint32_t k = 0; k < region.outputs.size(); ++k) {
        if (region.outputs[k])
          branch_outputs_[region.outputs[k].index].push_back({region.owner, k});
      }
    }
  }

  void run() {
    for (const ValueId input : graph_.inputs) find_by_flow(input);
    find_by_names();
    find_without_flow();
    if (graph_.caches.empty()) find_outputs_alone();
    for (Cache& cache : graph_.caches) {
      if (cache.input) graph_[cache.input].role = ValueRole::kCache;
      if (cache.output) graph_[cache.output].role = ValueRole::kCache;
    }
  }

 private:
  bool may_be_cache(ValueId value) const {
    const TypeView* type = types_.find(value);
    if (type == nullptr || type->kind != TypeViewKind::kTensor || !type->dims) return false;
    const DType dtype = dtype_of(type->element_type);
    return type->dims->size() >= 2 && dtype != DType::kInt64 && dtype != DType::kInt32 &&
           dtype != DType::kBool && dtype != DType::kString;
  }

  // Follows the data of `input` as far as it is only passed on.
  Flow trace(ValueId input) {
    Flow flow;
    std::unordered_set<uint32_t> seen = {input.index};
    std::vector<Trail> queue(1);
    queue.front().value = input;
    queue.front().named = names_state(graph_[input].name);
    for (size_t next = 0; next < queue.size() && next < kMaxTraced; ++next) {
      const Trail trail = queue[next];
      if (next > 0 && outputs_.contains(trail.value.index) && flow.arrivals.size() < kMaxArrivals)
        flow.arrivals.push_back({trail.value, trail});
      const auto go_on = [&](ValueId value, Trail onward) {
        if (!value || !seen.insert(value.index).second) return;
        onward.value = value;
        queue.push_back(onward);
      };
      const auto branch = branch_outputs_.find(trail.value.index);
      if (branch != branch_outputs_.end()) {
        for (const Consumer& owner : branch->second) {
          const std::vector<ValueId>& outputs = graph_[owner.node].outputs;
          if (owner.input < outputs.size()) go_on(outputs[owner.input], trail);
        }
      }
      for (const Consumer& consumer : consumers_.of(trail.value)) {
        if (++steps_ > kMaxSteps) return flow;
        step(consumer, trail, flow, go_on);
      }
    }
    return flow;
  }

  template <typename GoOn>
  void step(const Consumer& consumer, const Trail& trail, Flow& flow, const GoOn& go_on) const {
    const Node& node = graph_[consumer.node];
    if (reads_shape_only(node)) return;
    const std::optional<CachePassage> passage = cache_passage(node, consumer.input);
    if (!passage) {
      if (!flow.reader) flow.reader = consumer.node;
      return;
    }
    Trail onward = trail;
    switch (passage->step) {
      case CacheStep::kMove:
        if (node.op_type != "Identity" && node.op_type != "Cast") onward.moved_axes = true;
        break;
      case CacheStep::kExtend:
        // A part that is joined with others again is arithmetic on halves, as in a rotation.
        if (trail.cut && !trail.extended && !trail.named) {
          if (!flow.reader) flow.reader = consumer.node;
          return;
        }
        if (!trail.extended) onward.extend_axis = int_attribute(node, "axis", 0);
        onward.extended = true;
        break;
      case CacheStep::kCut:
        onward.cut = true;
        break;
      case CacheStep::kWrite:
        onward.written = true;
        onward.writer = consumer.node;
        break;
      case CacheStep::kAttention:
      case CacheStep::kRecurrence:
        onward.keeper = consumer.node;
        onward.recurrent = passage->step == CacheStep::kRecurrence;
        break;
    }
    if (passage->every_output) {
      for (const ValueId output : node.outputs) go_on(output, onward);
    } else if (passage->output < node.outputs.size()) {
      go_on(node.outputs[passage->output], onward);
    }
  }

  void find_by_flow(ValueId input) {
    if (!may_be_cache(input)) return;
    const Flow flow = trace(input);
    const Arrival* best = nullptr;
    bool best_agrees = false;
    for (const Arrival& arrival : flow.arrivals) {
      if (taken_.contains(arrival.output.index) || !same_rank(input, arrival.output)) continue;
      if (!looks_kept(input, arrival, flow)) continue;
      const bool agrees = names_agree(graph_[input].name, graph_[arrival.output].name);
      if (best == nullptr || (agrees && !best_agrees)) {
        best = &arrival;
        best_agrees = agrees;
      }
    }
    if (best == nullptr) return;
    add(input, best->output, best->trail, flow.reader);
  }

  bool looks_kept(ValueId input, const Arrival& arrival, const Flow& flow) const {
    const Trail& trail = arrival.trail;
    if (trail.keeper) {
      // A Loop carries whatever it is given; a recurrent operator's state is one.
      const std::string& op = graph_[trail.keeper].op_type;
      return (op != "Loop" && op != "Scan") || names_state(graph_[input].name);
    }
    // What no node computes with is moved about, not kept.
    if (!flow.reader) return false;
    if (names_state(graph_[input].name)) return true;
    // Returned as it came, or joined with more than new tokens: no cache without a name that says
    // so.
    return trail.written || (trail.extended && differing_axes(input, arrival.output).size() <= 1);
  }

  bool same_rank(ValueId a, ValueId b) const {
    const auto* da = types_.dims(a);
    const auto* db = types_.dims(b);
    return da == nullptr || db == nullptr || da->size() == db->size();
  }

  void add(ValueId input, ValueId output, const Trail& trail, NodeId reader) {
    Cache cache;
    cache.name = graph_[input].name;
    cache.input = input;
    cache.output = output;
    cache.reader = trail.keeper ? trail.keeper : reader;
    const std::vector<int32_t> grown = differing_axes(input, output);
    const bool same_shape = grown.empty();
    const bool passes_through = !trail.extended && !trail.written && !trail.keeper;
    if (trail.recurrent || (trail.extended && trail.cut && same_or_unknown(input, output))) {
      cache.kind = CacheKind::kState;
    } else if (passes_through) {
      cache.kind = CacheKind::kCrossKeyValue;
      cache.sequence_axis = symbolic_axis(input);
    } else {
      cache.kind = CacheKind::kKeyValue;
      cache.sequence_axis = sequence_axis(cache, trail, grown);
      cache.copied = trail.extended || (!trail.written && !same_shape);
    }
    taken_.insert(output.index);
    known_inputs_.insert(input.index);
    graph_.caches.push_back(std::move(cache));
  }

  // The axes on which the declared dimensions of input and output differ.
  std::vector<int32_t> differing_axes(ValueId input, ValueId output) const {
    std::vector<int32_t> axes;
    const auto* before = types_.dims(input);
    const auto* after = types_.dims(output);
    if (before == nullptr || after == nullptr || before->size() != after->size()) return axes;
    for (size_t i = 0; i < before->size(); ++i) {
      const DimensionView& a = (*before)[i];
      const DimensionView& b = (*after)[i];
      if (a.value != b.value || a.symbol != b.symbol) axes.push_back(static_cast<int32_t>(i));
    }
    return axes;
  }

  // No axis has two different numbers.
  bool same_or_unknown(ValueId input, ValueId output) const {
    const auto* before = types_.dims(input);
    const auto* after = types_.dims(output);
    if (before == nullptr || after == nullptr) return true;
    for (size_t i = 0; i < before->size() && i < after->size(); ++i) {
      const DimensionView& a = (*before)[i];
      const DimensionView& b = (*after)[i];
      if (a.value && b.value && *a.value != *b.value) return false;
      if (!a.value && !a.symbol.empty() && b.symbol != a.symbol && !b.value && i > 0) return false;
    }
    return true;
  }

  // The last axis but the first that the file leaves open; -1: none.
  int32_t symbolic_axis(ValueId input) const {
    const auto* dims = types_.dims(input);
    if (dims == nullptr) return -1;
    for (size_t i = dims->size(); i-- > 1;) {
      if (!(*dims)[i].value) return static_cast<int32_t>(i);
    }
    return -1;
  }

  int32_t sequence_axis(const Cache& cache, const Trail& trail,
                        const std::vector<int32_t>& grown) const {
    const auto* dims = types_.dims(cache.input);
    const auto rank = static_cast<int64_t>(dims == nullptr ? 0 : dims->size());
    if (grown.size() == 1) return grown.front();
    if (trail.keeper) {
      const Node& keeper = graph_[trail.keeper];
      if (keeper.op_type == "PagedAttention") return -1;
      return rank == 5 ? 3 : (rank == 4 ? 2 : symbolic_axis(cache.input));
    }
    if (trail.writer && graph_[trail.writer].op_type == "TensorScatter" && rank > 1) {
      const int64_t axis = int_attribute(graph_[trail.writer], "axis", -2);
      return static_cast<int32_t>(axis < 0 ? axis + rank : axis);
    }
    if (trail.extended && !trail.moved_axes && rank > 0) {
      return static_cast<int32_t>(trail.extend_axis < 0 ? trail.extend_axis + rank
                                                        : trail.extend_axis);
    }
    return symbolic_axis(cache.input);
  }

  // A state that arithmetic carries on: same shape, a way from input to output, and names that
  // agree.
  void find_by_names() {
    size_t tried = 0;
    for (const ValueId input : graph_.inputs) {
      if (known_inputs_.contains(input.index) || !may_be_cache(input)) continue;
      if (!names_state(graph_[input].name)) continue;
      for (const ValueId output : outputs_named_like(input)) {
        if (taken_.contains(output.index) || output == input || !same_rank(input, output)) continue;
        if (!same_or_unknown(input, output) || ++tried > kMaxNamedStates ||
            !reaches(input, output)) {
          continue;
        }
        Trail trail;
        trail.recurrent = true;
        add(input, output, trail, first_reader(input));
        break;
      }
    }
  }

  // In the order of the graph; see names_agree.
  std::vector<ValueId> outputs_named_like(ValueId input) const {
    std::vector<ValueId> outputs;
    const std::string name = stem(graph_[input].name);
    if (name.empty()) return outputs;
    for (const std::string& like : {name, name + "n"}) {
      const auto found = outputs_by_stem_.find(like);
      if (found != outputs_by_stem_.end()) {
        outputs.insert(outputs.end(), found->second.begin(), found->second.end());
      }
    }
    return outputs;
  }

  NodeId first_reader(ValueId input) const {
    for (const Consumer& consumer : consumers_.of(input)) {
      if (!reads_shape_only(graph_[consumer.node])) return consumer.node;
    }
    return {};
  }

  bool reaches(ValueId input, ValueId output) const {
    std::vector<bool> seen(graph_.values.size(), false);
    std::vector<ValueId> stack = {input};
    const auto visit = [&](ValueId value) {
      if (!value || seen[value.index]) return;
      seen[value.index] = true;
      stack.push_back(value);
    };
    while (!stack.empty()) {
      const ValueId value = stack.back();
      stack.pop_back();
      if (value == output) return true;
      for (const Consumer& consumer : consumers_.of(value)) {
        if (reads_shape_only(graph_[consumer.node])) continue;
        for (const ValueId next : graph_[consumer.node].outputs) visit(next);
      }
      const auto branch = branch_outputs_.find(value.index);
      if (branch == branch_outputs_.end()) continue;
      for (const Consumer& owner : branch->second) {
        const std::vector<ValueId>& outputs = graph_[owner.node].outputs;
        if (owner.input < outputs.size()) visit(outputs[owner.input]);
      }
    }
    return false;
  }

  // Inputs named as caches are that only read, or not used at all: cross attention's, and decoders
  // whose graph was emptied.
  void find_without_flow() {
    for (const ValueId input : graph_.inputs) {
      if (known_inputs_.contains(input.index) || !may_be_cache(input)) continue;
      const std::string name = lower(graph_[input].name);
      const auto* dims = types_.dims(input);
      if (!name.starts_with("past") || dims->size() < 3) continue;
      Cache cache;
      cache.name = graph_[input].name;
      cache.input = input;
      cache.reader = first_reader(input);
      cache.sequence_axis = symbolic_axis(input);
      cache.kind = names_cross_attention(name)
                       ? CacheKind::kCrossKeyValue
                       : (cache.sequence_axis < 0 ? CacheKind::kState : CacheKind::kKeyValue);
      for (const ValueId output : outputs_named_like(input)) {
        if (taken_.contains(output.index) || !same_rank(input, output)) continue;
        cache.output = output;
        taken_.insert(output.index);
        break;
      }
      graph_.caches.push_back(std::move(cache));
    }
  }

  // A decoder's first step that takes no past still returns what the next step reads.
  void find_outputs_alone() {
    for (const ValueId output : graph_.outputs) {
      if (!output || !may_be_cache(output)) continue;
      const std::string name = lower(graph_[output].name);
      if (!name.starts_with("present") || types_.dims(output)->size() < 3) continue;
      Cache cache;
      cache.name = graph_[output].name;
      cache.output = output;
      cache.reader = first_reader(output);
      cache.sequence_axis = symbolic_axis(output);
      cache.kind = names_cross_attention(name) ? CacheKind::kCrossKeyValue : CacheKind::kKeyValue;
      if (cache.sequence_axis < 0) cache.kind = CacheKind::kState;
      graph_.caches.push_back(std::move(cache));
    }
  }

  Graph& graph_;
  const GraphTypes& types_;
  Consumers consumers_;
  std::unordered_set<uint32_t> outputs_;
  size_t steps_ = 0;
  std::unordered_map<std::string, std::vector<ValueId>> outputs_by_stem_;
  // A value that a branch of an If returns → the If and which output it becomes.
  std::unordered_map<uint32_t, std::vector<Consumer>> branch_outputs_;
  std::unordered_set<uint32_t> taken_;         // outputs that belong to a cache
  std::unordered_set<uint32_t> known_inputs_;  // inputs that do
};

}  // namespace

void find_caches(Graph& graph, const GraphTypes& types) { CacheFinder(graph, types).run(); }

}  // namespace kcharter
