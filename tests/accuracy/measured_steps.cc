#include "accuracy/measured_steps.h"

#include <charconv>
#include <map>
#include <memory>
#include <tuple>

#include "accuracy/names.h"
#include "kcharter/analyze/analyze.h"
#include "kcharter/base/error.h"
#include "kcharter/estimate/time.h"

namespace kcharter::accuracy {
namespace {

// Documents by what makes them differ; a row's own batch and lengths are values of its variables.
class Charts {
 public:
  Charts(std::filesystem::path configs, std::filesystem::path truth)
      : configs_(std::move(configs)), truth_(std::move(truth)) {}

  const Document& of(const std::string& model, const std::string& words, Mode mode) {
    auto& chart = charts_[{model, words, mode}];
    if (!chart) chart = std::make_unique<Document>(analyzed(model, words, mode));
    return *chart;
  }

 private:
  Document analyzed(const std::string& model, const std::string& words, Mode mode) const {
    const auto config = config_of(model, configs_, truth_ / "configs");
    if (!config) throw Error("no configuration of '" + model + "'");
    AnalyzeOptions options;
    options.import.mode = mode;
    options.import.weight_formats = stored_as(words);
    options.import.kv_format =
        parse_element_format(words.find("fp8/bf16 KV") == std::string::npos ? "bf16" : "fp8");
    return std::move(analyze(*config, options).at(0));
  }

  std::filesystem::path configs_, truth_;
  std::map<std::tuple<std::string, std::string, Mode>, std::unique_ptr<Document>> charts_;
};

int64_t whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw Error("'" + std::string(text) + "' is no count");
  }
  return value;
}

Bindings values_at(const Document& document, int64_t batch, int64_t length) {
  Bindings values = document.values;
  values[std::string(kBatchSize)] = batch;
  values[std::string(kCurrentLength)] = length;
  values[std::string(kMaxLength)] = length;
  return values;
}

ModelTime time_at(const Document& document, int64_t batch, int64_t length, const Device& device) {
  return time_on(document.model, document.tree, document.estimate,
                 values_at(document, batch, length), device);
}

// Work is shared by the devices, launches are not.
double estimate_over(const ModelTime& time, double devices) {
  return time.estimate.launch + (time.estimate.total - time.estimate.launch) / devices;
}

void measure_step(const Row& row, Charts& charts, const Device& device, MeasuredStep& step) {
  const bool decode = step.phase == "decode";
  const Document& document =
      charts.of(step.model, step.words, decode ? Mode::kDecode : Mode::kPrefill);
  const int64_t context = whole(row.at("ctx"));
  // In decode the context is the past; the step's own token follows it.
  const ModelTime time = time_at(document, step.batch, decode ? context + 1 : context, device);
  const double tokens = static_cast<double>(decode ? step.batch : step.batch * context);
  step.seconds = {estimate_over(time, step.devices), tokens / number(row, "measured_tok_s"),
                  time.bound / step.devices};
  const auto& weights = document.estimate.summary[Metric::kWeightReadBytes].formula;
  if (row.at("weight_bytes_per_step").empty() || !weights) return;
  const Int read = weights->evaluate(values_at(document, step.batch, context + 1));
  step.weight_ratio = static_cast<double>(read) / number(row, "weight_bytes_per_step");
}

// "2048+128": so long a prompt and so many tokens, as many sequences at once as is fastest: only
// the operations are bound to be done. Seconds of one sequence.
void measure_throughput(const Row& row, Charts& charts, const Device& device, MeasuredStep& step) {
  const std::string& lengths = row.at("ctx");
  const size_t plus = lengths.find('+');
  if (plus == std::string::npos) throw Error("'" + lengths + "' is not PROMPT+TOKENS");
  const int64_t prompt = whole(std::string_view(lengths).substr(0, plus));
  const int64_t made = whole(std::string_view(lengths).substr(plus + 1));
  const ModelTime first =
      time_at(charts.of(step.model, step.words, Mode::kPrefill), 1, prompt, device);
  const ModelTime next =
      time_at(charts.of(step.model, step.words, Mode::kDecode), 1, prompt + 1, device);
  const double bound = first.bound_compute + static_cast<double>(made) * next.bound_compute;
  const double estimate =
      first.estimate.compute + static_cast<double>(made) * next.estimate.compute;
  step.seconds = {estimate / step.devices,
                  static_cast<double>(made) / number(row, "measured_tok_s"), bound / step.devices};
}

}  // namespace

std::vector<MeasuredStep> measured_steps(const std::filesystem::path& configs,
                                         const std::filesystem::path& truth) {
  Charts charts(configs, truth);
  std::vector<MeasuredStep> steps;
  for (const Row& row : read_csv(truth / "time_truth.csv")) {
    MeasuredStep& step = steps.emplace_back();
    try {
      step.model = row.at("model");
      step.device = row.at("device");
      step.phase = row.at("phase");
      step.words = row.at("quant");
      const auto device = device_called(step.device);
      if (!device) throw Error("no device '" + step.device + "'");
      step.memory_class = device->efficiency_class;
      step.devices = number(row, "n_dev");
      const bool largest = row.at("batch") == "max";
      step.batch = largest ? 0 : whole(row.at("batch"));
      largest ? measure_throughput(row, charts, *device, step)
              : measure_step(row, charts, *device, step);
    } catch (const std::exception& error) {
      step.problem = error.what();
    }
  }
  return steps;
}

}  // namespace kcharter::accuracy
