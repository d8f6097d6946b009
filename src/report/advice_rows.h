// AdviceRows: the findings of one document by pattern, with what each saves on a device.
#pragma once

#include <string>
#include <vector>

#include "kcharter/advise/saved_time.h"
#include "kcharter/estimate/device.h"
#include "kcharter/report/document.h"

namespace kcharter {

struct AdviceRow {
  const PatternText* pattern = nullptr;
  bool counted = true;
  std::vector<const Finding*> findings;
  int64_t sites = 0;
  Saving saves;
  SavedTime time;
  // At the document's variables; none: unknown.
  std::optional<Int> launches;
  std::optional<Int> flops;
  std::optional<Int> moved_bytes;
  // Activation peak, resident weights and cache copies.
  std::optional<Int> memory_bytes;
};

struct AdviceRows {
  std::vector<AdviceRow> rows;  // counted ones first, then by saved time, largest first
  AdviceRow total;              // all counted ones mended together
  double step_seconds = 0;      // the estimate of the graph as it is
};

AdviceRows advice_rows(const Document& document, const Device& device);

}  // namespace kcharter
