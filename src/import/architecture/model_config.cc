#include "import/architecture/model_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

using nlohmann::json;

constexpr size_t kLargestText = size_t{64} << 20;
constexpr int kDeepest = 64;

struct Alias {
  const char* ours;
  const char* theirs;
};

// First match wins. Names that mean something else in some family (num_heads of T5, n_layers of
// DistilBERT) are still the same fact.
constexpr Alias kAliases[] = {
    {"hidden_size", "n_embd"},           {"hidden_size", "d_model"},
    {"hidden_size", "embed_dim"},        {"hidden_size", "dim"},
    {"hidden_size", "model_dim"},        {"num_hidden_layers", "n_layer"},
    {"num_hidden_layers", "n_layers"},   {"num_hidden_layers", "num_layers"},
    {"num_hidden_layers", "encoder_layers"},
    {"num_attention_heads", "n_head"},   {"num_attention_heads", "n_heads"},
    {"num_attention_heads", "num_heads"},
    {"num_attention_heads", "attention_heads"},
    {"num_attention_heads", "encoder_attention_heads"},
    {"num_key_value_heads", "n_head_kv"},
    {"num_key_value_heads", "num_kv_heads"},
    {"num_key_value_heads", "multi_query_group_num"},
    {"num_key_value_heads", "n_kv_heads"},
    {"intermediate_size", "n_inner"},    {"intermediate_size", "ffn_dim"},
    {"intermediate_size", "d_ff"},       {"intermediate_size", "ffn_hidden_size"},
    {"intermediate_size", "hidden_dim"}, {"intermediate_size", "encoder_ffn_dim"},
    {"max_position_embeddings", "n_positions"},
    {"max_position_embeddings", "n_ctx"},
    {"max_position_embeddings", "max_seq_len"},
    {"max_position_embeddings", "max_seq_length"},
    {"max_position_embeddings", "seq_length"},
    {"max_position_embeddings", "max_sequence_length"},
    {"max_position_embeddings", "model_max_length"},
    {"vocab_size", "padded_vocab_size"}, {"head_dim", "kv_channels"},
    {"head_dim", "attention_head_dim"},  {"num_experts", "num_local_experts"},
    {"num_experts", "n_routed_experts"}, {"num_experts", "moe_num_experts"},
    {"num_experts_per_tok", "num_experts_per_token"},
    {"num_experts_per_tok", "moe_top_k"},
    {"num_experts_per_tok", "moe_topk"},
    {"num_experts_per_tok", "experts_per_token"},
    {"num_experts_per_tok", "top_k_experts"},
    {"sliding_window", "sliding_window_size"},
    {"sliding_window", "attention_window_size"},
    {"hidden_act", "hidden_activation"}, {"hidden_act", "activation_function"},
    {"hidden_size", "vt_hidden_size"},   {"num_hidden_layers", "vt_num_hidden_layers"},
    {"num_hidden_layers", "depth"},      {"intermediate_size", "vt_intermediate_size"},
    {"num_attention_heads", "vt_num_attention_heads"},
    {"hidden_act", "activation"},        {"dtype", "torch_dtype"},
};

void translate_aliases(json& object) {
  for (const Alias& alias : kAliases) {
    if (object.contains(alias.ours) && !object[alias.ours].is_null()) continue;
    auto found = object.find(alias.theirs);
    if (found != object.end() && found->is_primitive() && !found->is_null()) {
      json copy = *found;
      object[alias.ours] = std::move(copy);
    }
  }
}

// Python writes NaN and Infinity, which JSON does not know: both become null.
std::string without_python_numbers(std::string_view text) {
  std::string result(text);
  bool in_string = false;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == '"') in_string = !in_string;
    if (in_string) {
      i += result[i] == '\\';
      continue;
    }
    for (std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (result.compare(i, word.size(), word) != 0) continue;
      result.replace(i, word.size(), "null" + std::string(word.size() > 4 ? word.size() - 4 : 0, ' '));
      break;
    }
  }
  return result;
}

}  // namespace

ModelConfig::ModelConfig() : json_(std::make_shared<const json>(json::object())) {}

ModelConfig::ModelConfig(std::shared_ptr<const json> value) : json_(std::move(value)) {}

ModelConfig ModelConfig::parse(std::string_view text) {
  if (text.size() > kLargestText) {
    throw Error("longer than a configuration can be: " + std::to_string(text.size()) + " bytes");
  }
  auto bounded = [](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) throw Error("nested deeper than " + std::to_string(kDeepest));
    return true;
  };
  json value;
  try {
    value = json::parse(without_python_numbers(text), bounded);
  } catch (const json::exception& error) {
    throw Error(std::string("not JSON: ") + error.what());
  }
  if (!value.is_object()) throw Error("a JSON object is expected, found " + std::string(value.type_name()));
  translate_aliases(value);
  return ModelConfig(std::make_shared<const json>(std::move(value)));
}

