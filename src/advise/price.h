// What mending sites saves: the union of what their mended graphs no longer do, as formulas.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "advise/wiring.h"
#include "kcharter/advise/finding.h"
#include "kcharter/estimate/lifetimes.h"
#include "kcharter/estimate/operand_traffic.h"

namespace kcharter {

class Prices {
 public:
  Prices(const Wiring& wiring, const Bindings& values);

  // Formulas only: the peak is peak_fall's.
  Saving saving(std::span<const FindingSite* const> sites);
  // By how much the activation peak falls, at the document's variables.
  std::optional<Int> peak_fall(std::span<const FindingSite* const> sites);

 private:
  struct Change;

  std::vector<Change> changes_of(std::span<const FindingSite* const> sites) const;
  Saving sum_of(std::span<const FindingSite* const> sites);
  const std::vector<OperandTraffic>& traffic(NodeId of_template);
  std::optional<Int> bytes_of(ValueId value);
  Int bytes_at(ValueId value, const Bindings& values) const;
  void make_timeline();

  const Wiring& wiring_;
  const Bindings& values_;
  std::unordered_map<uint32_t, std::vector<OperandTraffic>> traffic_;
  std::vector<Int> bytes_;  // by ValueId of a template; one of the two below, or the bytes
  bool has_timeline_ = false;
  Lifetimes lifetimes_;
  std::vector<uint32_t> lifetime_of_;  // by ValueId
  std::vector<uint32_t> step_of_;      // by NodeId
  std::vector<Int> alive_;             // by step
  Int peak_ = 0;
};

}  // namespace kcharter
