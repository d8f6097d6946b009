// ai.onnx.ml, text, random numbers and control flow.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// One multiply-add per feature and score: the coefficients are those of all scores.
Work linear_work(const Graph& graph, const Node& node) {
  const Attribute* coefficients = find_attribute(node, "coefficients");
  const Shape* features = input_shape(graph, node, 0);
  if (coefficients == nullptr || features == nullptr) return {.flops = std::nullopt};
  const auto* numbers = std::get_if<std::vector<double>>(&coefficients->value);
  if (numbers == nullptr) return {.flops = std::nullopt};
  Dim rows = features->size() < 2 ? Dim(Expr(1)) : features->front();
  return {.flops = times(rows, Expr(2 * static_cast<int64_t>(numbers->size())))};
}

// The depth of the path taken depends on the data.
Work data_dependent_work(const Graph&, const Node&) { return {.elementwise_flops = std::nullopt}; }

// The nodes of the bodies are counted, the owner is not.
Work control_flow_work(const Graph&, const Node& node) {
  return {.read_elements = std::vector<Dim>(node.inputs.size(), Expr(0)),
          .written_elements = std::vector<Dim>(node.outputs.size(), Expr(0))};
}

}  // namespace

OperatorFamily classical_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "If", {.work = control_flow_work}},
      {kOnnx, "Loop", {.work = control_flow_work}},
      {kOnnx, "Scan", {.work = control_flow_work}},
      {kOnnx, "SequenceMap", {.work = control_flow_work}},
      {kMicrosoft, "BeamSearch", {.work = control_flow_work}},
      {kMicrosoft, "WhisperBeamSearch", {.work = control_flow_work}},
      {kMicrosoft, "GreedySearch", {.work = control_flow_work}},
      {kMicrosoft, "Sampling", {.is_random = true, .work = control_flow_work}},
      {kOnnx, "RandomNormal", {.is_random = true}},
      {kOnnx, "RandomNormalLike", {.is_random = true}},
      {kOnnx, "RandomUniform", {.is_random = true}},
      {kOnnx, "RandomUniformLike", {.is_random = true}},
      {kOnnx, "Bernoulli", {.is_random = true}},
      {kOnnx, "Multinomial", {.is_random = true}},
      {kOnnx, "StringNormalizer", {.work = moves_data}},
      {kOnnx, "StringConcat", {.work = moves_data}},
      {kOnnx, "StringSplit", {.work = moves_data}},
      {kOnnx, "RegexFullMatch", {.work = moves_data}},
      {kOnnx, "TfIdfVectorizer", {.work = per_input_element<1>}},
      {kOnnxMl, "ArrayFeatureExtractor", {.work = reads_what_it_writes}},
      {kOnnxMl, "Binarizer", {}},
      {kOnnxMl, "CastMap", {.work = moves_data}},
      {kOnnxMl, "CategoryMapper", {.work = moves_data}},
      {kOnnxMl, "DictVectorizer", {.work = moves_data}},
      {kOnnxMl, "FeatureVectorizer", {.work = moves_data}},
      {kOnnxMl, "Imputer", {}},
      {kOnnxMl, "LabelEncoder", {.work = moves_data}},
      {kOnnxMl, "LinearClassifier", {.work = linear_work}},
      {kOnnxMl, "LinearRegressor", {.work = linear_work}},
      {kOnnxMl, "Normalizer", {.work = per_output_element<3>}},
      {kOnnxMl, "OneHotEncoder", {.work = moves_data}},
      {kOnnxMl, "Scaler", {.work = per_output_element<2>}},
      {kOnnxMl, "SVMClassifier", {.work = data_dependent_work}},
      {kOnnxMl, "SVMRegressor", {.work = data_dependent_work}},
      {kOnnxMl, "TreeEnsemble", {.work = data_dependent_work}},
      {kOnnxMl, "TreeEnsembleClassifier", {.work = data_dependent_work}},
      {kOnnxMl, "TreeEnsembleRegressor", {.work = data_dependent_work}},
      {kOnnxMl, "ZipMap", {.work = moves_data}},
      {kMicrosoft, "RelativePositionBias", {.work = reads_what_it_writes}},
      {kMicrosoft, "GatedRelativePositionBias", {.work = per_output_element<4>}},
  };
  return kEntries;
}

}  // namespace kcharter
