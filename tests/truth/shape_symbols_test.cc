// Sizes of a model's inputs are replaced by symbols at random; what is inferred must be, with the
// symbols bound to the sizes, what is inferred of the sizes themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "kcharter/import/import_model.h"
#include "kcharter/shape/infer_shapes.h"
#include "truth/shared_files.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;
using truth::corpus_dir;
using truth::count_case;

constexpr size_t kMostNodes = 4000;

Bindings odd_sizes(const Model& model) {
  Bindings bindings{{std::string(kBatchSize), 3},
                    {std::string(kCurrentLength), 37},
                    {std::string(kMaxLength), 53}};
  // Images of no size give no picture of an image network.
  for (const Variable& variable : model.variables) bindings[variable.name] = 64;
  return bindings;
}

// Every input dimension as a number.
Model with_numbers(Model model, const Bindings& bindings) {
  for (const ValueId input : model.graph.inputs) {
    auto& shape = model.graph[input].type.shape;
    for (size_t i = 0; shape && i < shape->size(); ++i) {
      if ((*shape)[i]) (*shape)[i] = Expr((*shape)[i]->evaluate(bindings));
    }
  }
  return model;
}

// Numbers of at least 2 become symbols, each with an even chance; equal numbers the same one.
Model with_symbols(Model model, std::mt19937& random, Bindings& bindings) {
  std::map<Int, bool> chosen;
  for (const ValueId input : model.graph.inputs) {
    auto& shape = model.graph[input].type.shape;
    for (size_t i = 0; shape && i < shape->size(); ++i) {
      const auto size = (*shape)[i] ? (*shape)[i]->constant() : std::nullopt;
      if (!size || *size < 2) continue;
      const auto [at, is_new] = chosen.emplace(*size, random() % 2 == 0);
      if (!at->second) continue;
      const std::string name = "size_of_" + to_string(*size);
      if (is_new) model.variables.push_back({name, name, to_int64(*size), 1});
      bindings[name] = *size;
      (*shape)[i] = Expr::variable(name);
    }
  }
  return model;
}

struct Outcome {
  int64_t equal = 0;
  int64_t unknown = 0;  // with symbols only
  std::string wrong;
};

void compare(const Model& numbers, const Model& symbols, const Bindings& bindings,
             const std::string& file, Outcome& outcome) {
  for (const Node& node : numbers.graph.nodes) {
    for (const ValueId output : node.outputs) {
      if (!output) continue;
      const TensorType& want = numbers.graph[output].type;
      const TensorType& have = symbols.graph[output].type;
      // Sizes that contradict the graph say nothing.
      if (!want.shape || want.dtype == DType::kUnknown) continue;
      bool right =
          have.dtype == want.dtype && have.shape && have.shape->size() == want.shape->size();
      bool known = have.shape.has_value();
      for (size_t i = 0; right && i < want.shape->size(); ++i) {
        const auto size = (*want.shape)[i] ? (*want.shape)[i]->constant() : std::nullopt;
        const Dim& dim = (*have.shape)[i];
        if (!size) continue;
        if (!dim) known = false;
        bool bound = dim.has_value();
        for (const std::string& name : dim ? dim->variables() : std::set<std::string>()) {
          bound = bound && bindings.contains(name);  // not a number that depends on data
        }
        if (bound) right = dim->evaluate(bindings) == *size;
      }
      if (!known) {
        ++outcome.unknown;
      } else if (right) {
        ++outcome.equal;
      } else {
        outcome.wrong += file + ": node '" + node.name + "' (" + node.op_type +
                         "): " + to_string(want) + ", with symbols " + to_string(have) + "\n";
      }
    }
  }
}

TEST(SymbolicShapes, EqualThoseOfNumbers) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  std::vector<fs::path> paths;
  for (const char* origin : {"onnx-node", "optimum-1.16.2-torch1.13", "ort-genai-builder-0.4.0",
                             "torchvision-0.14-torch1.13-random", "mobius/tiny", "ort-tools"}) {
    if (!fs::exists(*corpus / origin)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(*corpus / origin)) {
      if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::mt19937 random(20240229);
  Outcome outcome;
  for (const fs::path& path : paths) {
    Model model;
    try {
      model = import_model(path, {});
    } catch (const std::exception&) {
      continue;
    }
    if (model.graph.nodes.size() > kMostNodes) continue;
    for (Value& value : model.graph.values) value.declared = std::nullopt;
    Bindings bindings = odd_sizes(model);
    const Model numbers = with_numbers(model, bindings);
    const Model symbols = infer_shapes(with_symbols(numbers, random, bindings));
    compare(infer_shapes(numbers), symbols, bindings, path.lexically_relative(*corpus).string(),
            outcome);
    count_case("random symbols");
  }
  std::cout << "outputs with random symbols: " << outcome.equal << " equal to those of numbers, "
            << outcome.unknown << " unknown\n";
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_LT(outcome.unknown * 50, outcome.equal);
}

}  // namespace
}  // namespace kcharter
