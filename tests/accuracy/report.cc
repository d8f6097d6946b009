#include "accuracy/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace kcharter::accuracy {
namespace {

bool is_answered(const auto& measured) { return measured.problem.empty(); }

// What the errors of estimates are judged by: one sequence on one device.
bool is_plain_decode(const MeasuredStep& step) {
  return is_answered(step) && step.phase == "decode" && step.batch == 1 && step.devices == 1;
}

std::vector<Pair> pairs_of(const auto& all, auto wanted) {
  std::vector<Pair> pairs;
  for (const auto& measured : all) {
    if (is_answered(measured) && wanted(measured)) pairs.push_back(measured.seconds);
  }
  return pairs;
}

std::vector<Pair> decode_pairs(const Accuracy& accuracy, std::string_view memory_class) {
  return pairs_of(accuracy.steps, [&](const MeasuredStep& step) {
    return is_plain_decode(step) && (memory_class.empty() || step.memory_class == memory_class);
  });
}

std::vector<Pair> operator_pairs(const Accuracy& accuracy, std::string_view kind,
                                 std::string_view device = {}) {
  return pairs_of(accuracy.operators, [&](const MeasuredOperator& measured) {
    return !measured.in_cache && (kind.empty() || measured.kind == kind) &&
           (device.empty() || measured.device == device);
  });
}

size_t unanswered(const auto& all) {
  return static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& m) { return !is_answered(m); }));
}

bool is_violation(const MeasuredStep& step) {
  return is_answered(step) && step.seconds.bound > step.seconds.measured;
}

double violations(const std::vector<MeasuredStep>& steps) {
  return static_cast<double>(std::count_if(steps.begin(), steps.end(), is_violation));
}

std::vector<Gate> gates_of(const Accuracy& accuracy) {
  std::vector<Gate> gates;
  gates.push_back({"rows of steps and operators without an answer",
                   static_cast<double>(unanswered(accuracy.steps) + unanswered(accuracy.operators)),
                   0});
  gates.push_back({"steps measured faster than the bound", violations(accuracy.steps), 0});
  for (const char* memory : {"gddr", "soc"}) {
    gates.push_back({fmt::format("decode, {}: median error", memory),
                     errors_of(decode_pairs(accuracy, memory)).median, 0.15});
  }
  for (const auto& [kind, limit] : std::map<std::string, double>{{"bf16 GEMM", 0.12},
                                                                 {"fp8 GEMM", 0.30},
                                                                 {"prefill attention", 0.25},
                                                                 {"decode attention", 0.25}}) {
    gates.push_back(
        {kind + ": median error", errors_of(operator_pairs(accuracy, kind)).median, limit});
  }
  gates.push_back(
      {"decode: rank correlation", errors_of(decode_pairs(accuracy, "")).rank, 0.95, false});
  gates.push_back(
      {"operators: rank correlation", errors_of(operator_pairs(accuracy, "")).rank, 0.95, false});
  return gates;
}

std::string number_text(const Gate& gate, double value) {
  if (gate.limit == 0) return fmt::format("{:.0f}", value);
  return gate.at_most ? fmt::format("{:.1f} %", 100 * value) : fmt::format("{:.3f}", value);
}

std::string gate_table(const std::vector<Gate>& gates) {
  std::string text = "| what | is | must be | |\n|---|---|---|---|\n";
  for (const Gate& gate : gates) {
    text += fmt::format("| {} | {} | {} {} | {} |\n", gate.what, number_text(gate, gate.value),
                        gate.at_most ? "≤" : "≥", number_text(gate, gate.limit),
                        gate.passed() ? "met" : "**not met**");
  }
  return text;
}

constexpr const char* kErrorHead =
    "| | rows | median error | nine in ten within | bound alone, median | rank correlation |\n"
    "|---|---|---|---|---|---|\n";

std::string error_row(const std::string& name, const std::vector<Pair>& pairs) {
  const Errors errors = errors_of(pairs);
  if (errors.count == 0) return "";
  return fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.3f} |\n", name, errors.count,
                     100 * errors.median, 100 * errors.ninetieth, 100 * errors.bound_median,
                     errors.rank);
}

std::string decode_section(const Accuracy& accuracy) {
  std::string text = kErrorHead;
  std::set<std::string> classes;
  for (const MeasuredStep& step : accuracy.steps) {
    if (is_plain_decode(step)) classes.insert(step.memory_class);
  }
  for (const std::string& name : classes) text += error_row(name, decode_pairs(accuracy, name));
  text += error_row("all", decode_pairs(accuracy, ""));
  const auto others = [&](const std::string& name, auto wanted) {
    text += error_row(name, pairs_of(accuracy.steps, wanted));
  };
  others("several sequences, one device", [](const MeasuredStep& s) {
    return s.phase == "decode" && s.batch > 1 && s.devices == 1;
  });
  others("several devices",
         [](const MeasuredStep& s) { return s.phase == "decode" && s.devices > 1; });
  others("prefill", [](const MeasuredStep& s) { return s.phase == "prefill"; });
  others("largest throughput", [](const MeasuredStep& s) { return s.batch == 0; });
  return text;
}

