// The patterns: one function and one row of kPatterns (patterns.cc) each. A function looks at the
// whole graph through the wiring and gives the collector what it finds.
#pragma once

#include "advise/collector.h"
#include "advise/wiring.h"

namespace kcharter {

// What earlier patterns found that later ones ask for.
struct Found {
  // The products of queries and keys, and of scores and values, of unfused attentions, and by
  // NodeId whether a node is part of a larger kernel that one of the patterns knows.
  struct Scores {
    NodeId softmax;
    NodeId query_key;
    NodeId score_value;
    std::vector<NodeId> between;  // nodes that pass over the scores, softmax among them
  };
  std::vector<Scores> attentions;
  std::vector<std::vector<NodeId>> products;  // of one input, not yet named by a pattern
  std::vector<bool> is_taken;                 // by NodeId: part of a kernel that a pattern knows
  std::vector<bool> is_norm;                  // by NodeId: part of a norm that is written out
};

using Detect = void (*)(const Wiring& wiring, const PatternText& pattern, Found& found,
                        Collector& collector);

void find_duplicate_nodes(const Wiring&, const PatternText&, Found&, Collector&);
void find_dead_nodes(const Wiring&, const PatternText&, Found&, Collector&);
void find_duplicate_constants(const Wiring&, const PatternText&, Found&, Collector&);
void find_constant_subgraphs(const Wiring&, const PatternText&, Found&, Collector&);
void find_transformed_weights(const Wiring&, const PatternText&, Found&, Collector&);
void find_dequantized_weights(const Wiring&, const PatternText&, Found&, Collector&);
void find_wide_scales(const Wiring&, const PatternText&, Found&, Collector&);
void find_materialised_scores(const Wiring&, const PatternText&, Found&, Collector&);
void find_masked_halves(const Wiring&, const PatternText&, Found&, Collector&);
void find_repeated_keys(const Wiring&, const PatternText&, Found&, Collector&);
void find_grown_caches(const Wiring&, const PatternText&, Found&, Collector&);
void find_logits_of_all_tokens(const Wiring&, const PatternText&, Found&, Collector&);
void find_decomposed_norms(const Wiring&, const PatternText&, Found&, Collector&);
void find_residual_norms(const Wiring&, const PatternText&, Found&, Collector&);
void find_modulations(const Wiring&, const PatternText&, Found&, Collector&);
void find_gate_up(const Wiring&, const PatternText&, Found&, Collector&);
void find_separate_qkv(const Wiring&, const PatternText&, Found&, Collector&);
void find_shared_inputs(const Wiring&, const PatternText&, Found&, Collector&);
void find_redundant_casts(const Wiring&, const PatternText&, Found&, Collector&);
void find_requantized(const Wiring&, const PatternText&, Found&, Collector&);
void find_cancelling_transposes(const Wiring&, const PatternText&, Found&, Collector&);
void find_transposed_operands(const Wiring&, const PatternText&, Found&, Collector&);
void find_epilogues(const Wiring&, const PatternText&, Found&, Collector&);
void find_elementwise_chains(const Wiring&, const PatternText&, Found&, Collector&);
void find_precision_islands(const Wiring&, const PatternText&, Found&, Collector&);

}  // namespace kcharter
