#include "import/architecture/build_model.h"

#include "import/architecture/family.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

Model without_graph(const ModelConfig& config, const BuildOptions& options, std::string_view code,
                    const std::string& why) {
  Model model;
  model.architecture = architecture_name(config);
  model.mode = options.mode;
  model.graph.regions.emplace_back();
  model.graph.scopes.emplace_back();
  model.graph_known = false;
  model.diagnostics.add(Severity::kWarning, code, "config.json",
                        why + ": work and cache are unknown");
  return model;
}

}  // namespace

std::optional<int64_t> context_limit_of(const ModelConfig& config) {
  for (const char* nested : {"text_config", "llm_config", "language_config"}) {
    auto limit = config.section(nested).integer("max_position_embeddings");
    if (limit) return limit;
  }
  return config.integer("max_position_embeddings");
}

std::string architecture_name(const ModelConfig& config) {
  std::vector<std::string> names = config.texts("architectures");
  if (!names.empty()) return names[0];
  std::string name = config.text("_class_name");
  return name.empty() ? config.text("model_type") : name;
}

Model build_model(const ModelConfig& config, const BuildOptions& options) {
  const Family* family = find_family(config);
  if (family == nullptr && config.has("peft_type")) {
    std::string base = config.text("base_model_name_or_path", "a model it does not name");
    return without_graph(config, options, "unknown-architecture", "an adapter (" + config.text("peft_type") +
                         ") to " + base + " is charted without the model it changes");
  }
  if (family == nullptr) {
    std::string name = architecture_name(config);
    return without_graph(config, options, "unknown-architecture",
                         name.empty() ? "the configuration names no architecture"
                                      : "architecture '" + name + "' is not known");
  }
  try {
    GraphBuilder builder(options);
    builder.architecture = family->architecture;
    builder.context_limit = context_limit_of(config);
    family->build(builder, config);
    return builder.finish();
  } catch (const Error& error) {
    return without_graph(config, options, "incomplete-config",
                         std::string(family->architecture) + ": " + error.what());
  }
}

}  // namespace kcharter
