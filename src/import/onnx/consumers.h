// Consumers: who reads each value, as one flat table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kcharter/model/graph.h"

namespace kcharter {

struct Consumer {
  NodeId node;
  uint32_t input = 0;  // which input of it
};

class Consumers {
 public:
  explicit Consumers(const Graph& graph);

  std::span<const Consumer> of(ValueId value) const {
    return std::span(uses_).subspan(begin_[value.index],
                                    begin_[value.index + 1] - begin_[value.index]);
  }

 private:
  std::vector<uint32_t> begin_;
  std::vector<Consumer> uses_;
};

}  // namespace kcharter
