#include <gtest/gtest.h>

#include <map>

#include "unit/import/onnx/text_graph.h"

namespace kcharter {
namespace {

std::map<std::string, TensorRole> roles_of(const std::string& text) {
  std::map<std::string, TensorRole> roles;
  for (const Initializer& tensor : import_text(text).graph.initializers)
    roles[tensor.name] = tensor.role;
  return roles;
}

TEST(TensorRoles, ToldByWhatReadsThem) {
  const auto roles = roles_of(
      "g (float[N, 128] x, int64[N] at) => (float[N, 128] y)"
      "<float[128, 128] w = {0}, float[128] b = {0}, float eps = {0.1}, float[512, 128] cos_t = "
      "{0},"
      " bool[256] causal = {0}, int64[2] axes = {0, 1}> {"
      "  h = MatMul(x, w)  i = Add(h, b)  j = Add(i, eps)"
      "  c = Gather(cos_t, at)  k = Mul(j, c)"
      "  y = Where(causal, k, j) }");
  EXPECT_EQ(roles.at("w"), TensorRole::kParameter);
  EXPECT_EQ(roles.at("b"), TensorRole::kParameter);
  EXPECT_EQ(roles.at("eps"), TensorRole::kConstant);
  EXPECT_EQ(roles.at("cos_t"), TensorRole::kBuffer);
  EXPECT_EQ(roles.at("causal"), TensorRole::kBuffer);
  EXPECT_EQ(roles.at("axes"), TensorRole::kConstant);
}

TEST(TensorRoles, ATableThatIsAddedIsTrained) {
  const auto roles = roles_of(
      "g (float[N, 8] x, int64[N] at) => (float[N, 8] y) <float[512, 8] wpe = {0}> {"
      "  p = Gather(wpe, at)  y = Add(x, p) }");
  EXPECT_EQ(roles.at("wpe"), TensorRole::kParameter);
}

TEST(TensorRoles, WeightsAreFoundBehindAliases) {
  const auto roles = roles_of(
      "g (float[N, 8] x) => (float[N, 8] y) <float[8, 8] t = {0}> {"
      "  a = Identity(t)  w = Transpose(a)  y = MatMul(x, w) }");
  EXPECT_EQ(roles.at("t"), TensorRole::kParameter);
}

TEST(TensorRoles, QuantizedWeightsAreParametersAndZeroPointsOfActivationsAreNot) {
  const auto roles = roles_of(
      "g (uint8[N, 8] x) => (int32[N, 16] y) <int8[8, 16] w = {0}, uint8 z = {0}> {"
      "  y = MatMulInteger(x, w, z) }");
  EXPECT_EQ(roles.at("w"), TensorRole::kParameter);
  EXPECT_EQ(roles.at("z"), TensorRole::kConstant);
}

}  // namespace
}  // namespace kcharter
