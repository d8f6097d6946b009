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

// Whether `path` is an entry of a list: model.layers.7, model.layers[1:12].
bool is_list_entry(const std::string& path) {
  if (path.ends_with(']')) return true;
  const size_t dot = path.rfind('.');
  return dot != std::string::npos && dot + 1 < path.size() &&
         path.find_first_not_of("0123456789", dot + 1) == std::string::npos;
}

// A stage of a period of unequal layers (5 local, 1 global): its instances are slices.
bool is_period(const Json& module) {
  const Json instances = module.value("instances", Json::array());
  return !instances.empty() && instances[0].get<std::string>().ends_with(']');
}

Json layer_of(const Json& module, const Json& repeat, const std::string& cache) {
  return {{"repeat", repeat}, {"kind", module["kind"]}, {"cache", cache}};
}

constexpr int64_t kMostLayers = 2048;

// The members of a period as they run, one round after the other. False: it holds periods itself,
// or has too many members to list.
bool add_period(const Json& modules, const Json& period, const std::vector<std::string>& words,
                Json& list) {
  const Json& children = period["children"];
  const auto rounds = period["multiplicity"].get<int64_t>();
  if (children.empty() || rounds > kMostLayers / static_cast<int64_t>(children.size()) -
                                       static_cast<int64_t>(list.size())) {
    return false;
  }
  for (const Json& child : children) {
    if (is_period(modules[child.get<size_t>()])) return false;
  }
  for (int64_t round = 0; round < rounds; ++round) {
    for (const Json& child : children) {
      const auto id = child.get<size_t>();
      list.push_back(layer_of(modules[id], modules[id]["repeat"], words[id]));
    }
  }
  return true;
}

// The layers of a document as they run: what a card draws as the model's stack. Entries of lists
// that hold a stage, outermost only.
Json layers(const Json& document) {
  const Json& modules = document["modules"];
  const std::vector<std::string> words = cache_words(document);
  std::vector<bool> holds_stage(modules.size());
  for (const Json& module : modules) {
    const bool is_stage = module.value("stage", false);
    if (is_stage && module["parent"].is_number())
      holds_stage[module["parent"].get<size_t>()] = true;
  }
  Json list = Json::array();
  std::vector<size_t> open = {0};
  while (!open.empty()) {
    const size_t id = open.back();
    open.pop_back();
    const Json& module = modules[id];
    const Json& parent = module["parent"];
    const bool is_layer = parent.is_number() && holds_stage[parent.get<size_t>()] &&
                          is_list_entry(module["path"].get<std::string>());
    const bool is_in_period = parent.is_number() && is_period(modules[parent.get<size_t>()]);
    if ((is_layer || is_in_period) && !is_period(module)) {
      list.push_back(layer_of(module, module["multiplicity"], words[id]));
      continue;
    }
    if (is_period(module) && add_period(modules, module, words, list)) continue;
    const Json& children = module["children"];
    for (size_t i = children.size(); i-- > 0;) open.push_back(children[i].get<size_t>());
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
  // The folder may hold anything; what follows relies on a document's form.
  if (!is_document(text) || !validate_document(text).empty()) return;
  const Json document = Json::parse(text);
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
