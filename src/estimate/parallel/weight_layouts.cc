#include "estimate/parallel/weight_layouts.h"

#include <string>
#include <unordered_map>

namespace kcharter {
namespace {

std::string size_of(const Initializer& initializer) {
  std::string text;
  for (const int64_t dim : initializer.dims) text += "x" + std::to_string(dim);
  return text;
}

// "model.layers.#.mlp.experts.#.up_proj.weightx2048x7168"
std::string likeness(const Initializer& initializer) {
  std::string text;
  for (const char c : initializer.name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      text += c;
    else if (text.empty() || text.back() != '#')
      text += '#';
  }
  return text + size_of(initializer);
}

std::vector<bool> read_tensors(const Graph& graph) {
  std::vector<bool> read(graph.initializers.size(), false);
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) {
      InitializerId stored = input ? graph[input].initializer : InitializerId();
      if (!stored) continue;
      if (graph[stored].alias_of) stored = graph[stored].alias_of;
      read[stored.index] = true;
    }
  }
  return read;
}

void lay_like_others(const Graph& graph, std::vector<LayoutId>& layouts) {
  const std::vector<bool> read = read_tensors(graph);
  bool any = false;
  for (size_t i = 0; i < read.size(); ++i)
    any = any || (!read[i] && !graph.initializers[i].alias_of);
  if (!any) return;
  std::unordered_map<std::string, LayoutId> alike, sized;
  for (size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) continue;
    alike.emplace(likeness(graph.initializers[i]), layouts[i]);
    const auto [size, is_new] = sized.emplace(size_of(graph.initializers[i]), layouts[i]);
    if (size->second != layouts[i]) size->second = kWholeLayout;
  }
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i]) continue;
    const auto like = alike.find(likeness(graph.initializers[i]));
    const auto size = sized.find(size_of(graph.initializers[i]));
    if (like != alike.end())
      layouts[i] = like->second;
    else if (size != sized.end())
      layouts[i] = size->second;
  }
}

constexpr PlaceId kNowhere = UINT32_MAX;

// Outside of the layers a tensor is where its readers are.
std::vector<PlaceId> places_of_readers(const Graph& graph, const ModuleTree& tree,
                                       const Operands& operands, const Pipeline& pipeline) {
  std::vector<PlaceId> places(graph.initializers.size(), kNowhere);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const PlaceId place = pipeline.of_node[i];
    if (tree.template_of_node[i] != NodeId(i) || operands.folded[i] || place >= kFirstSpan)
      continue;
    for (const ValueId input : graph.nodes[i].inputs) {
      if (!input || !operands.constant[input.index]) continue;
      for (const InitializerId stored : source_of_constant(graph, input).stored) {
        PlaceId& known = places[stored.index];
        known = known == kNowhere || known == place ? place : kBothEnds;
      }
    }
  }
  return places;
}

}  // namespace

WeightPlaces place_weights(const Graph& graph, const ModuleTree& tree, const Operands& operands,
                           const Layouts& layouts, const Pipeline& pipeline) {
  WeightPlaces result{layouts.weights, {}};
  lay_like_others(graph, result.layouts);
  const std::vector<PlaceId> readers = places_of_readers(graph, tree, operands, pipeline);
  for (uint32_t i = 0; i < graph.initializers.size(); ++i) {
    const InitializerId of = tree.template_of_initializer[i];
    const PlaceId own = pipeline.of_module[tree.module_of_initializer[of.index].index];
    const bool is_read_outside = own < kFirstSpan && readers[i] != kNowhere;
    result.places.push_back(is_read_outside ? readers[i] : own);
  }
  return result;
}

}  // namespace kcharter
