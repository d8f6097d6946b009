// DocumentIds: which nodes, values, tensors and caches of a graph stand in its document, and under
// which number. A document holds folded templates only, in execution order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kcharter/report/document.h"

namespace kcharter {

// One table's numbering: graph id → number in the document, through the template that stands for
// it.
struct Numbering {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> number_of;  // by graph id; kNone: not in the document
  std::vector<uint32_t> members;    // by number: the graph id of the template
  std::vector<int64_t> instances;   // by number: how many graph ids it stands for

  std::optional<uint32_t> find(uint32_t graph_id) const {
    if (graph_id >= number_of.size() || number_of[graph_id] == kNone) return std::nullopt;
    return number_of[graph_id];
  }
  // By number: the graph ids it stands for, in their order.
  std::vector<std::vector<uint32_t>> stood_for() const;
};

struct DocumentIds {
  Numbering nodes;
  Numbering values;
  Numbering tensors;  // second names of a tensor have the number of the first
  Numbering caches;
};

DocumentIds number_document(const Document& document);

}  // namespace kcharter
