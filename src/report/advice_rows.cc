#include "report/advice_rows.h"

#include <algorithm>

#include "kcharter/advise/advise.h"
#include "kcharter/estimate/time.h"
#include "report/summary.h"

namespace kcharter {
namespace {

using SiteList = std::vector<const FindingSite*>;

std::optional<Int> sum_of(const Saving& saving, const Bindings& values,
                          std::initializer_list<Metric> metrics) {
  Quantity sum;
  for (const Metric metric : metrics) sum = sum + saving.metrics[metric];
  return value_of(sum, values);
}

void fill_in(const Document& document, const SiteList& sites, TimePrices& times, AdviceRow& row) {
  const Bindings& values = document.values;
  row.time = times.of(sites);
  row.launches = value_of(row.saves.launches, values);
  row.flops = sum_of(row.saves, values, {Metric::kFlops});
  row.moved_bytes = sum_of(row.saves, values,
                           {Metric::kWeightReadBytes, Metric::kKvReadBytes, Metric::kKvWriteBytes,
                            Metric::kActivationReadBytes, Metric::kActivationWriteBytes});
  row.memory_bytes = sum_of(row.saves, values, {Metric::kWeightBytes, Metric::kCacheCopyBytes});
  if (row.memory_bytes && row.saves.peak_bytes) *row.memory_bytes += *row.saves.peak_bytes;
}

}  // namespace

AdviceRows advice_rows(const Document& document, const Device& device) {
  const Advice& advice = document.advice;
  AdviceRows result;
  std::vector<SiteList> sites;
  std::vector<size_t> row_of;
  for (const Finding& finding : advice.findings) {
    const auto known = std::find_if(result.rows.begin(), result.rows.end(), [&](const auto& row) {
      return row.pattern == finding.pattern && row.counted == finding.counted;
    });
    row_of.push_back(static_cast<size_t>(known - result.rows.begin()));
    if (known == result.rows.end()) {
      AdviceRow& added = result.rows.emplace_back();
      added.pattern = finding.pattern;
      added.counted = finding.counted;
    }
    AdviceRow& row = result.rows[row_of.back()];
    row.findings.push_back(&finding);
    row.sites += finding.sites;
  }
  sites.resize(result.rows.size());
  SiteList counted;
  for (const FindingSite& site : advice.sites) {
    sites[row_of[site.finding]].push_back(&site);
    if (advice.findings[site.finding].counted) counted.push_back(&site);
  }
  TimePrices times(document.model, document.tree, document.estimate, document.values, device);
  for (size_t i = 0; i < result.rows.size(); ++i) {
    AdviceRow& row = result.rows[i];
    row.saves = row.findings.size() == 1 ? row.findings.front()->saves
                                         : saving_of(document.model, document.tree,
                                                     document.estimate, document.values, sites[i]);
    if (!row.counted) row.saves.peak_bytes = 0;
    fill_in(document, sites[i], times, row);
  }
  result.total.saves = advice.total;
  fill_in(document, counted, times, result.total);
  std::stable_sort(result.rows.begin(), result.rows.end(), [](const auto& a, const auto& b) {
    return a.counted != b.counted ? a.counted : a.time.estimate > b.time.estimate;
  });
  result.step_seconds =
      time_on(document.model, document.tree, document.estimate, document.values, device)
          .estimate.total;
  return result;
}

}  // namespace kcharter
