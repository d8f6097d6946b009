// Classical machine learning (ai.onnx.ml): rows in, rows out.
#include <string>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// How many entries the first list among `names` has.
std::optional<int64_t> list_length(const Node& node,
                                   std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Attribute* attribute = find_attribute(node, name);
    if (attribute == nullptr) continue;
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute->value)) {
      return static_cast<int64_t>(numbers->size());
    }
    if (const auto* numbers = std::get_if<std::vector<double>>(&attribute->value)) {
      return static_cast<int64_t>(numbers->size());
    }
    if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute->value)) {
      return static_cast<int64_t>(texts->size());
    }
  }
  return std::nullopt;
}

bool has(const NodeInference& node, std::string_view attribute) {
  return find_attribute(node.node, attribute) != nullptr;
}

// A single row may come as a vector.
Dim rows(const NodeInference& node) {
  return node.input_rank(0) == 1 ? Dim(Expr(1)) : node.input_dim(0, 0);
}

void numbers_of_the_same_shape(NodeInference& node) {
  node.set(0, DType::kF32, node.input(0).shape);
}

void regressor(NodeInference& node) {
  const int64_t targets = int_attribute(node.node, "targets", 1);
  node.set(0, DType::kF32, Shape{rows(node), Expr(int_attribute(node.node, "n_targets", targets))});
}

void tree_ensemble(NodeInference& node) {
  node.set(0, node.input_dtype(0),
           Shape{rows(node), Expr(int_attribute(node.node, "n_targets", 1))});
}

void classifier(NodeInference& node) {
  const bool texts = has(node, "classlabels_strings");
  const auto classes =
      list_length(node.node, {"classlabels_strings", "classlabels_int64s", "classlabels_ints"});
  node.set(0, texts ? DType::kString : DType::kInt64, Shape{rows(node)});
  node.set(1, DType::kF32, Shape{rows(node), classes ? Dim(Expr(*classes)) : std::nullopt});
}

void feature_vectorizer(NodeInference& node) {
  Dim total = Expr(0);
  if (const auto* sizes = ints_attribute(node.node, "inputdimensions")) {
    for (const int64_t size : *sizes) total = plus(total, Expr(size));
  } else {
    for (size_t i = 0; i < node.input_count(); ++i) total = plus(total, node.input_dim(i, -1));
  }
  node.set(0, DType::kF32, Shape{rows(node), total});
}

DType type_of_labels(const NodeInference& node) {
  for (const std::string_view name : {"values_tensor", "default_tensor"}) {
    const Attribute* attribute = find_attribute(node.node, name);
    const auto* literal = attribute == nullptr ? nullptr : std::get_if<Literal>(&attribute->value);
    if (literal != nullptr && literal->dtype != DType::kUnknown) return literal->dtype;
  }
  if (has(node, "values_strings")) return DType::kString;
  if (has(node, "values_int64s")) return DType::kInt64;
  if (has(node, "values_floats")) return DType::kF32;
  // Version 1 maps texts to their places in a list, and back.
  return node.input_dtype(0) == DType::kString ? DType::kInt64 : DType::kString;
}

void label_encoder(NodeInference& node) { node.set(0, type_of_labels(node), node.input(0).shape); }

void category_mapper(NodeInference& node) {
  const bool texts = node.input_dtype(0) == DType::kString;
  node.set(0, texts ? DType::kInt64 : DType::kString, node.input(0).shape);
}

void one_hot_encoder(NodeInference& node) {
  const auto categories = list_length(node.node, {"cats_int64s", "cats_strings"});
  node.set(0, DType::kF32,
           with_axis(node.input(0).shape, -1, categories ? Dim(Expr(*categories)) : std::nullopt));
}

void dict_vectorizer(NodeInference& node) {
  const auto words = list_length(node.node, {"string_vocabulary", "int64_vocabulary"});
  node.set(0, DType::kF32, Shape{Expr(1), words ? Dim(Expr(*words)) : std::nullopt});
}

// A map for each row.
void zip_map(NodeInference& node) {
  node.set_sequence(0, TensorType{DType::kF32, std::nullopt}, node.input_dim(0, 0));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnxMl, "Binarizer", same_as_first_input},
    {kOnnxMl, "CategoryMapper", category_mapper},
    {kOnnxMl, "DictVectorizer", dict_vectorizer},
    {kOnnxMl, "FeatureVectorizer", feature_vectorizer},
    {kOnnxMl, "Imputer", same_as_first_input},
    {kOnnxMl, "LabelEncoder", label_encoder},
    {kOnnxMl, "LinearClassifier", classifier},
    {kOnnxMl, "LinearRegressor", regressor},
    {kOnnxMl, "Normalizer", numbers_of_the_same_shape},
    {kOnnxMl, "OneHotEncoder", one_hot_encoder},
    {kOnnxMl, "SVMClassifier", classifier},
    {kOnnxMl, "SVMRegressor", regressor},
    {kOnnxMl, "Scaler", numbers_of_the_same_shape},
    {kOnnxMl, "TreeEnsemble", tree_ensemble},
    {kOnnxMl, "TreeEnsembleClassifier", classifier},
    {kOnnxMl, "TreeEnsembleRegressor", regressor},
    {kOnnxMl, "ZipMap", zip_map},
};

}  // namespace

ShapeRuleFamily ml_shape_rules() { return kEntries; }

}  // namespace kcharter
