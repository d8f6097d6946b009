#include "report/alike_tensors.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kcharter/analyze/analyze.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

// 58 layers of 256 experts, each with three matrices and their scales.
TEST(AlikeTensors, ExpertsAreOneRowThatStandsForAll) {
  AnalyzeOptions options;
  options.import.mode = Mode::kDecode;
  const std::string text = to_json(analyze("models/configs/deepseek-v3", options)[0]);
  EXPECT_LT(text.size(), 400000u);
  EXPECT_EQ(validate_document(text), std::vector<std::string>());  // the rows sum up to the model

  const Json document = Json::parse(text);
  int rows = 0;
  for (const Json& tensor : document["tensors"]) {
    if (tensor["name"] != "model.layers.3.mlp.experts.0.gate_proj.weight") continue;
    ++rows;
    EXPECT_EQ(tensor["instances"], 58 * 256);
    EXPECT_EQ(tensor["shape"], Json({2048, 7168}));
  }
  EXPECT_EQ(rows, 1);
}

}  // namespace
}  // namespace kcharter
