#include "kcharter/advise/advise.h"

#include <algorithm>
#include <numeric>

#include "advise/collector.h"
#include "advise/patterns.h"
#include "advise/price.h"
#include "kcharter/advise/saved_time.h"

namespace kcharter {
namespace {

using SiteList = std::vector<const FindingSite*>;

// What findings are put in order by, where nobody named a device.
constexpr std::string_view kNominalDevice = "h100-sxm";

void price(Prices& prices, const std::vector<SiteList>& sites_of, Advice& advice) {
  SiteList counted;
  for (size_t i = 0; i < advice.findings.size(); ++i) {
    Finding& finding = advice.findings[i];
    finding.saves = prices.saving(sites_of[i]);
    finding.saves.peak_bytes = finding.counted ? prices.peak_fall(sites_of[i]) : 0;
    if (finding.counted) counted.insert(counted.end(), sites_of[i].begin(), sites_of[i].end());
  }
  advice.total = prices.saving(counted);
  advice.total.peak_bytes = prices.peak_fall(counted);
}

void put_in_order(const Wiring& wiring, const Bindings& values,
                  const std::vector<SiteList>& sites_of, Advice& advice) {
  const Device* device = find_device(kNominalDevice);
  if (device == nullptr) return;
  TimePrices times(wiring.model, wiring.tree, wiring.estimate, values, *device);
  std::vector<double> seconds;
  // The sites of a finding are alike and apart, so that one tells of all.
  for (const SiteList& sites : sites_of) {
    const double of_one = times.of(std::span(sites).first(1)).estimate;
    seconds.push_back(of_one * static_cast<double>(sites.size()));
  }
  std::vector<uint32_t> order(advice.findings.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool first = advice.findings[a].counted, second = advice.findings[b].counted;
    return first != second ? first : seconds[a] > seconds[b];
  });
  std::vector<uint32_t> place(order.size());
  std::vector<Finding> findings;
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    findings.push_back(std::move(advice.findings[order[i]]));
  }
  advice.findings = std::move(findings);
  for (FindingSite& site : advice.sites) site.finding = place[site.finding];
}

}  // namespace

Advice advise(const Model& model, const ModuleTree& tree, const Estimate& estimate,
              const Bindings& values) {
  Advice advice;
  if (!model.graph_known) return advice;
  const Wiring wiring(model, tree, estimate);
  Collector collector(wiring);
  Found found;
  found.is_taken.assign(model.graph.nodes.size(), false);
  found.is_norm.assign(model.graph.nodes.size(), false);
  for (const Pattern& pattern : pattern_table()) {
    pattern.detect(wiring, pattern.text, found, collector);
  }
  advice.findings = std::move(collector.findings);
  advice.sites = std::move(collector.sites);
  std::vector<SiteList> sites_of(advice.findings.size());
  for (const FindingSite& site : advice.sites) sites_of[site.finding].push_back(&site);
  Prices prices(wiring, values);
  price(prices, sites_of, advice);
  put_in_order(wiring, values, sites_of, advice);
  return advice;
}

Saving saving_of(const Model& model, const ModuleTree& tree, const Estimate& estimate,
                 const Bindings& values, std::span<const FindingSite* const> sites) {
  const Wiring wiring(model, tree, estimate);
  Prices prices(wiring, values);
  Saving saving = prices.saving(sites);
  saving.peak_bytes = prices.peak_fall(sites);
  return saving;
}

std::span<const PatternText* const> known_patterns() {
  static const std::vector<const PatternText*> texts = [] {
    std::vector<const PatternText*> all;
    for (const Pattern& pattern : pattern_table()) all.push_back(&pattern.text);
    return all;
  }();
  return texts;
}

}  // namespace kcharter
