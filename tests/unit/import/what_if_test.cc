#include <gtest/gtest.h>

#include "kcharter/analyze/analyze.h"

namespace kcharter {
namespace {

Document llama(const std::string& weights, std::optional<DType> activations = std::nullopt) {
  AnalyzeOptions options;
  options.import.mode = Mode::kDecode;
  options.import.activation_dtype = activations;
  if (!weights.empty()) options.import.weight_formats = *parse_weight_formats(weights);
  return std::move(analyze("models/configs/llama-3.2-1b", options).front());
}

Int weight_bytes(const Document& document) {
  return document.estimate.summary[Metric::kWeightBytes].formula->evaluate(document.values);
}

// What the products of the layers and of the head are computed in.
std::map<DType, int> products(const Document& document) {
  std::map<DType, int> counts;
  for (size_t i = 0; i < document.model.graph.nodes.size(); ++i) {
    if (document.model.graph.nodes[i].op_type != "MatMul") continue;
    ++counts[document.estimate.compute_dtypes[i]];
  }
  return counts;
}

constexpr Int kTable = Int{128256} * 2048;
constexpr Int kMatrices = Int{16} * (2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 8192);
constexpr Int kNorms = Int{33} * 2048 * 2;

TEST(WhatIf, TheTiedTableIsStoredAsTheHead) {
  EXPECT_EQ(weight_bytes(llama("")), 2 * (kTable + kMatrices) + kNorms);
  EXPECT_EQ(weight_bytes(llama("fp8,lm_head=bf16")), 2 * kTable + kMatrices + kNorms);
  EXPECT_EQ(weight_bytes(llama("q8_0")), (kTable + kMatrices) * 34 / 32 + kNorms);
}

TEST(WhatIf, ProductsRunInTheUnitsOfTheirWeights) {
  EXPECT_EQ(products(llama("")), (std::map<DType, int>{{DType::kBF16, 113}}));
  EXPECT_EQ(products(llama("fp8,lm_head=bf16")),
            (std::map<DType, int>{{DType::kBF16, 1}, {DType::kF8E4M3FN, 112}}));
  EXPECT_EQ(products(llama("q4_k_m")), (std::map<DType, int>{{DType::kInt8, 113}}));
}

TEST(WhatIf, ActivationsTakeTheirType) {
  const Document wide = llama("", DType::kF32);
  const Document plain = llama("");
  const auto read = [](const Document& document) {
    const Quantity& bytes = document.estimate.summary[Metric::kActivationReadBytes];
    return bytes.formula->evaluate(document.values);
  };
  EXPECT_EQ(weight_bytes(wide), weight_bytes(plain));
  EXPECT_GT(read(wide), 19 * read(plain) / 10);
}

}  // namespace
}  // namespace kcharter
