#include "kcharter/estimate/engine.h"

#include <algorithm>

#include "estimate/engines/rule.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr EngineOption kLlamaCpp[] = {
    {"unified", "0", "1: all sequences share one buffer (-kvu)"},
    {"ubatch", "512", "tokens of one step, which a window holds besides its own (-ub)"},
    {"swa_full", "0", "1: windows take the full length (--swa-full)"},
    {"context_pad", "256", "a sequence's length is rounded up to this many tokens"},
    {"cache_type_k", "auto", "type of keys and latents; auto: f16 or --kv-dtype (-ctk)"},
    {"cache_type_v", "auto", "type of values (-ctv)"},
    {"mla", "latent", "latent, transposed (latent kept twice, without flash attention) or expanded"},
    {"rollback", "0", "further copies of recurrent states kept for each sequence"},
};

constexpr EngineOption kMlx[] = {
    {"step", "256", "a cache grows by this many tokens"},
    {"kv_bits", "0", "bits of quantized keys and values, 0: none"},
    {"kv_group_size", "64", "elements that share a scale and a bias"},
};

constexpr EngineOption kSglang[] = {
    {"page_size", "1", "tokens of a page"},
    {"swa_full_tokens_ratio", "0.8", "positions of a window's pool for one of the full pool"},
    {"mamba_slots", "3", "state slots for each running request"},
};

constexpr EngineOption kTensorrtLlm[] = {
    {"tokens_per_block", "32", "tokens of a block"},
};

constexpr EngineOption kTransformers[] = {
    {"cache_implementation", "dynamic", "dynamic, static or quantized"},
    {"mla", "latent", "latent, or expanded as before 2026"},
    {"nbits", "4", "bits of a quantized cache"},
    {"q_group_size", "64", "elements that share a scale and a zero point"},
    {"residual_length", "128", "latest tokens that a quantized cache keeps as they are"},
};

constexpr EngineOption kVllm[] = {
    {"block_size", "16", "tokens of a block; of hybrid models the multiple that blocks keep to"},
    {"max_num_batched_tokens", "8192", "tokens of one step, which a window holds besides its own"},
    {"num_speculative_tokens", "0", "draft tokens"},
    {"mamba_cache_mode", "none", "none, align or all: blocks of state kept for a sequence"},
    {"mamba_ssm_cache_dtype", "auto", "type of recurrent states; auto: the model's"},
    {"kv_scales", "none", "none, or per_token_head: one f32 for each token, head and side"},
    {"hybrid_kv_cache_manager", "1", "0: windows and chunks take the full length"},
};

using Allocate = void (*)(const EngineOptions&, Model&);

struct Rule {
  Engine engine;
  Allocate allocate;
};

constexpr Rule kRules[] = {
    {{"llama.cpp", kLlamaCpp}, allocate_as_llama_cpp},
    {{"mlx", kMlx}, allocate_as_mlx},
    {{"sglang", kSglang}, allocate_as_sglang},
    {{"tensorrt-llm", kTensorrtLlm}, allocate_as_tensorrt_llm},
    {{"transformers", kTransformers}, allocate_as_transformers},
    {{"vllm", kVllm}, allocate_as_vllm},
};

std::string names() {
  std::string all;
  for (const Rule& rule : kRules) all += (all.empty() ? "" : ", ") + std::string(rule.engine.name);
  return all;
}

std::string sentence(const Rule& rule, const EngineOptions& options) {
  std::string all;
  for (const EngineOption& option : rule.engine.options) {
    all += (all.empty() ? "" : ", ") + std::string(option.key) + " " + options.text(option.key);
  }
  return "Caches and states are allocated as " + std::string(rule.engine.name) + " does: " + all + ".";
}

}  // namespace

std::span<const Engine> engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> engines;
    for (const Rule& rule : kRules) engines.push_back(rule.engine);
    return engines;
  }();
  return all;
}

void allocate_as(const EngineRequest& request, Model& model) {
  const auto rule = std::ranges::find(kRules, request.name, [](const Rule& r) { return r.engine.name; });
  if (rule == std::end(kRules)) {
    throw UsageError("--engine: '" + request.name + "' is not known; there are " + names());
  }
  const EngineOptions options(rule->engine, request);
  rule->allocate(options, model);
  for (Cache& cache : model.graph.caches) {
    cache.by_rule = true;
    if (layout_of(model.graph, cache).kind != CacheLayout::Kind::kOther) continue;
    cache.by_rule = false;
    model.diagnostics.add(Severity::kWarning, "engine-not-applied", "cache '" + cache.name + "'",
                          "what kind of layer keeps it is not known: it is allocated as its data needs");
  }
  model.conventions.push_back(sentence(*rule, options));
}

}  // namespace kcharter
