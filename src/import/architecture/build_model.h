// build_model: a configuration → the graph its model runs in one mode, with every tensor there would
// be. A configuration of no known family, or one that lacks a needed fact, gives a Model without a
// graph (graph_known false) and a diagnostic that says why.
#pragma once

#include "import/architecture/graph_builder.h"
#include "import/architecture/model_config.h"

namespace kcharter {

Model build_model(const ModelConfig& config, const BuildOptions& options);

// "LlamaForCausalLM", or what else the configuration calls itself; empty: nothing.
std::string architecture_name(const ModelConfig& config);
// The positions it was trained or declared for.
std::optional<int64_t> context_limit_of(const ModelConfig& config);

}  // namespace kcharter
