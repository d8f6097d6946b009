// Chains of elementwise operators, alone and behind a product.
#include <algorithm>

#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr size_t kMostNodes = 64;

const Shape* shape_of_output(const Wiring& wiring, NodeId node) {
  const auto& outputs = wiring.graph[node].outputs;
  if (outputs.empty() || !outputs[0] || !wiring.graph[outputs[0]].type.shape) return nullptr;
  return &*wiring.graph[outputs[0]].type.shape;
}

bool is_free(const Wiring& wiring, const Found& found, NodeId node) {
  return node && is_elementwise(wiring.operation(node)) && !found.is_taken[node.index];
}

// Elementwise nodes of one shape that end in `last` and are read nowhere else.
std::vector<NodeId> chain_to(const Wiring& wiring, const Found& found, NodeId last) {
  const Shape* shape = shape_of_output(wiring, last);
  std::vector<NodeId> chain{last};
  if (shape == nullptr) return chain;
  const auto is_in = [&](NodeId node) {
    return std::find(chain.begin(), chain.end(), node) != chain.end();
  };
  // A node joins once all its readers have, so later ones are tried again.
  for (bool has_grown = true; has_grown && chain.size() < kMostNodes;) {
    has_grown = false;
    for (size_t i = 0; i < chain.size() && chain.size() < kMostNodes; ++i) {
      for (const ValueId input : wiring.graph[chain[i]].inputs) {
        if (!input || wiring.is_constant(input)) continue;
        const NodeId maker = wiring.maker(input);
        if (!is_free(wiring, found, maker) || is_in(maker) || wiring.escapes(input)) continue;
        const Shape* other = shape_of_output(wiring, maker);
        const auto readers = wiring.readers(input);
        if (other == nullptr || *other != *shape ||
            wiring.graph[maker].region != wiring.graph[last].region ||
            !std::all_of(readers.begin(), readers.end(), is_in)) {
          continue;
        }
        chain.push_back(maker);
        has_grown = true;
      }
    }
  }
  return chain;
}

std::string_view what_is(const Wiring& wiring, const std::vector<NodeId>& chain) {
  for (const NodeId node : chain) {
    if (wiring.operation(node) == Operation::kErf) return "a GELU written out";
    if (wiring.operation(node) == Operation::kTanh && chain.size() > 4) return "a GELU written out";
    if (wiring.operation(node) == Operation::kSigmoid) return "a SiLU written out";
  }
  return "operators in a row";
}

}  // namespace

void find_epilogues(const Wiring& wiring, const PatternText& pattern, Found& found,
                    Collector& collector) {
  for (const NodeId product : wiring.nodes()) {
    if (!wiring.is_weight_product(product)) continue;
    const ValueId output = wiring.graph[product].outputs[0];
    const NodeId reader = wiring.only_reader(output);
    if (!is_free(wiring, found, reader) || wiring.operation(reader) == Operation::kCast) continue;
    const Shape* shape = shape_of_output(wiring, product);
    const Shape* after = shape_of_output(wiring, reader);
    if (shape == nullptr || after == nullptr || !(*shape == *after)) continue;
    collector.add(pattern, fuse(wiring, {product, reader}), {product, reader});
  }
}

void find_elementwise_chains(const Wiring& wiring, const PatternText& pattern, Found& found,
                             Collector& collector) {
  const std::span<const NodeId> nodes = wiring.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!is_free(wiring, found, nodes[i])) continue;
    std::vector<NodeId> chain = chain_to(wiring, found, nodes[i]);
    if (chain.size() < 2) continue;
    for (const NodeId node : chain) found.is_taken[node.index] = true;
    const std::string detail =
        std::to_string(chain.size()) + " operators: " + std::string(what_is(wiring, chain));
    FindingSite site = fuse(wiring, chain);
    collector.add(pattern, std::move(site), std::move(chain), detail);
  }
}

}  // namespace kcharter
