#include "kcharter/estimate/generation.h"

#include <algorithm>
#include <array>
#include <string>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr int64_t kMostLengths = 33;

// Estimate, bound, low and high of one step.
using Seconds = std::array<double, 4>;

Seconds seconds_at(const Step& step, Bindings values, int64_t length, const Device& device,
                   bool* complete) {
  values[std::string(kCurrentLength)] = length;
  values[std::string(kMaxLength)] = length;
  const ModelTime time = time_on(step.model, step.tree, step.estimate, values, device);
  *complete = *complete && time.complete;
  return {time.estimate.total, time.bound, time.low, time.high};
}

// The sum over every length from `first` to `last`, by trapezoids between those that are priced.
Seconds sum_of_steps(const Step& step, const Bindings& values, int64_t first, int64_t last,
                     const Device& device, bool* complete) {
  const int64_t count = last - first + 1;
  const int64_t priced = std::min(count, kMostLengths);
  Seconds sum = {};
  Seconds before = {};
  int64_t place_before = first;
  for (int64_t i = 0; i < priced; ++i) {
    const int64_t place = priced == 1 ? first : first + (count - 1) * i / (priced - 1);
    const Seconds here = seconds_at(step, values, place, device, complete);
    for (size_t k = 0; k < here.size(); ++k) {
      // Steps after the one before, up to this one: an arithmetic series.
      const double steps = i == 0 ? 1 : static_cast<double>(place - place_before);
      const double mean =
          i == 0 ? here[k] : here[k] - (here[k] - before[k]) * (steps - 1) / (2 * steps);
      sum[k] += steps * mean;
    }
    before = here;
    place_before = place;
  }
  return sum;
}

GenerationTime times_of(double first, double others, int64_t tokens, double batch) {
  GenerationTime time;
  time.first_token = first;
  if (tokens > 1) time.per_token = others / static_cast<double>(tokens - 1);
  time.sequence = first + others;
  if (time.sequence > 0) {
    time.tokens_per_second = batch * static_cast<double>(tokens) / time.sequence;
  }
  return time;
}

}  // namespace

Generation generation_on(const Step& prefill, const Step& decode, const Bindings& values,
                         const Request& request, const Device& device) {
  if (request.prompt < 1 || request.tokens < 1) {
    throw UsageError("a prompt of " + std::to_string(request.prompt) + " and " +
                     std::to_string(request.tokens) + " tokens after it: both are at least 1");
  }
  if (request.prompt > kMostTokens || request.tokens > kMostTokens) {
    throw UsageError("a prompt and the tokens after it are at most " + std::to_string(kMostTokens));
  }
  Generation generation;
  const Seconds first = seconds_at(prefill, values, request.prompt, device, &generation.complete);
  Seconds others = {};
  if (request.tokens > 1) {
    others = sum_of_steps(decode, values, request.prompt + 1, request.prompt + request.tokens - 1,
                          device, &generation.complete);
  }
  const auto batch = values.find(kBatchSize);
  const double sequences = batch == values.end() ? 1 : static_cast<double>(batch->second);
  GenerationTime* const times[] = {&generation.estimate, &generation.bound, &generation.low,
                                   &generation.high};
  for (size_t k = 0; k < first.size(); ++k) {
    *times[k] = times_of(first[k], others[k], request.tokens, sequences);
  }
  return generation;
}

double cost_of_sequence(const GenerationTime& time, int64_t batch, double price_per_hour) {
  return time.sequence / 3600 * price_per_hour / static_cast<double>(batch);
}

}  // namespace kcharter