std::string operator_section(const Accuracy& accuracy) {
  std::string text;
  std::set<std::string> kinds, devices;
  for (const MeasuredOperator& measured : accuracy.operators) {
    if (!is_answered(measured)) continue;
    kinds.insert(measured.kind);
    devices.insert(measured.device);
  }
  for (const std::string& kind : kinds) {
    text += "\n### " + kind + "\n\n" + kErrorHead;
    for (const std::string& device : devices)
      text += error_row(device, operator_pairs(accuracy, kind, device));
    text += error_row("all", operator_pairs(accuracy, kind));
  }
  return text;
}

double median(std::vector<double> values) {
  if (values.empty()) return 1;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string cross_check(const Accuracy& accuracy) {
  std::vector<double> weights, flops, bytes;
  for (const MeasuredStep& step : accuracy.steps) {
    if (step.weight_ratio) weights.push_back(*step.weight_ratio);
  }
  for (const MeasuredOperator& measured : accuracy.operators) {
    if (!is_answered(measured)) continue;
    flops.push_back(measured.flops_ratio);
    bytes.push_back(measured.bytes_ratio);
  }
  const auto row = [](const char* what, const std::vector<double>& ratios) {
    if (ratios.empty()) return std::string();
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    return fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n", what, ratios.size(), *least,
                       median(ratios), *most);
  };
  return "| ours over the table's | rows | least | median | most |\n|---|---|---|---|---|\n" +
         row("weights that a step reads", weights) + row("FLOPs of an operator", flops) +
         row("bytes of an operator", bytes);
}

std::string problems(const Accuracy& accuracy) {
  std::map<std::string, int> counts;
  for (const MeasuredStep& step : accuracy.steps) {
    if (!is_answered(step))
      ++counts[step.model + " on " + step.device + ", " + step.words + ": " + step.problem];
  }
  for (const MeasuredOperator& measured : accuracy.operators) {
    if (!is_answered(measured)) ++counts[measured.device + ": " + measured.problem];
  }
  for (const MeasuredStep& step : accuracy.steps) {
    if (!is_violation(step)) continue;
    ++counts[fmt::format("{} on {}, {}, {} of {}: {:.2f} of the bound", step.model, step.device,
                         step.words, step.phase, step.batch,
                         step.seconds.measured / step.seconds.bound)];
  }
  std::string text;
  for (const auto& [problem, count] : counts) text += fmt::format("* {} ({})\n", problem, count);
  return text.empty() ? "None.\n" : text;
}

constexpr const char* kHead = R"(# How near the times come

Written by `scripts/accuracy TRUTH`, where TRUTH is a folder of measurements that others published:
`time_truth.csv`, tokens per second of whole models, and `op_truth.csv`, times of single operators.
Bytes and FLOPs are kcharter's own, of the configuration of each model and of a graph of each operator;
what the tables say of these only cross-checks. Efficiencies come from `models/devices`: a device's own
where its operators were measured, else those of its class of memory. They were fitted to a part of the
measurements, never to a row.

The error of an estimate is |ln(estimated / measured)|. Operators measured with their operands in the
last-level cache are left out of errors. The bound of a mixture of experts takes the experts of one token.
)";

}  // namespace

Accuracy measure_accuracy(const std::filesystem::path& configs,
                          const std::filesystem::path& truth) {
  Accuracy accuracy;
  accuracy.steps = measured_steps(configs, truth);
  accuracy.operators = measured_operators(truth);
  accuracy.gates = gates_of(accuracy);
  return accuracy;
}

std::string report(const Accuracy& accuracy) {
  return std::string(kHead) +
         fmt::format("\n{} steps and {} operators.\n\n", accuracy.steps.size(),
                     accuracy.operators.size()) +
         gate_table(accuracy.gates) +
         "\n## Steps\n\nDecode of one sequence on one device by class of memory, then what is not "
         "judged.\n\n" +
         decode_section(accuracy) + "\n## Operators\n" + operator_section(accuracy) +
         "\n## Cross-check\n\n" + cross_check(accuracy) +
         "\n## Without an answer, or faster than the bound\n\n" + problems(accuracy);
}

}  // namespace kcharter::accuracy
