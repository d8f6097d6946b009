// Every tensor that a configuration implies, against the reference implementations' own lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "import/architecture/build_model.h"
#include "kcharter/base/error.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, std::vector<int64_t>>;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> names_in(const json& list) {
  std::set<std::string> names;
  for (const json& item : list) names.insert(item.is_string() ? item.get<std::string>() : item[0].get<std::string>());
  return names;
}

Tensors built_tensors(const Model& model) {
  Tensors tensors;
  for (const Initializer& initializer : model.graph.initializers) {
    if (initializer.role == TensorRole::kParameter && !initializer.alias_of) {
      tensors[initializer.name] = initializer.dims;
    }
  }
  return tensors;
}

int64_t parameters_of(const Tensors& tensors) {
  int64_t sum = 0;
  for (const auto& [name, dims] : tensors) {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    sum += product;
  }
  return sum;
}

std::string text(const std::string& name, const std::vector<int64_t>& dims) {
  return name + " " + json(dims).dump();
}

// What differs, at most a few lines; empty: equal.
std::string difference(const Tensors& expected, const Tensors& built) {
  std::string result;
  int lines = 0;
  auto note = [&](const std::string& line) {
    if (++lines <= 6) result += "    " + line + "\n";
  };
  for (const auto& [name, dims] : expected) {
    auto found = built.find(name);
    if (found == built.end()) note("missing " + text(name, dims));
    else if (found->second != dims) note("wrong " + text(name, dims) + " built " + json(found->second).dump());
  }
  for (const auto& [name, dims] : built) {
    if (!expected.contains(name)) note("extra " + text(name, dims));
  }
  return lines > 6 ? result + "    … " + std::to_string(lines) + " lines\n" : result;
}

TEST(Architecture, TensorsEqualTheReferenceImplementations) {
  auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no shared folder";
  std::ifstream lines(*shared / "truth" / "tensors.jsonl");
  std::string line;
  int rows = 0, equal = 0;
  while (std::getline(lines, line)) {
    json row = json::parse(line);
    std::string config_name = row["config"];
    count_case("tensors.jsonl");
    ++rows;
    json raw = json::parse(read(*shared / "truth" / "configs" / config_name));
    // The row's class is what was instantiated, whatever the configuration says.
    raw["architectures"] = {row["class"]};
    raw.erase("quantization_config");
    Model model = build_model(ModelConfig::parse(raw.dump()), BuildOptions{});
    Tensors expected;
    std::set<std::string> aside = names_in(row["tied"]);
    aside.merge(names_in(row["buffers"]));
    for (const json& tensor : row["tensors"]) {
      if (!aside.contains(tensor[0])) expected[tensor[0]] = tensor[1].get<std::vector<int64_t>>();
    }
    Tensors built = built_tensors(model);
    std::string what = difference(expected, built);
    if (!model.graph_known) what = "    " + model.diagnostics.all()[0].message + "\n";
    if (what.empty() && parameters_of(built) != row["parameters"].get<int64_t>()) {
      what = "    parameters " + row["parameters"].dump() + " built " + std::to_string(parameters_of(built)) + "\n";
    }
    equal += what.empty();
    if (!what.empty()) {
      std::printf("DIFFERS %s %s\n%s", config_name.c_str(), row["class"].get<std::string>().c_str(), what.c_str());
    }
  }
  std::printf("tensors.jsonl: %d of %d models equal in every tensor's name and shape and in parameters\n",
              equal, rows);
  EXPECT_GE(equal, 90);
}

}  // namespace
}  // namespace kcharter::truth
