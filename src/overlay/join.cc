#include "overlay/join.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "overlay/runtime_names.h"

namespace kcharter {
namespace {

// "MatMul_12" → {"MatMul", 12}.
std::optional<std::pair<std::string, int64_t>> numbered(const std::string& name) {
  const size_t mark = name.rfind('_');
  if (mark == std::string::npos || mark == 0) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + mark + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return std::pair(name.substr(0, mark), number);
}

}  // namespace

Joiner::Joiner(const DocumentIndex& document, const Profile& profile) : document_(document) {
  const std::vector<uint32_t> running = document.running_order();
  number_nameless(profile, running);
  for (const uint32_t node : running) {
    const std::string& name = document.nodes()[node].name;
    const size_t slash = name.rfind('/');
    if (slash != std::string::npos) nodes_ending_in_[name.substr(slash + 1)].push_back(node);
  }
}

// ONNX Runtime calls a nameless node "<operator>_<place in the file>". A document keeps the order but
// not the places, so they are matched where there are as many of both.
void Joiner::number_nameless(const Profile& profile, const std::vector<uint32_t>& running) {
  std::map<std::string, std::vector<uint32_t>> nodes;
  for (const uint32_t node : running) {
    if (document_.nodes()[node].name.empty()) nodes[document_.nodes()[node].op_type].push_back(node);
  }
  if (nodes.empty()) return;
  std::map<std::string, std::set<int64_t>> places;
  for (const ProfileEvent& event : profile.steps.front()) {
    const auto parts = numbered(event.name);
    if (parts && parts->first == event.op_type && !document_.node_called(event.name)) {
      places[parts->first].insert(parts->second);
    }
  }
  for (const auto& [op_type, numbers] : places) {
    const auto same = nodes.find(op_type);
    if (same == nodes.end() || same->second.size() != numbers.size()) continue;
    size_t at = 0;
    for (const int64_t number : numbers) {
      nameless_[op_type + "_" + std::to_string(number)] = same->second[at++];
    }
  }
}

Joined Joiner::at_node(JoinedBy by, uint32_t node) const {
  return {by, node, document_.nodes()[node].module};
}

Joined Joiner::by_name(const ProfileEvent& event) const {
  if (const auto node = document_.node_called(event.name)) return at_node(JoinedBy::kName, *node);
  if (const auto node = document_.maker_of(event.name)) return at_node(JoinedBy::kName, *node);
  if (const auto node = nameless_.find(event.name); node != nameless_.end()) {
    return at_node(JoinedBy::kRenamed, node->second);
  }
  for (const std::string& before : names_before(event.name)) {
    if (const auto node = document_.node_called(before)) return at_node(JoinedBy::kRenamed, *node);
    if (const auto node = document_.maker_of(before)) return at_node(JoinedBy::kRenamed, *node);
  }
  return {};
}

// An inlined function's nodes are called after the function and their place in it, not after the call.
Joined Joiner::by_function(const ProfileEvent& event, std::unordered_map<std::string, size_t>& seen) const {
  if (event.name.find("_inlfunc_") == std::string::npos) return {};
  for (const std::string& before : names_before(event.name)) {
    const auto nodes = nodes_ending_in_.find(before);
    if (nodes == nodes_ending_in_.end()) continue;
    const size_t at = seen[before]++;
    return at_node(JoinedBy::kRenamed, nodes->second[at % nodes->second.size()]);
  }
  return {};
}

// "model.layers.3.mlp", or "nn.Module: LlamaMLP_3": the fourth of its class to run.
std::optional<uint32_t> Joiner::module_called(const std::string& name) const {
  if (const auto module = document_.module_at(name)) return module;
  constexpr std::string_view kModule = "nn.Module: ";
  if (!name.starts_with(kModule)) return std::nullopt;
  const auto parts = numbered(name.substr(kModule.size()));
  if (!parts) return std::nullopt;
  const auto [of_class, is_new] = modules_of_class_.try_emplace(parts->first);
  if (is_new) of_class->second = document_.modules_of_class(parts->first);
  const auto& modules = of_class->second;
  if (parts->second < 0 || static_cast<size_t>(parts->second) >= modules.size()) return std::nullopt;
  return modules[static_cast<size_t>(parts->second)];
}

Joined Joiner::by_module(const ProfileEvent& event) const {
  for (size_t i = event.modules.size(); i-- > 0;) {
    if (const auto module = module_called(event.modules[i])) {
      return {JoinedBy::kModule, DocumentIndex::kNone, *module};
    }
  }
  return {};
}

// A fused operator is called after the last node in it ("<relu>_nchwc" is a Conv): the node of its own
// kind a few steps before that is what the time is spent on.
uint32_t Joiner::main_part(const ProfileEvent& event, uint32_t node, const std::vector<bool>& has_event) const {
  constexpr int kMostSteps = 6;
  const auto is_of_kind = [&](uint32_t at) {
    return !event.op_type.empty() && event.op_type.ends_with(document_.nodes()[at].op_type);
  };
  if (is_of_kind(node)) return node;
  uint32_t at = node;
  for (int step = 0; step < kMostSteps && !document_.nodes()[at].producers.empty(); ++step) {
    for (const uint32_t producer : document_.nodes()[at].producers) {
      if (is_of_kind(producer) && !has_event[producer]) return producer;
    }
    at = document_.nodes()[at].producers.front();
  }
  return node;
}

// What a fused operator that follows `node` most likely stands for: a node after it that no event is
// named after; `node` itself where there is none, for a conversion of its result.
uint32_t Joiner::beside(uint32_t node, const std::vector<bool>& has_event) const {
  for (const uint32_t consumer : document_.nodes()[node].consumers) {
    if (!has_event[consumer]) return consumer;
  }
  return node;
}

std::vector<Joined> Joiner::join(const std::vector<ProfileEvent>& step) const {
  std::vector<Joined> joined;
  std::vector<bool> has_event(document_.nodes().size());
  std::unordered_map<std::string, size_t> seen;
  for (const ProfileEvent& event : step) {
    joined.push_back(by_name(event));
    if (joined.back().by == JoinedBy::kNothing) joined.back() = by_function(event, seen);
    if (joined.back().by == JoinedBy::kNothing) joined.back() = by_module(event);
    if (joined.back().node != DocumentIndex::kNone) has_event[joined.back().node] = true;
  }
  for (size_t i = 0; i < step.size(); ++i) {
    if (joined[i].node == DocumentIndex::kNone) continue;
    joined[i] = at_node(joined[i].by, main_part(step[i], joined[i].node, has_event));
  }
  for (const Joined& one : joined) {
    if (one.node != DocumentIndex::kNone) has_event[one.node] = true;
  }
  uint32_t before = DocumentIndex::kNone;
  for (size_t i = 0; i < step.size(); ++i) {
    if (joined[i].by != JoinedBy::kNothing) {
      if (joined[i].node != DocumentIndex::kNone) before = joined[i].node;
    } else if (before != DocumentIndex::kNone && is_made_up(step[i].name)) {
      joined[i] = at_node(JoinedBy::kOrder, beside(before, has_event));
    }
  }
  // Conversions of the inputs run before the first node of the model.
  const auto first = std::ranges::find_if(joined, [](const Joined& j) { return j.node != DocumentIndex::kNone; });
  for (auto at = joined.begin(); first != joined.end() && at != first; ++at) {
    const ProfileEvent& event = step[static_cast<size_t>(at - joined.begin())];
    if (at->by == JoinedBy::kNothing && is_made_up(event.name)) *at = at_node(JoinedBy::kOrder, first->node);
  }
  return joined;
}

}  // namespace kcharter
