#include "import/architecture/family.h"

#include <span>
#include <vector>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// The first line of a model_type is the one for configurations that name no class.
constexpr Family kFamilies[] = {
    {"LlamaForCausalLM", "llama", build_llama},
    {"MistralForCausalLM", "mistral", build_mistral},
    {"Qwen2ForCausalLM", "qwen2", build_qwen2},
    {"Qwen3ForCausalLM", "qwen3", build_qwen3},
    {"GemmaForCausalLM", "gemma", build_gemma},
    {"Gemma2ForCausalLM", "gemma2", build_gemma2},
};

std::vector<Family>& registered() {
  static std::vector<Family> families;
  return families;
}

const Family* find_in(std::span<const Family> families, std::string_view architecture,
                      std::string_view model_type) {
  for (const Family& family : families) {
    bool same = architecture.empty() ? !model_type.empty() && family.model_type == model_type
                                     : family.architecture == architecture;
    if (same) return &family;
  }
  return nullptr;
}

}  // namespace

const Family* find_family(const ModelConfig& config) {
  std::vector<std::string> names = config.texts("architectures");
  std::string architecture = names.empty() ? config.text("_class_name") : names[0];
  std::string model_type = config.text("model_type");
  const Family* found = find_in(registered(), architecture, model_type);
  return found != nullptr ? found : find_in(kFamilies, architecture, model_type);
}

void register_family(const Family& family) { registered().push_back(family); }

}  // namespace kcharter
