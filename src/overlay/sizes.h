// The settings that a profile ran at, from the sizes in it.
#pragma once

#include <map>
#include <vector>

#include "overlay/document_index.h"
#include "overlay/join.h"

namespace kcharter {

// A measured shape and what the document says it is.
struct MeasuredShape {
  uint32_t node = 0;
  std::string name;
  bool is_output = true;
  std::vector<Expr> expected;
  std::vector<int64_t> measured;
};

// Of events joined by their own name, whose operator is the node's.
std::vector<MeasuredShape> measured_shapes(const DocumentIndex& document, const std::vector<ProfileEvent>& step,
                                           const std::vector<Joined>& joined);

// For each variable the value that most dimensions of the form a·variable + b give.
std::map<std::string, Int> settings_of(const std::vector<MeasuredShape>& shapes);

// Outputs whose shapes are others at these settings. What depends on a variable that no size tells is
// not compared.
std::vector<Contradiction> contradictions_of(const std::vector<MeasuredShape>& shapes, const Bindings& settings);

}  // namespace kcharter
