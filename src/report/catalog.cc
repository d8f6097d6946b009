#include "report/catalog.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/base/version.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFacts[] = {
    "name",          "format", "architecture", "parameters", "active_parameters", "stored_elements",
    "context_limit", "dtypes"};

// The caches in and below a module, in one word. Parents stand before children, so that a walk from
// the last module up carries what a module holds to its parent.
std::vector<std::string> cache_words(const Json& document) {
  const Json& modules = document["modules"];
  const Json& caches = document["caches"];
  const Json& formulas = document["formulas"];
  std::vector<std::string> words(modules.size(), "none");
  const auto rank = [](const std::string& word) {
    return word == "key_value" ? 3 : word == "window" ? 2 : word == "state" ? 1 : 0;
  };
  const auto raise = [&](size_t module, const std::string& word) {
    if (rank(word) > rank(words[module])) words[module] = word;
  };
  for (size_t id = modules.size(); id-- > 0;) {
    for (const Json& index : modules[id].value("caches", Json::array())) {
      const Json& cache = caches.at(index.get<size_t>());
      std::string word = cache.value("kind", "key_value") == "state" ? "state" : "key_value";
      // A window is what keeps the shape from growing past it: min(window,max_length).
      for (const Json& dim :
           cache.value("shape", Json()).is_array() ? cache["shape"] : Json::array()) {
        if (word == "key_value" && dim.is_number_unsigned() &&
            formulas.at(dim.get<size_t>()).get<std::string>().starts_with("min(")) {
          word = "window";
        }
      }
      raise(id, word);
    }
    const Json& parent = modules[id]["parent"];
    if (parent.is_number_unsigned()) raise(parent.get<size_t>(), words[id]);
  }
  return words;
}

// The stages of a document in order, outermost only: what a card draws as the model's stack.
Json layers(const Json& document) {
  const Json& modules = document["modules"];
  const std::vector<std::string> words = cache_words(document);
  std::vector<bool> is_inside(modules.size());
  Json list = Json::array();
  for (size_t id = 0; id < modules.size(); ++id) {
    const Json& module = modules[id];
    const Json& parent = module["parent"];
    const bool is_inside_stage = parent.is_number_unsigned() && is_inside[parent.get<size_t>()];
    const bool is_stage = module.value("stage", false);
    is_inside[id] = is_inside_stage || is_stage;
    if (!is_stage || is_inside_stage) continue;
    list.push_back({{"repeat", module["repeat"]}, {"kind", module["kind"]}, {"cache", words[id]}});
  }
  return list;
}

int count_exactness(const Json& summary, std::string_view exactness) {
  return static_cast<int>(std::count_if(summary.begin(), summary.end(), [&](const Json& quantity) {
    return quantity.value("exactness", "") == exactness;
  }));
}

Json mode_entry(const Json& document, const std::string& file_name) {
  Json diagnostics = {{"note", 0}, {"warning", 0}, {"error", 0}};
  for (const Json& diagnostic : document["diagnostics"]) {
    Json& count = diagnostics[diagnostic.value("severity", "note")];
    count = count.is_number() ? count.get<int>() + 1 : 1;
  }
  return {{"document", file_name},
          {"variables", document["variables"]},
          {"summary", document["summary"]},
          {"diagnostics", diagnostics},
          {"unknown", count_exactness(document["summary"], "unknown")},
          {"assumed", count_exactness(document["summary"], "assumed")}};
}

void add_document(const std::filesystem::path& path, std::map<std::string, Json>* models) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Json document = Json::parse(text);
  if (document.value("schema", "") != "kcharter.document") return;
  const std::string name = document.at("model").at("name");
  Json& model = (*models)[name];
  if (model.is_null()) {
    for (const char* fact : kFacts) model[fact] = document["model"].value(fact, Json());
    model["layers"] = layers(document);
    model["modes"] = Json::object();
  }
  model["modes"][document.at("mode").get<std::string>()] =
      mode_entry(document, path.filename().string());
}

}  // namespace

std::string catalog(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".prefill.json") || name.ends_with(".decode.json")) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::map<std::string, Json> models;
  for (const std::filesystem::path& path : paths) {
    try {
      add_document(path, &models);
    } catch (const Json::exception&) {
      // Somebody else's file; what kcharter adds was checked before.
    }
  }
  Json catalogue = {{"schema", "kcharter.catalog"},
                    {"schema_version", "1.0"},
                    {"generator", {{"name", "kcharter"}, {"version", version()}}},
                    {"models", Json::array()}};
  for (auto& [name, model] : models) catalogue["models"].push_back(std::move(model));
  return catalogue.dump(1) + "\n";
}

}  // namespace kcharter
