#include "kcharter/overlay/overlay.h"

#include <algorithm>
#include <cmath>

#include "overlay/join.h"
#include "overlay/sizes.h"

namespace kcharter {
namespace {

constexpr size_t kMostUnjoined = 200;
constexpr size_t kMostSlowest = 15;

void keep_slowest(std::vector<MeasuredPart>& parts) {
  std::ranges::stable_sort(parts, std::greater(), &MeasuredPart::microseconds);
  if (parts.size() > kMostSlowest) parts.resize(kMostSlowest);
}

class Summing {
 public:
  Summing(const DocumentIndex& document, const Profile& profile, Overlay& result)
      : document_(document), profile_(profile), result_(result), joiner_(document, profile) {
    result_.format = profile.format;
    result_.steps = static_cast<int64_t>(profile.steps.size());
    result_.nodes.assign(document.nodes().size(), 0);
    result_.modules.assign(document.module_count(), 0);
  }

  void run() {
    for (const std::vector<ProfileEvent>& step : profile_.steps) {
      const std::vector<Joined> joined = joiner_.join(step);
      if (&step == &profile_.steps.front()) compare_sizes(step, joined);
      for (size_t i = 0; i < step.size(); ++i) add(step[i], joined[i]);
    }
    // Parents stand before their children.
    for (size_t module = result_.modules.size(); module-- > 0;) {
      const uint32_t parent = document_.parent(static_cast<uint32_t>(module));
      if (parent != DocumentIndex::kNone) result_.modules[parent] += result_.modules[module];
    }
    list_unjoined();
    list_slowest();
    const auto most = std::ranges::max_element(providers_, {}, [](const auto& p) { return p.second; });
    if (most != providers_.end()) result_.provider = most->first;
  }

 private:
  void compare_sizes(const std::vector<ProfileEvent>& step, const std::vector<Joined>& joined) {
    const std::vector<MeasuredShape> shapes = measured_shapes(document_, step, joined);
    result_.variables = settings_of(shapes);
    const Bindings settings(result_.variables.begin(), result_.variables.end());
    result_.contradictions = contradictions_of(shapes, settings);
  }

  void add(const ProfileEvent& event, const Joined& joined) {
    const double time = event.duration / static_cast<double>(result_.steps);
    result_.step_microseconds += time;
    result_.microseconds[static_cast<size_t>(joined.by)] += time;
    providers_[event.provider] += time;
    if (joined.node != DocumentIndex::kNone) result_.nodes[joined.node] += time;
    if (joined.module != DocumentIndex::kNone) result_.modules[joined.module] += time;
    if (joined.by == JoinedBy::kNothing) unjoined_[{event.name, event.op_type}] += time;
  }

  void list_slowest() {
    for (uint32_t node = 0; node < result_.nodes.size(); ++node) {
      const IndexedNode& known = document_.nodes()[node];
      if (result_.nodes[node] == 0) continue;
      result_.slowest_nodes.push_back({known.name, document_.path(known.module), known.op_type, result_.nodes[node]});
    }
    for (uint32_t module = 1; module < result_.modules.size(); ++module) {
      if (result_.modules[module] == 0) continue;
      const std::string& path = document_.path(module);
      result_.slowest_modules.push_back({path, path, document_.kind(module), result_.modules[module]});
    }
    keep_slowest(result_.slowest_nodes);
    keep_slowest(result_.slowest_modules);
  }

  void list_unjoined() {
    for (const auto& [event, time] : unjoined_) result_.unjoined.push_back({event.first, event.second, time});
    std::ranges::stable_sort(result_.unjoined, std::greater(), &UnjoinedTime::microseconds);
    if (result_.unjoined.size() > kMostUnjoined) result_.unjoined.resize(kMostUnjoined);
  }

  const DocumentIndex& document_;
  const Profile& profile_;
  Overlay& result_;
  Joiner joiner_;
  std::map<std::string, double> providers_;
  std::map<std::pair<std::string, std::string>, double> unjoined_;
};

// A tenth of a nanosecond is noise; the same profile gives the same bytes.
double rounded(double microseconds) { return std::round(microseconds * 1e4) / 1e4; }

Json json_of(const Int& value) {
  constexpr Int kExactInDoubles = (Int{1} << 53) - 1;
  return value > kExactInDoubles ? Json(to_string(value)) : Json(static_cast<int64_t>(value));
}

Json measured_member(const Overlay& overlay, const std::string& source) {
  Json joined = Json::object(), variables = Json::object(), nodes = Json::array(), modules = Json::array();
  for (size_t by = 0; by < kJoinKinds; ++by) {
    joined[std::string(name(static_cast<JoinedBy>(by)))] = rounded(overlay.microseconds[by]);
  }
  for (const auto& [variable, value] : overlay.variables) variables[variable] = json_of(value);
  for (size_t node = 0; node < overlay.nodes.size(); ++node) {
    if (overlay.nodes[node] > 0) nodes.push_back({node, rounded(overlay.nodes[node])});
  }
  for (const double time : overlay.modules) modules.push_back(rounded(time));
  Json unjoined = Json::array(), contradictions = Json::array();
  for (const UnjoinedTime& one : overlay.unjoined) {
    unjoined.push_back({{"name", one.name}, {"op_type", one.op_type}, {"microseconds", rounded(one.microseconds)}});
  }
  for (const Contradiction& one : overlay.contradictions) {
    contradictions.push_back(
        {{"node", one.node}, {"name", one.name}, {"expected", one.expected}, {"measured", one.measured}});
  }
  return {{"source", source},
          {"format", overlay.format},
          {"provider", overlay.provider},
          {"steps", overlay.steps},
          {"variables", variables},
          {"step_microseconds", rounded(overlay.step_microseconds)},
          {"joined_microseconds", joined},
          {"nodes", nodes},
          {"modules", modules},
          {"unjoined", unjoined},
          {"contradictions", contradictions}};
}

// The document as it stands, with the member behind its others; one that was there is replaced.
std::string with_measured(std::string_view document, const Json& parsed, const Json& measured) {
  const std::string member = measured.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!parsed.contains("measured")) {
    const size_t brace = document.find_last_of('}');
    std::string text(document.substr(0, brace));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text + ",\n\"measured\":" + member + "\n}\n";
  }
  // Members keep their order, so that what comes first in the text stays first.
  nlohmann::ordered_json ordered = nlohmann::ordered_json::parse(document);
  ordered["measured"] = nlohmann::ordered_json::parse(member);
  return ordered.dump() + "\n";
}

}  // namespace

std::string_view name(JoinedBy by) {
  constexpr std::string_view kNames[] = {"name", "renamed", "order", "module", "nothing"};
  return kNames[static_cast<size_t>(by)];
}

Overlay overlay(std::string_view document, std::string_view profile_text, std::string_view source) {
  const DocumentIndex index(document);
  Profile profile;
  try {
    profile = read_profile(profile_text);
  } catch (Error& error) {
    throw error.in(source);
  }
  Overlay result;
  Summing(index, profile, result).run();
  result.document = with_measured(document, index.json(), measured_member(result, std::string(source)));
  return result;
}

}  // namespace kcharter
