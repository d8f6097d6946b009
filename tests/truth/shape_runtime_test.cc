// Every node output of 39 models as ONNX Runtime computed it at given sizes: formulas, inferred for
// the mode that the sizes belong to, must give the same types once the variables have values.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "kcharter/import/import_model.h"
#include "kcharter/shape/infer_shapes.h"
#include "truth/shared_files.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;
using truth::corpus_dir;
using truth::count_case;

// Nodes whose shape at run time is no shape that the graph implies, by case and name.
const std::map<std::string, std::set<std::string>> kExceptions = {};

DType runtime_dtype(const std::string& name) {
  if (name == "float") return DType::kF32;
  if (name == "double") return DType::kF64;
  return parse_dtype(name).value_or(DType::kUnknown);
}

struct Sizes {
  std::map<std::string, int64_t> symbols;  // the model's own
  Mode mode = Mode::kPrefill;
  int64_t current_length = 1;
  int64_t batch = 1;
};

int64_t first_of(const std::map<std::string, int64_t>& symbols,
                 std::initializer_list<const char*> names, int64_t fallback) {
  for (const char* name : names) {
    if (const auto found = symbols.find(name); found != symbols.end()) return found->second;
  }
  return fallback;
}

Sizes sizes_of(const Json& test) {
  Sizes sizes;
  for (const auto& [symbol, value] : test["dims"].items()) sizes.symbols[symbol] = value;
  const int64_t past = first_of(sizes.symbols, {"past_sequence_length", "past_seq_len"}, 0);
  const int64_t tokens =
      first_of(sizes.symbols, {"sequence_length", "seq_len", "seq", "encoder_sequence_length"}, 1);
  sizes.mode = past > 0 ? Mode::kDecode : Mode::kPrefill;
  sizes.current_length = past + tokens;
  sizes.batch = first_of(sizes.symbols, {"batch_size", "batch", "unk__214"}, 1);
  return sizes;
}

Bindings bindings_for(const Model& model, const Sizes& sizes) {
  Bindings bindings{{std::string(kBatchSize), sizes.batch},
                    {std::string(kCurrentLength), sizes.current_length},
                    {std::string(kMaxLength), sizes.current_length}};
  for (const Variable& variable : model.variables) {
    const auto symbol = sizes.symbols.find(variable.label);
    bindings[variable.name] = symbol == sizes.symbols.end() ? variable.value : symbol->second;
  }
  return bindings;
}

// A symbol that the mode gives another value than the case has is bound to the case's number. Of an
// empty cache the runtime takes any number of heads, so that such a case says nothing.
std::map<std::string, int64_t> symbols_to_bind(const Model& model, const Sizes& sizes) {
  const Bindings bindings = bindings_for(model, sizes);
  std::map<std::string, int64_t> dims;
  for (const auto& [symbol, value] : sizes.symbols) {
    const auto bound = model.bindings.find(symbol);
    if (symbol.find(" x ") != std::string::npos && sizes.mode == Mode::kPrefill) continue;
    if (bound != model.bindings.end() && bound->second.evaluate(bindings) != value) {
      dims[symbol] = value;
    }
  }
  return dims;
}

std::string evaluated(const TensorType& type, const Bindings& bindings) {
  std::string text = std::string(name(type.dtype)) + "[";
  if (!type.shape) return text + "?]";
  for (const Dim& dim : *type.shape) {
    text += (text.back() == '[' ? "" : ",") + (dim ? to_string(dim->evaluate(bindings)) : "?");
  }
  return text + "]";
}

std::string expected(const Json& output) {
  std::string text = std::string(name(runtime_dtype(output[0]))) + "[";
  for (const auto& size : output[1]) {
    text += (text.back() == '[' ? "" : ",") + std::to_string(size.get<int64_t>());
  }
  return text + "]";
}

struct Outcome {
  int equal = 0;
  int different = 0;
  int not_found = 0;
};

Outcome compare(const Model& model, const Sizes& sizes, const Json& test) {
  const Bindings bindings = bindings_for(model, sizes);
  std::map<std::string, const Node*> by_name;
  for (const Node& node : model.graph.nodes) {
    if (model.graph[node.region].runs != RegionRuns::kNo) by_name.emplace(node.name, &node);
  }
  const std::string case_name = test["case"];
  const auto exceptions = kExceptions.find(case_name);
  Outcome outcome;
  for (const auto& [node_name, run] : test["nodes"].items()) {
    const auto found = by_name.find(node_name);
    if (found == by_name.end() || found->second->op_type != run["op"].get<std::string>()) {
      ++outcome.not_found;
      continue;
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : found->second->outputs) {
      if (output) outputs.push_back(output);
    }
    for (size_t i = 0; i < run["out"].size() && i < outputs.size(); ++i) {
      const std::string want = expected(run["out"][i]);
      const std::string have = evaluated(model.graph[outputs[i]].type, bindings);
      if (want == have) {
        ++outcome.equal;
      } else if (exceptions == kExceptions.end() || !exceptions->second.contains(node_name)) {
        ++outcome.different;
        ADD_FAILURE() << case_name << ": node '" << node_name << "' (" << run["op"] << "): runtime "
                      << want << ", inferred " << have << " = "
                      << to_string(model.graph[outputs[i]].type);
      }
    }
  }
  return outcome;
}

TEST(RuntimeShapes, EqualOnceBound) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  std::ifstream file(*corpus / "ort_shapes.jsonl");
  std::string line;
  Outcome total;
  while (std::getline(file, line)) {
    const Json test = Json::parse(line);
    const std::filesystem::path path = *corpus / test["model"].get<std::string>();
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(test["case"].get<std::string>());
    const Sizes sizes = sizes_of(test);
    ImportOptions options;
    options.mode = sizes.mode;
    Model model = import_model(path, options);
    options.dims = symbols_to_bind(model, sizes);
    if (!options.dims.empty()) model = import_model(path, options);
    const Outcome outcome = compare(infer_shapes(std::move(model)), sizes, test);
    EXPECT_GT(outcome.equal, 0);
    total.equal += outcome.equal;
    total.different += outcome.different;
    total.not_found += outcome.not_found;
    count_case("ort_shapes.jsonl");
  }
  std::cout << "node outputs equal to the runtime's: " << total.equal
            << ", different: " << total.different
            << ", nodes under other names: " << total.not_found << "\n";
}

}  // namespace
}  // namespace kcharter
