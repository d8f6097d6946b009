// Random formulas against a plain evaluator of the tree they were made from.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "kcharter/symbolic/expr.h"

namespace kcharter {
namespace {

struct Tree {
  char op = 'n';  // n number, v variable, + - * / (floor_div) c (ceil_div) % m (min) M (max)
  int value = 0;  // the number, or which variable
  std::unique_ptr<Tree> left;
  std::unique_ptr<Tree> right;
};

const char* const kNames[] = {"a", "b", "c"};
using Values = std::vector<Int>;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  std::unique_ptr<Tree> tree(int depth) {
    auto made = std::make_unique<Tree>();
    if (depth == 0 || below(5) == 0) {
      made->op = below(2) == 0 ? 'n' : 'v';
      made->value = made->op == 'n' ? below(15) - 5 : below(3);
      return made;
    }
    made->op = "++-**/c%mM"[below(10)];
    made->left = tree(depth - 1);
    made->right = tree(depth - 1);
    return made;
  }

 private:
  std::mt19937 random_;
};

// nullopt: division by zero or overflow.
std::optional<Int> plain(const Tree& tree, const Values& values) {
  if (tree.op == 'n') return tree.value;
  if (tree.op == 'v') return values[static_cast<size_t>(tree.value)];
  const auto a = plain(*tree.left, values);
  const auto b = plain(*tree.right, values);
  if (!a || !b) return std::nullopt;
  const bool divides = tree.op == '/' || tree.op == 'c' || tree.op == '%';
  if (divides && *b == 0) return std::nullopt;
  Int result = 0;
  switch (tree.op) {
    case '+':
      return __builtin_add_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
    case '-':
      return __builtin_sub_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
    case '*':
      return __builtin_mul_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
    case '/':
      return floor_div(*a, *b);
    case 'c':
      return -floor_div(-*a, *b);
    case '%':
      return *a - *b * floor_div(*a, *b);
    case 'm':
      return std::min(*a, *b);
    default:
      return std::max(*a, *b);
  }
}

// With `swapped` the operands of commutative operators change places.
Expr expr_of(const Tree& tree, bool swapped) {
  if (tree.op == 'n') return Expr(tree.value);
  if (tree.op == 'v') return Expr::variable(kNames[tree.value]);
  Expr a = expr_of(*tree.left, swapped);
  Expr b = expr_of(*tree.right, swapped);
  const bool commutes = std::string_view("+*mM").find(tree.op) != std::string_view::npos;
  if (swapped && commutes) std::swap(a, b);
  switch (tree.op) {
    case '+':
      return a + b;
    case '-':
      return swapped ? -1 * b + a : a - b;
    case '*':
      return a * b;
    case '/':
      return floor_div(a, b);
    case 'c':
      return ceil_div(a, b);
    case '%':
      return mod(a, b);
    case 'm':
      return min(a, b);
    default:
      return max(a, b);
  }
}

std::optional<Expr> made(const Tree& tree, bool swapped) {
  try {
    return expr_of(tree, swapped);
  } catch (const ArithmeticError&) {
    return std::nullopt;  // divides by zero, or grows too large
  }
}

std::optional<Int> value_of(const Expr& expr, const Values& values) {
  Bindings bindings;
  for (size_t i = 0; i < values.size(); ++i) bindings[kNames[i]] = values[i];
  try {
    return expr.evaluate(bindings);
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

TEST(ExprProperty, EqualsPlainEvaluation) {
  Generator generator(1);
  int compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto tree = generator.tree(4);
    const auto expr = made(*tree, false);
    if (!expr) continue;
    for (int trial = 0; trial < 6; ++trial) {
      const Values values = {generator.below(9), generator.below(1000), generator.below(5)};
      const auto wanted = plain(*tree, values);
      if (!wanted) continue;
      const auto found = value_of(*expr, values);
      ASSERT_TRUE(found) << expr->to_string();
      ASSERT_TRUE(*found == *wanted)
          << expr->to_string() << " gives " << to_string(*found) << ", not " << to_string(*wanted);
      ++compared;
    }
  }
  EXPECT_GT(compared, 10000);
}

TEST(ExprProperty, ReadsBackWhatItPrints) {
  Generator generator(2);
  for (int round = 0; round < 4000; ++round) {
    const auto expr = made(*generator.tree(4), false);
    if (!expr) continue;
    const std::string text = expr->to_string();
    ASSERT_EQ(Expr::parse(text), *expr) << text;
    ASSERT_EQ(Expr::parse(text).hash(), expr->hash()) << text;
  }
}

TEST(ExprProperty, OneFormUnderCommutation) {
  Generator generator(3);
  for (int round = 0; round < 4000; ++round) {
    const auto tree = generator.tree(4);
    const auto expr = made(*tree, false);
    const auto swapped = made(*tree, true);
    ASSERT_EQ(expr.has_value(), swapped.has_value());
    if (!expr) continue;
    ASSERT_EQ(expr->to_string(), swapped->to_string());
  }
}

TEST(ExprProperty, OneFormUnderAssociationAndDistribution) {
  Generator generator(4);
  for (int round = 0; round < 2000; ++round) {
    const auto x = made(*generator.tree(2), false);
    const auto y = made(*generator.tree(2), false);
    const auto z = made(*generator.tree(2), false);
    if (!x || !y || !z) continue;
    ASSERT_EQ((*x + *y) + *z, *x + (*y + *z));
    ASSERT_EQ((*x * *y) * *z, *x * (*y * *z));
    ASSERT_EQ(*x * (*y + *z), *x * *y + *x * *z);
    ASSERT_EQ(max(max(*x, *y), *z), max(*x, max(*y, *z)));
    ASSERT_EQ(min({*x, *y, *z}), min(*z, min(*y, *x)));
    ASSERT_EQ(floor_div(*x + 6 * *y, 6), floor_div(*x, 6) + *y);
  }
}

TEST(ExprProperty, SubstitutionIsEvaluation) {
  Generator generator(5);
  for (int round = 0; round < 2000; ++round) {
    const auto tree = generator.tree(3);
    const auto expr = made(*tree, false);
    if (!expr) continue;
    const Values values = {generator.below(9), generator.below(100), generator.below(5)};
    const auto wanted = plain(*tree, values);
    if (!wanted) continue;
    std::map<std::string, Expr, std::less<>> replacements;
    for (size_t i = 0; i < values.size(); ++i) replacements[kNames[i]] = values[i];
    ASSERT_EQ(expr->substitute(replacements), Expr(*wanted)) << expr->to_string();
  }
}

TEST(ExprProperty, NeverClaimsAnOrderThatDoesNotHold) {
  Generator generator(6);
  int shown = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto a = made(*generator.tree(3), false);
    const auto b = made(*generator.tree(2), false);
    if (!a || !b || !provably_at_least(*a, *b, {{"a", 1}, {"b", 2}})) continue;
    ++shown;
    for (int trial = 0; trial < 8; ++trial) {
      const Values values = {1 + generator.below(9), 2 + generator.below(99), generator.below(5)};
      const auto left = value_of(*a, values);
      const auto right = value_of(*b, values);
      if (!left || !right) continue;
      ASSERT_TRUE(*left >= *right) << a->to_string() << " | " << b->to_string();
    }
  }
  EXPECT_GT(shown, 300);
}

}  // namespace
}  // namespace kcharter
