#include "accuracy/measured_operators.h"

#include <charconv>
#include <map>
#include <sstream>

#include "accuracy/csv.h"
#include "accuracy/names.h"
#include "kcharter/base/error.h"
#include "kcharter/estimate/time.h"
#include "kcharter/ops/mark_weights.h"
#include "kcharter/structure/module_tree.h"
#include "reference/toy_graph.h"

namespace kcharter::accuracy {
namespace {

using Sizes = std::map<std::string, int64_t>;

// "m768 n3584 k8192", "b1 s1024 h40 kv40 d128".
Sizes sizes_of(const std::string& text) {
  Sizes sizes;
  std::istringstream in(text);
  for (std::string item; in >> item;) {
    const size_t digit = item.find_first_of("0123456789");
    int64_t value = 0;
    const auto parsed = std::from_chars(item.data() + std::min(digit, item.size()),
                                        item.data() + item.size(), value);
    if (digit == std::string::npos || digit == 0 || parsed.ec != std::errc() || value <= 0) {
      throw Error("'" + item + "' is no size");
    }
    sizes[item.substr(0, digit)] = value;
  }
  return sizes;
}

int64_t size(const Sizes& sizes, const char* name) {
  const auto found = sizes.find(name);
  if (found == sizes.end()) throw Error(std::string("no size '") + name + "'");
  return found->second;
}

Model product(const Sizes& sizes, DType dtype) {
  const int64_t m = size(sizes, "m"), n = size(sizes, "n"), k = size(sizes, "k");
  reference::ToyGraph toy;
  const ValueId x = toy.input({m, k}, dtype);
  const ValueId y = toy.apply("MatMul", {x, toy.weight({k, n}, dtype)}, {m, n}, DType::kBF16);
  toy.model.graph.outputs.push_back(y);
  return std::move(toy.model);
}

// `queries` tokens over `keys` of them.
Model attention(const Sizes& sizes, int64_t queries, int64_t keys, bool causal) {
  const int64_t batch = size(sizes, "b"), head = size(sizes, "d");
  reference::ToyGraph toy;
  const auto input = [&](int64_t heads, int64_t length) {
    return toy.input({batch, heads, length, head}, DType::kBF16);
  };
  const int64_t heads = size(sizes, "h"), kv_heads = size(sizes, "kv");
  const ValueId out = toy.value({batch, heads, queries, head}, DType::kBF16);
  const std::vector<ValueId> inputs = {input(heads, queries), input(kv_heads, keys),
                                       input(kv_heads, keys)};
  toy.node("Attention", inputs, {out}, {{"is_causal", int64_t{causal}}});
  toy.model.graph.outputs.push_back(out);
  return std::move(toy.model);
}

Model graph_of(const std::string& op, const Sizes& sizes, DType dtype) {
  if (op == "gemm") return product(sizes, dtype);
  const int64_t length = size(sizes, "s");
  if (op == "attn_prefill_causal") return attention(sizes, length, length, true);
  if (op == "attn_decode") return attention(sizes, 1, length, false);
  throw Error("no operator '" + op + "'");
}

std::string kind_of(const std::string& op, DType dtype) {
  if (op == "gemm") return bits(dtype) == 8 ? "fp8 GEMM" : "bf16 GEMM";
  return op == "attn_decode" ? "decode attention" : "prefill attention";
}

void measure(const Row& row, MeasuredOperator& measured) {
  const auto device = device_called(row.at("device"));
  if (!device) throw Error("no device '" + row.at("device") + "'");
  measured.device = device->id;
  const std::string& op = row.at("op");
  const DType dtype = row.at("dtype") == "fp8" ? DType::kF8E4M3FN : DType::kBF16;
  measured.kind = kind_of(op, dtype);
  measured.in_cache = !row.at("l2_warm_suspect").empty();
  const Model model = mark_weights(graph_of(op, sizes_of(row.at("shape")), dtype));
  const ModuleTree tree = reference::flat_tree(model);
  const Estimate estimated = estimate(model, tree, {}, {});
  const ModelTime time = time_on(model, tree, estimated, {}, *device);
  measured.seconds = {time.estimate.total, number(row, "measured_us") * 1e-6, time.bound};
  const auto value = [&](Metric metric) {
    return static_cast<double>(estimated.summary[metric].formula->evaluate({}));
  };
  const double moved = value(Metric::kWeightReadBytes) + value(Metric::kActivationReadBytes) +
                       value(Metric::kActivationWriteBytes);
  measured.flops_ratio = value(Metric::kFlops) / number(row, "flops");
  measured.bytes_ratio = moved / number(row, "bytes");
}

}  // namespace

std::vector<MeasuredOperator> measured_operators(const std::filesystem::path& truth) {
  std::vector<MeasuredOperator> operators;
  for (const Row& row : read_csv(truth / "op_truth.csv")) {
    MeasuredOperator& measured = operators.emplace_back();
    try {
      measure(row, measured);
    } catch (const std::exception& error) {
      measured.problem = error.what();
    }
  }
  return operators;
}

}  // namespace kcharter::accuracy
