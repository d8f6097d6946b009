// Netron's attachment: {"signature": "netron:attachment", "metadata": […], "metrics": […]}, an item
// {"kind": "model|node|value", "target": name, "name": …, "value": …}. It joins a name up to its
// first line end, drops what it does not find, and keeps the last of two items of one name.
#include <cmath>
#include <set>

#include "report/export_formats.h"
#include "report/json_writer.h"

namespace kcharter {
namespace {

struct Shown {
  Metric metric;
  const char* name;
  bool per_instance;  // a peak is the same in each
};
constexpr Shown kShown[] = {
    {Metric::kWeightBytes, "weight bytes", true},
    {Metric::kFlops, "FLOPs", true},
    {Metric::kElementwiseFlops, "element-wise FLOPs", true},
    {Metric::kWeightReadBytes, "weight bytes read", true},
    {Metric::kKvReadBytes, "cache bytes read", true},
    {Metric::kKvWriteBytes, "cache bytes written", true},
    {Metric::kActivationReadBytes, "activation bytes read", true},
    {Metric::kActivationWriteBytes, "activation bytes written", true},
    {Metric::kActivationPeakBytes, "activation bytes alive", false},
};

class Items {
 public:
  explicit Items(JsonWriter& json) : json_(json) {}

  JsonWriter& item(std::string_view kind, std::string_view target, std::string_view name) {
    json_.line().begin_object().key("kind").text(kind).key("target").text(target);
    return json_.key("name").text(name).key("value");
  }
  void end() { json_.end_object(); }

 private:
  JsonWriter& json_;
};

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

bool is_joinable(const std::string& name) {
  return !name.empty() && name.find_first_of("\r\n") == std::string::npos;
}

void write_node(const PricedDocument& document, const PricedNode& node, const std::string& target,
                Items& items) {
  const double share = document.seconds > 0 ? node.time.total / document.seconds : 0;
  const auto count = static_cast<double>(node.multiplicity);
  items.item("node", target, "time (µs)").real(rounded(node.time.total / count * 1e6, 1e4));
  items.end();
  items.item("node", target, "share of the step (%)").real(rounded(share / count * 100, 1e3));
  items.end();
  for (const Shown& shown : kShown) {
    const std::optional<Int>& cost = node.costs[static_cast<size_t>(shown.metric)];
    if (!cost) {
      items.item("node", target, shown.name).text("unknown");
    } else if (*cost != 0) {
      items.item("node", target, shown.name)
          .integer(shown.per_instance ? *cost / node.multiplicity : *cost);
    } else {
      continue;
    }
    items.end();
  }
}

std::string setting_of(const PricedDocument& document) {
  std::string text = document.mode;
  for (const auto& [name, value] : document.values) text += ", " + name + " " + to_string(value);
  return text;
}

}  // namespace

std::string netron_attachment(const PricedDocument& document) {
  JsonWriter json;
  Items items(json);
  json.begin_object().key("signature").text("netron:attachment").key("metadata").begin_array();
  items.item("model", "", "kcharter").text(setting_of(document));
  items.end();
  std::set<std::string> met;  // a name that two things have says nothing of either
  for (const PricedNode& node : document.nodes) {
    const PricedModule& module = document.modules[node.module];
    for_each_name(node.name, node.names, repeats_above(document, node.module),
                  [&](const std::string& target) {
                    if (!is_joinable(target) || !met.insert(target).second) return;
                    items.item("node", target, "module").text(module.path);
                    items.end();
                    if (node.time.by == BoundBy::kNothing) return;
                    items.item("node", target, "bound by").text(name(node.time.by));
                    items.end();
                  });
  }
  json.end_array().key("metrics").begin_array();
  items.item("model", "", "time of a step (µs)").real(rounded(document.seconds * 1e6, 1e3));
  items.end();
  met.clear();
  for (const PricedNode& node : document.nodes) {
    const std::vector<int64_t> repeats = repeats_above(document, node.module);
    for_each_name(node.name, node.names, repeats, [&](const std::string& target) {
      if (is_joinable(target) && met.insert(target).second) {
        write_node(document, node, target, items);
      }
    });
    for (const size_t id : node.outputs) {
      const PricedValue& value = document.list_of_values[id];
      if (!value.bytes || value.type.empty()) continue;
      for_each_name(value.name, value.names, repeats, [&](const std::string& target) {
        if (!is_joinable(target)) return;
        items.item("value", target, "bytes of " + value.type).integer(*value.bytes);
        items.end();
      });
    }
  }
  return json.end_array().end_object().take() + "\n";
}

}  // namespace kcharter
