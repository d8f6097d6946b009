#include "accuracy/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kcharter::accuracy {
namespace {

// 0 of nothing.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) rank[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return rank;
}

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return 1;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

Errors errors_of(const std::vector<Pair>& pairs) {
  std::vector<double> errors, bounds, estimated, measured;
  for (const Pair& pair : pairs) {
    errors.push_back(std::abs(std::log(pair.estimated / pair.measured)));
    bounds.push_back(std::abs(std::log(pair.bound / pair.measured)));
    estimated.push_back(pair.estimated);
    measured.push_back(pair.measured);
  }
  return {pairs.size(), quantile(errors, 0.5), quantile(errors, 0.9), quantile(bounds, 0.5),
          rank_correlation(estimated, measured)};
}

}  // namespace kcharter::accuracy
