#include "kcharter/analyze/analyze.h"

#include <utility>

#include "kcharter/advise/advise.h"
#include "kcharter/estimate/caches.h"
#include "kcharter/model/domains.h"
#include "kcharter/ops/mark_weights.h"
#include "kcharter/shape/infer_shapes.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {
namespace {

constexpr int64_t kMostDevices = 1024;  // in one group

Bindings bind(const Workload& workload, const Model& model) {
  Bindings values;
  values[std::string(kBatchSize)] = workload.batch;
  values[std::string(kCurrentLength)] = workload.current_length;
  values[std::string(kMaxLength)] = workload.max_length.value_or(workload.current_length);
  for (const Variable& variable : model.variables) values[variable.name] = variable.value;
  values[std::string(kTensorParallelSize)] = workload.tensor_parallel;
  values[std::string(kPipelineParallelSize)] = workload.pipeline_parallel;
  values[std::string(kExpertParallelSize)] = workload.expert_parallel;
  values[std::string(kDataParallelSize)] = workload.data_parallel;
  values[std::string(kPipelineStage)] = 0;
  return values;
}

void check(const Workload& workload) {
  const auto at_least_one = [](std::string_view option, int64_t value) {
    if (value < 1) {
      throw UsageError(std::string(option) + " is " + std::to_string(value) + ", not at least 1");
    }
  };
  at_least_one("--batch", workload.batch);
  at_least_one("--seq", workload.current_length);
  const auto group = [&](std::string_view option, int64_t value) {
    at_least_one(option, value);
    if (value > kMostDevices) {
      throw UsageError(std::string(option) + " is " + std::to_string(value) + ", more than " +
                       std::to_string(kMostDevices));
    }
  };
  group("--tensor-parallel", workload.tensor_parallel);
  group("--pipeline-parallel", workload.pipeline_parallel);
  group("--expert-parallel", workload.expert_parallel);
  group("--data-parallel", workload.data_parallel);
  if (workload.prefill_chunk) at_least_one("--prefill-chunk", *workload.prefill_chunk);
  if (workload.max_length && *workload.max_length < workload.current_length) {
    throw UsageError("--max-seq is " + std::to_string(*workload.max_length) +
                     ", less than the current length of " +
                     std::to_string(workload.current_length) + " (--seq)");
  }
}

// A model still computes past the length it was trained for, but what it says there is worth
// little.
void warn_past_limit(const Workload& workload, Model* model) {
  if (!model->context_limit) return;
  const auto warn = [&](std::string_view option, int64_t value) {
    if (value <= *model->context_limit) return false;
    model->diagnostics.add(
        Severity::kWarning, "past-context-limit", std::string(option) + " " + std::to_string(value),
        std::to_string(value) + " tokens are more than the " +
            std::to_string(*model->context_limit) + " the model was trained or declared for");
    return true;
  };
  if (!warn("--seq", workload.current_length) && workload.max_length) {
    warn("--max-seq", *workload.max_length);
  }
}

// The head then reads every token in the place of the last.
void compute_all_logits(Model* model) {
  if (model->format == Format::kOnnx || !model->can_decode) return;
  for (Node& node : model->graph.nodes) {
    if (node.domain != kOurs || node.op_type != "LastToken") continue;
    node.domain = kOnnx;
    node.op_type = "Identity";
    node.since_version = 1;
    model->conventions.push_back("The logits of all tokens are computed (--logits all).");
  }
}

// A graph that is a file takes its tokens at once, as it says.
bool can_chunk(const Workload& workload, Model* model) {
  if (!workload.prefill_chunk || model->mode != Mode::kPrefill) return false;
  if (model->format != Format::kOnnx) return true;
  model->diagnostics.add(Severity::kWarning, "policy-not-applied", "--prefill-chunk",
                         "an exported graph computes its tokens at once, so the activation peak is "
                         "that of a whole prefill");
  return false;
}

Document chart(Model model, const AnalyzeOptions& options) {
  if (!options.name.empty()) model.name = options.name;
  if (options.all_logits) compute_all_logits(&model);
  model = mark_weights(infer_shapes(std::move(model)));
  if (options.engine) allocate_as(*options.engine, model);
  warn_past_limit(options.workload, &model);
  Document document;
  document.values = bind(options.workload, model);
  document.tree = build_module_tree(model);
  EstimateOptions policies = options.estimate;
  policies.prefill_in_chunks = can_chunk(options.workload, &model);
  if (policies.prefill_in_chunks) {
    document.values[std::string(kPrefillChunkLength)] = *options.workload.prefill_chunk;
  }
  // An engine's pages are numbers of its own.
  const bool turns_block = options.kv_block_variables && !options.engine;
  const auto block = turns_block ? common_kv_format(model.graph) : std::nullopt;
  policies.kv_blocks = block.has_value();
  if (block) {
    document.values[std::string(kKvBlockElements)] = block->block_elements;
    document.values[std::string(kKvBlockBytes)] = block->block_bytes;
  }
  document.estimate = estimate(model, document.tree, document.values, policies);
  document.policies = policies;
  document.advice = advise(model, document.tree, document.estimate, document.values);
  document.values = fullest_stage(document.estimate.parallel.total_bytes, document.values);
  document.model = std::move(model);
  return document;
}

}  // namespace

std::vector<Document> analyze(const std::filesystem::path& path, const AnalyzeOptions& options) {
  check(options.workload);
  std::vector<Document> documents;
  documents.push_back(chart(import_model(path, options.import), options));
  if (!options.import.mode && documents.front().model.can_decode) {
    ImportOptions decode = options.import;
    decode.mode = Mode::kDecode;
    documents.push_back(chart(import_model(path, decode), options));
  }
  return documents;
}

}  // namespace kcharter
