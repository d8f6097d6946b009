#include "kcharter/estimate/generation.h"

#include <gtest/gtest.h>

#include "kcharter/base/error.h"
#include "reference/toy_graph.h"

namespace kcharter {
namespace {

// One product whose rows are the tokens of the step, and whose columns are those of the sequence.
struct Toy {
  explicit Toy(bool decode) {
    const Expr length = Expr::variable("current_length");
    reference::ToyGraph toy;
    const ValueId x = toy.input({decode ? Expr(1) : length, Expr(64)}, DType::kF16);
    const ValueId y = toy.input({Expr(64), length}, DType::kF16);
    toy.model.graph.outputs.push_back(
        toy.apply("MatMul", {x, y}, {decode ? Expr(1) : length, length}, DType::kF16));
    model = std::move(toy.model);
    tree = reference::flat_tree(model);
    result = estimate(model, tree, {{"current_length", 8}}, {});
  }
  Step step() const { return {model, tree, result}; }
  double seconds(int64_t length, const Device& device) const {
    const Bindings values = {{"batch_size", 2}, {"current_length", length}, {"max_length", length}};
    return time_on(model, tree, result, values, device).estimate.total;
  }
  Model model;
  ModuleTree tree;
  Estimate result;
};

TEST(Generation, SumsEveryStep) {
  const Toy prefill(false), decode(true);
  const Device& device = *find_device("rtx-4090");
  const Bindings values = {{"batch_size", 2}};
  for (const int64_t tokens : {1, 2, 20, 3000}) {
    const Generation answer =
        generation_on(prefill.step(), decode.step(), values, {100, tokens}, device);
    double others = 0;
    for (int64_t i = 1; i < tokens; ++i) others += decode.seconds(100 + i, device);
    EXPECT_DOUBLE_EQ(answer.estimate.first_token, prefill.seconds(100, device));
    EXPECT_NEAR(answer.estimate.sequence, prefill.seconds(100, device) + others,
                1e-9 * answer.estimate.sequence);
    EXPECT_NEAR(answer.estimate.tokens_per_second,
                2.0 * static_cast<double>(tokens) / answer.estimate.sequence, 1e-6);
    EXPECT_LE(answer.bound.sequence, answer.low.sequence);
    EXPECT_LE(answer.low.sequence, answer.high.sequence);
  }
}

TEST(Generation, CostIsSharedByTheBatch) {
  GenerationTime time;
  time.sequence = 36;
  EXPECT_DOUBLE_EQ(cost_of_sequence(time, 4, 2.0), 0.005);
}

TEST(Generation, RefusesNoTokens) {
  const Toy prefill(false), decode(true);
  const Device& device = *find_device("rtx-4090");
  EXPECT_THROW(generation_on(prefill.step(), decode.step(), {}, {0, 5}, device), UsageError);
  EXPECT_THROW(generation_on(prefill.step(), decode.step(), {}, {5, 0}, device), UsageError);
}

}  // namespace
}  // namespace kcharter
