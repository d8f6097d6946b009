// Generation: what answering takes as a whole: a prompt is read in one prefill, which gives the first
// token, then each further token takes a step of decode over one token more.
//
//   const Generation answer = generation_on(prefill, decode, values, {.prompt = 2048, .tokens = 512},
//                                           *find_device("h100-sxm"));
//   answer.estimate.per_token;  // mean seconds of a further token
#pragma once

#include <cstdint>
#include <optional>

#include "kcharter/estimate/time.h"

namespace kcharter {

// One mode of a model.
struct Step {
  const Model& model;
  const ModuleTree& tree;
  const Estimate& estimate;
};

inline constexpr int64_t kMostTokens = int64_t{1} << 40;

struct Request {
  int64_t prompt = 0;  // tokens of each sequence at first, at least 1
  int64_t tokens = 0;  // generated of each, at least 1
};

// Seconds, of all sequences of the batch together.
struct GenerationTime {
  double first_token = 0;
  double per_token = 0;  // each further one, on the mean; 0 where there is none
  double sequence = 0;
  double tokens_per_second = 0;  // generated of all sequences
};

struct Generation {
  GenerationTime estimate;
  GenerationTime bound;  // never faster
  GenerationTime low;    // the band of the estimate
  GenerationTime high;
  bool complete = true;  // false: something has unknown work, so all is a lower bound
};

// `values` gives the batch and free dimensions; its lengths are not looked at. Steps of decode are
// priced at up to 33 lengths spread evenly and joined by lines: time is piecewise linear in the length.
// Throws ArithmeticError where a formula has no value, UsageError where a count is below 1.
Generation generation_on(const Step& prefill, const Step& decode, const Bindings& values,
                         const Request& request, const Device& device);

// What one sequence costs at a price for an hour of the device.
double cost_of_sequence(const GenerationTime& time, int64_t batch, double price_per_hour);

}  // namespace kcharter
