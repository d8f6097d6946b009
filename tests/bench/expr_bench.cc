// What a formula costs beside the plain arithmetic it stands for: the ratio of the two is the price
// of exactness and of names.

#include <benchmark/benchmark.h>

#include "kcharter/symbolic/expr.h"

namespace kcharter {
namespace {

// 2*batch*length*896 + 4096*batch + 17, as a rolled-up metric looks.
Expr formula() {
  const Expr batch = Expr::variable("batch_size");
  const Expr length = Expr::variable("current_length");
  return 2 * batch * length * 896 + 4096 * batch + 17;
}

void plain_arithmetic(benchmark::State& state) {
  Int batch = 4, length = 8192;
  for (auto _ : state) {
    benchmark::DoNotOptimize(batch);
    benchmark::DoNotOptimize(length);
    benchmark::DoNotOptimize(2 * batch * length * 896 + 4096 * batch + 17);
  }
}
BENCHMARK(plain_arithmetic);

void evaluate(benchmark::State& state) {
  const Expr expr = formula();
  const Bindings bindings = {{"batch_size", 4}, {"current_length", 8192}};
  for (auto _ : state) benchmark::DoNotOptimize(expr.evaluate(bindings));
}
BENCHMARK(evaluate);

void build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(formula());
}
BENCHMARK(build);

void add_equal_terms(benchmark::State& state) {
  const Expr expr = formula();
  for (auto _ : state) benchmark::DoNotOptimize(expr + expr);
}
BENCHMARK(add_equal_terms);

}  // namespace
}  // namespace kcharter
