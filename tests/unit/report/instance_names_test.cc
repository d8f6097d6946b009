#include "report/instance_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcharter {
namespace {

using testing::ElementsAre;

// The slow way back: every name that the rule stands for.
std::vector<std::string> spell(const InstanceNames& rule, const std::vector<int64_t>& repeats) {
  int64_t count = 1;
  for (int64_t repeat : repeats) count *= repeat;
  std::vector<std::string> names;
  for (int64_t instance = 0; instance < count; ++instance) {
    std::string name = rule.parts[0];
    for (size_t i = 0; i < rule.numbers.size(); ++i) {
      int64_t number = rule.numbers[i][0], rest = instance;
      for (size_t level = repeats.size(); level-- > 0;) {
        number += rule.numbers[i][level + 1] * (rest % repeats[level]);
        rest /= repeats[level];
      }
      name += std::to_string(number) + rule.parts[i + 1];
    }
    names.push_back(name);
  }
  return names;
}

TEST(InstanceNames, NumbersCountWithTheLayers) {
  const auto rule = instance_names({"/layers.0/mlp/MatMul_7", "/layers.1/mlp/MatMul_27", "/layers.2/mlp/MatMul_47"}, {3});
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->parts, ElementsAre("/layers.", "/mlp/MatMul_", ""));
  EXPECT_THAT(rule->numbers, ElementsAre(ElementsAre(0, 1), ElementsAre(7, 20)));
}

TEST(InstanceNames, StagesWithinStages) {
  std::vector<std::string> names;
  for (int layer = 0; layer < 3; ++layer) {
    for (int expert = 0; expert < 4; ++expert) {
      names.push_back("l" + std::to_string(layer) + ".e" + std::to_string(expert) + "/Mul_" +
                      std::to_string(10 + 100 * layer + 5 * expert));
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto rule = instance_names(views, {3, 4});
  ASSERT_TRUE(rule);
  EXPECT_EQ(spell(*rule, {3, 4}), names);
}

TEST(InstanceNames, NoRuleWhereOneNameBreaksIt) {
  EXPECT_FALSE(instance_names({"a_0", "a_1", "a_3"}, {3}));
  EXPECT_FALSE(instance_names({"a_0", "a_1", "b_2"}, {3}));
  EXPECT_FALSE(instance_names({"a_0", "a_1"}, {3}));
  EXPECT_FALSE(instance_names({}, {0}));
}

TEST(InstanceNames, NumbersThatDoNotPrintAsTheyStandAreText) {
  const auto rule = instance_names({"a_007", "a_007"}, {2});
  ASSERT_TRUE(rule);
  EXPECT_THAT(rule->parts, ElementsAre("a_007"));
  EXPECT_FALSE(instance_names({"a_08", "a_09"}, {2}));
  EXPECT_TRUE(instance_names({"99999999999999999999", "99999999999999999999"}, {2}));
}

}  // namespace
}  // namespace kcharter
