// ai.onnx.ml, text, random numbers, training and control flow.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// One multiply-add per feature and score.
Work linear_work(const Graph& graph, const Node& node) {
  size_t scores = node.op_type == "LinearClassifier" ? 1 : 0;
  Dim count = output_elements(graph, node, scores);
  return {.flops = times(times(Expr(2), input_dim(graph, node, 0, -1)), count)};
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
      {kTraining, "Adagrad", {.work = per_input_element<8>}},
      {kTraining, "Adam", {.work = per_input_element<12>}},
      {kTraining, "Momentum", {.work = per_input_element<4>}},
      {kMicrosoft, "RelativePositionBias", {.work = reads_what_it_writes}},
      {kMicrosoft, "GatedRelativePositionBias", {.work = per_output_element<4>}},
      {kMicrosoft, "BitmaskDropout", {.work = per_output_element<1>}},
      {kMicrosoft, "DropoutGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "ReluGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "GeluGrad", {.work = per_output_element<10>}},
      {kMicrosoft, "YieldOp", {.is_view = true}},
  };
  return kEntries;
}

}  // namespace kcharter
