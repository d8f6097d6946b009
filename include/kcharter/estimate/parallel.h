// Parallelism: what one of several devices holds, computes and sends.
//
// Sizes are variables of the document: tensor_parallel_size · pipeline_parallel_size ·
// data_parallel_size devices. Matrices are split over the tensor group by columns where what reads
// them takes the parts (attention by heads, elementwise operators), and by rows where their input
// is split, whose partial sums an all-reduce adds up (Shoeybi et al., arXiv:1909.08053). Which is
// told by the graph, operator by operator; what no rule splits is whole on each device. Layers go
// to pipeline stages in order, the remainder of an uneven division one each to the last stages but
// the very last; what stands before them is on the first stage, what stands after them on the last.
// A batch is divided over data-parallel replicas. Experts are spread over an expert group of
// expert_parallel_size devices within the tensor group (then an all-reduce adds their results), or
// across replicas (then tokens travel by all-to-all).
//
// Quantities are those of the device with the most on stage `pipeline_stage`, and equal the model's
// own where every size is 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/base/diagnostic.h"
#include "kcharter/estimate/device.h"
#include "kcharter/estimate/quantity.h"
#include "kcharter/model/model.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

inline constexpr std::string_view kTensorParallelSize = "tensor_parallel_size";
inline constexpr std::string_view kPipelineParallelSize = "pipeline_parallel_size";
inline constexpr std::string_view kExpertParallelSize = "expert_parallel_size";
inline constexpr std::string_view kDataParallelSize = "data_parallel_size";
inline constexpr std::string_view kPipelineStage =
    "pipeline_stage";  // 0 … pipeline_parallel_size-1

// The five, each with its default: 1, and stage 0.
std::vector<Variable> parallel_variables();
bool is_parallel(std::string_view variable);

enum class Collective : uint8_t { kAllReduce, kAllGather, kAllToAll, kPointToPoint };
std::string_view name(Collective operation);  // all_reduce, all_gather, all_to_all, point_to_point

// What a device sends in one step. Ring algorithms: an all-reduce of n bytes over p devices sends
// 2(p-1)/p·n, an all-gather (p-1)/p·n, an all-to-all (p-1)/p·n. (Thakur, Rabenseifner, Gropp,
// 2005.)
struct Communication {
  Collective operation = Collective::kAllReduce;
  Quantity bytes;
  Quantity calls;
};

// Stored weights that are split alike.
struct WeightSplit {
  std::string by;     // the variable; empty: held whole
  std::string of;     // columns, heads, key_value_heads, rows, experts; empty: held whole
  int64_t units = 0;  // how many of them
  Int bytes = 0;      // of all these tensors in the model
  int64_t tensors = 0;
  std::string example;  // the first one's name
};

// A split that engines refuse or that leaves devices unequal.
struct SplitCondition {
  std::string code;     // refused-split, uneven-split
  std::string subject;  // "64 heads"
  std::string message;
  Expr violation;  // 0 where it is met
};

struct ParallelEstimate {
  Metrics device;
  Quantity total_bytes;
  Expr devices = Expr(1);
  int64_t layers = 0;                        // that a pipeline spreads; 0: none found
  std::vector<Communication> communication;  // by operation
  std::vector<WeightSplit> weights;          // most bytes first
  std::vector<SplitCondition> conditions;
};

// The time that what one device sends in a step takes on the device's link, one operation after the
// other at its full bandwidth: a lower bound. nullopt: no link is known, or something is unknown.
std::optional<double> communication_seconds(const ParallelEstimate& parallel,
                                            const Bindings& values, const Device& device);

// `values` with pipeline_stage set to the first stage where `quantity` is most.
Bindings fullest_stage(const Quantity& quantity, const Bindings& values);
// Whether any of the sizes is more than 1.
bool has_several_devices(const Bindings& values);

}  // namespace kcharter