const json* ModelConfig::find(std::string_view key) const {
  auto found = json_->find(std::string(key));
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

bool ModelConfig::has(std::string_view key) const { return find(key) != nullptr; }
bool ModelConfig::mentions(std::string_view key) const { return json_->contains(std::string(key)); }
bool ModelConfig::empty() const { return json_->empty(); }

std::optional<int64_t> ModelConfig::integer(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  double approximate = value->get<double>();
  if (!(approximate >= -1 && approximate <= static_cast<double>(kLargest))) {
    throw Error("'" + std::string(key) + "' is " + value->dump() + ": outside 0 … 2^40");
  }
  if (value->is_number_float()) return std::llround(approximate);
  return value->get<int64_t>();
}

int64_t ModelConfig::integer(std::string_view key, int64_t fallback) const {
  return integer(key).value_or(fallback);
}

int64_t ModelConfig::require(std::string_view key) const {
  std::optional<int64_t> value = integer(key);
  if (!value) throw Error("'" + std::string(key) + "' is missing");
  if (*value < 0) throw Error("'" + std::string(key) + "' is negative: " + std::to_string(*value));
  return *value;
}

double ModelConfig::number(std::string_view key, double fallback) const {
  const json* value = find(key);
  return value != nullptr && value->is_number() ? value->get<double>() : fallback;
}

bool ModelConfig::flag(std::string_view key, bool fallback) const {
  const json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number_integer()) return value->get<int64_t>() != 0;
  if (*value == "true" || *value == "True") return true;
  if (*value == "false" || *value == "False") return false;
  return fallback;
}

std::string ModelConfig::text(std::string_view key, std::string_view fallback) const {
  const json* value = find(key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string(fallback);
}

std::vector<int64_t> ModelConfig::integers(std::string_view key) const {
  std::vector<int64_t> result;
  const json* value = find(key);
  if (value == nullptr || !value->is_array()) return result;
  for (const json& item : *value) {
    if (!item.is_number()) return {};
    double number = item.get<double>();
    if (!(std::abs(number) <= static_cast<double>(kLargest))) {
      throw Error("'" + std::string(key) + "' holds " + item.dump() + ": outside 2^40");
    }
    result.push_back(std::llround(number));
  }
  return result;
}

std::vector<std::string> ModelConfig::texts(std::string_view key) const {
  std::vector<std::string> result;
  const json* value = find(key);
  if (value == nullptr || !value->is_array()) return result;
  for (const json& item : *value) {
    if (item.is_string()) result.push_back(item.get<std::string>());
  }
  return result;
}

std::vector<bool> ModelConfig::flags(std::string_view key) const {
  std::vector<bool> result;
  const json* value = find(key);
  if (value == nullptr || !value->is_array()) return result;
  for (const json& item : *value) {
    if (!item.is_boolean()) return {};
    result.push_back(item.get<bool>());
  }
  return result;
}

ModelConfig ModelConfig::section(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr || !value->is_object()) return ModelConfig();
  json copy = *value;
  translate_aliases(copy);
  return ModelConfig(std::make_shared<const json>(std::move(copy)));
}

std::vector<ModelConfig> ModelConfig::sections(std::string_view key) const {
  std::vector<ModelConfig> result;
  const json* value = find(key);
  if (value == nullptr || !value->is_array()) return result;
  for (const json& item : *value) {
    if (item.is_object()) result.push_back(ModelConfig(std::make_shared<const json>(item)));
  }
  return result;
}

std::vector<std::string> ModelConfig::keys() const {
  std::vector<std::string> result;
  for (const auto& item : json_->items()) result.push_back(item.key());
  return result;
}

ModelConfig ModelConfig::with_defaults(const ModelConfig& defaults) const {
  json merged = *json_;
  for (const auto& item : defaults.json_->items()) {
    auto found = merged.find(item.key());
    if (found == merged.end() || found->is_null()) merged[item.key()] = item.value();
  }
  return ModelConfig(std::make_shared<const json>(std::move(merged)));
}

int64_t label_count(const ModelConfig& config) {
  size_t named = config.section("id2label").keys().size();
  return named > 0 ? static_cast<int64_t>(named) : config.integer("num_labels", 2);
}

}  // namespace kcharter
