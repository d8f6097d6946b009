// ModelConfig: the facts of a config.json under one set of names.
//
//   ModelConfig config = ModelConfig::parse(R"({"n_embd": 768})");
//   config.require("hidden_size");  // 768
//
// Aliases of other tools (n_embd, d_model, n_ctx …) are translated here and nowhere else: a family
// asks for the names of the glossary. A fact that is absent is nullopt; where a family cannot go on
// without it, require() throws an Error that names it.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

class ModelConfig {
 public:
  // A count or size above this is taken for damage: 2^40.
  static constexpr int64_t kLargest = int64_t{1} << 40;

  ModelConfig();
  // Throws Error: not JSON, not an object, nested or long beyond reason.
  static ModelConfig parse(std::string_view text);

  bool has(std::string_view key) const;  // present and not null
  bool mentions(std::string_view key) const;  // present, be it as null
  bool empty() const;
  // nullopt: absent, null, of another kind. Throws Error on a negative or absurd number.
  std::optional<int64_t> integer(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t fallback) const;
  int64_t require(std::string_view key) const;
  double number(std::string_view key, double fallback) const;
  bool flag(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, std::string_view fallback = {}) const;
  std::vector<int64_t> integers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<bool> flags(std::string_view key) const;

  // A nested object: empty where absent. "text_config" and the like come with aliases translated.
  ModelConfig section(std::string_view key) const;
  std::vector<ModelConfig> sections(std::string_view key) const;  // a list of objects
  std::vector<std::string> keys() const;
  // This one, with the facts it lacks taken from `defaults`.
  ModelConfig with_defaults(const ModelConfig& defaults) const;

 private:
  explicit ModelConfig(std::shared_ptr<const nlohmann::json> json);
  const nlohmann::json* find(std::string_view key) const;
  std::shared_ptr<const nlohmann::json> json_;
};

// Classes of a classifier: id2label, num_labels, or 2 as transformers assumes.
int64_t label_count(const ModelConfig& config);

}  // namespace kcharter
