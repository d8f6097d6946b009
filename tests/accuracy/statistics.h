// What a set of pairs (estimated, measured) comes to.
#pragma once

#include <cstddef>
#include <vector>

namespace kcharter::accuracy {

struct Pair {
  double estimated = 0;
  double measured = 0;
  double bound = 0;
};

// The error of an estimate is |ln(estimated / measured)|: twice as long and half as long count
// alike.
struct Errors {
  size_t count = 0;
  double median = 0;
  double ninetieth = 0;  // nine in ten are not larger
  double bound_median = 0;
  double rank = 0;  // Spearman's correlation of estimated and measured
};

Errors errors_of(const std::vector<Pair>& pairs);
// 1 where fewer than two pairs are given; ties have their mean rank.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace kcharter::accuracy
