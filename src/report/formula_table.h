// FormulaTable: every distinct formula of a document once, numbered in the order of first use.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

class FormulaTable {
 public:
  size_t index_of(const Expr& formula) {
    const auto [entry, is_new] = indices_.try_emplace(formula, texts_.size());
    if (is_new) texts_.push_back(formula.to_string());
    return entry->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<Expr, size_t> indices_;
  std::vector<std::string> texts_;
};

}  // namespace kcharter
