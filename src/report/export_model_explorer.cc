// Model Explorer's node data: {GRAPH: {"name": …, "results": {KEY: {"value": number}}, "gradient":
// [{"stop": 0…1, "bgColor": …}]}}. A key is an output tensor's name, which every node has even in
// graphs without node names. The ONNX adapter calls the graph "main_graph".
#include <cmath>
#include <set>

#include "report/export_formats.h"
#include "report/json_writer.h"

namespace kcharter {
namespace {

constexpr const char* kGraph = "main_graph";

struct Stop {
  double at;
  const char* colour;
};
// White to red: red is time, as in the page.
constexpr Stop kGradient[] = {{0, "#ffffff"}, {0.1, "#f6dedd"}, {0.5, "#dd6b66"}, {1, "#c4121f"}};

}  // namespace

std::string model_explorer_node_data(const PricedDocument& document) {
  JsonWriter json;
  json.begin_object().key(kGraph).begin_object();
  json.key("name").text("kcharter " + document.mode + ", µs").key("results").begin_object();
  std::set<std::string> met;
  for (const PricedNode& node : document.nodes) {
    if (node.outputs.empty()) continue;
    const PricedValue& value = document.list_of_values[node.outputs.front()];
    const double microseconds = node.time.total / static_cast<double>(node.multiplicity) * 1e6;
    for_each_name(value.name, value.names, repeats_above(document, node.module),
                  [&](const std::string& key) {
                    if (key.empty() || !met.insert(key).second) return;
                    json.line().key(key).begin_object().key("value");
                    json.real(std::round(microseconds * 1e4) / 1e4).end_object();
                  });
  }
  json.end_object().key("gradient").begin_array();
  for (const Stop& stop : kGradient) {
    json.begin_object().key("stop").real(stop.at).key("bgColor").text(stop.colour).end_object();
  }
  return json.end_array().end_object().end_object().take() + "\n";
}

}  // namespace kcharter
