#include <gmock/gmock.h>

#include "kcharter/base/error.h"
#include "unit/import/onnx/text_graph.h"

namespace kcharter {
namespace {

// One head of attention over a cache that Concat grows.
const char* const kDecoder =
    "g (int64[b, s] ids, int64[b, all] mask, float[b, 1, p, 8] past_k) => (float[b, 1, s, t] y, "
    "float[b, 1, q, 8] present_k)"
    "<float[16, 8] table = {0}> {"
    "  e = Gather(table, ids)"
    "  axes = Constant <value = int64[1] {1}> ()"
    "  x = Unsqueeze(e, axes)"
    "  present_k = Concat <axis = -2> (past_k, x)"
    "  kt = Transpose <perm = [0, 1, 3, 2]> (present_k)"
    "  y = MatMul(x, kt) }";

std::string bound(const Model& model, const std::string& symbol) {
  const auto found = model.bindings.find(symbol);
  return found == model.bindings.end() ? "(none)" : found->second.to_string();
}

TEST(BindDimensions, LengthsAreToldByWhereTheyStand) {
  const Model decode = import_text(kDecoder, in_mode(Mode::kDecode));
  EXPECT_EQ(bound(decode, "b"), "batch_size");
  EXPECT_EQ(bound(decode, "s"), "1");
  EXPECT_EQ(bound(decode, "p"), "current_length-1");
  EXPECT_EQ(bound(decode, "all"), "current_length");
  EXPECT_TRUE(decode.variables.empty());
  const Model prefill = import_text(kDecoder, in_mode(Mode::kPrefill));
  EXPECT_EQ(bound(prefill, "s"), "current_length");
  EXPECT_EQ(bound(prefill, "p"), "0");
}

TEST(BindDimensions, ACacheIsAllocatedForMaxLength) {
  const Model model = import_text(kDecoder, in_mode(Mode::kDecode));
  ASSERT_EQ(model.graph.caches.size(), 1u);
  const Cache& cache = model.graph.caches[0];
  EXPECT_EQ(cache.kind, CacheKind::kKeyValue);
  EXPECT_EQ(cache.sequence_axis, 2);
  EXPECT_TRUE(cache.copied);
  ASSERT_TRUE(cache.allocated);
  EXPECT_EQ(cache.allocated->at(2).to_string(), "max_length");
  EXPECT_EQ(model.graph[cache.input].role, ValueRole::kCache);
  EXPECT_EQ(model.graph[cache.output].role, ValueRole::kCache);
}

TEST(BindDimensions, AStaticCacheKeepsItsSizeAndIsWrittenInPlace) {
  const Model model = import_text(
      "g (int64[b, s] ids, int64[b] at, float[b, 2048, 8] key_cache) => (float[b, s, 2048] y, "
      "float[b, 2048, 8] updated_key_cache)"
      "<float[16, 8] table = {0}> {"
      "  x = Gather(table, ids)"
      "  updated_key_cache = TensorScatter <axis = 1> (key_cache, x, at)"
      "  kt = Transpose <perm = [0, 2, 1]> (updated_key_cache)"
      "  y = MatMul(x, kt) }",
      in_mode(Mode::kDecode));
  ASSERT_EQ(model.graph.caches.size(), 1u);
  const Cache& cache = model.graph.caches[0];
  EXPECT_EQ(cache.kind, CacheKind::kKeyValue);
  EXPECT_FALSE(cache.copied);
  EXPECT_EQ(cache.sequence_axis, 1);
  EXPECT_EQ(cache.allocated->at(1).to_string(), "2048");
}

TEST(BindDimensions, AnEncoderCannotDecode) {
  const char* const encoder = "g (float[N, 3, H, W] x) => (float[N, 3, H, W] y) { y = Relu(x) }";
  EXPECT_FALSE(import_text(encoder).can_decode);
  EXPECT_THROW(import_text(encoder, in_mode(Mode::kDecode)), UsageError);
}

TEST(BindDimensions, OtherSymbolsAreVariables) {
  const Model model = import_text(
      "g (float[N, c, height, width] x) => (float[N, c, height, width] y) { y = Relu(x) }");
  ASSERT_EQ(model.variables.size(), 3u);
  EXPECT_EQ(model.variables[1].name, "height");
  EXPECT_EQ(model.variables[1].value, 224);
  EXPECT_EQ(to_string(model.graph[model.graph.inputs[0]].type),
            "[batch_size, c, height, width] f32");
  EXPECT_TRUE(model.diagnostics.has("guessed-binding"));
}

TEST(BindDimensions, OptionsSetADimensionByEitherName) {
  ImportOptions options;
  options.dims = {{"height", 32}, {"N", 7}};
  const Model model =
      import_text("g (float[N, height] x) => (float[N, height] y) { y = Relu(x) }", options);
  EXPECT_EQ(model.variables[0].value, 32);
  EXPECT_EQ(bound(model, "N"), "7");
  options.dims = {{"depth", 32}};
  EXPECT_THROW(import_text("g (float[N] x) => (float[N] y) { y = Relu(x) }", options), UsageError);
}

TEST(BindDimensions, OpenAxesOfTokensAreTheStepsLength) {
  const Model model = import_text(
      "g (int64[?, ?] ids, int64[?, ?] attention_mask) => (float[?, ?, 8] y) <float[16, 8] table = "
      "{0}> {"
      "  e = Gather(table, ids)  y = Relu(e) }");
  EXPECT_EQ(to_string(model.graph[model.graph.inputs[0]].type),
            "[batch_size, current_length] int64");
  EXPECT_EQ(to_string(model.graph[model.graph.inputs[1]].type),
            "[batch_size, current_length] int64");
}

TEST(BindDimensions, TheStateOfARecurrenceHasItsBatchBehindItsLayers) {
  const Model model = import_text(
      "g (float[T, ?, 4] x, float[1, ?, 8] h0) => (float[T, 1, ?, 8] y, float[1, ?, 8] hn)"
      "<float[1, 24, 4] w = {0}, float[1, 24, 8] r = {0}> {"
      "  y, hn = GRU <hidden_size = 8> (x, w, r, , , h0) }");
  ASSERT_EQ(model.graph.caches.size(), 1u);
  EXPECT_EQ(model.graph.caches[0].kind, CacheKind::kState);
  ASSERT_TRUE(model.graph.caches[0].allocated);
  EXPECT_EQ(model.graph.caches[0].allocated->at(1).to_string(), "batch_size");
}

TEST(BindDimensions, AConcatThatNothingElseReadsIsNoCache) {
  const Model model = import_text(
      "g (float[2, 3] x, float[2, 4] z) => (float[2, 7] y) { y = Concat <axis = 1> (x, z) }");
  EXPECT_TRUE(model.graph.caches.empty());
}

TEST(BindDimensions, AMergedDecoderTakesTheBranchOfTheMode) {
  const char* const merged =
      "g (float[b, p, 8] past_key, bool[1] use_cache) => (float[b, q, 8] present_key, float[b, r, "
      "8] y) {"
      "  present_key, y = If (use_cache) <then_branch = t () => (float[b, q, 8] a, float[b, r, 8] "
      "c) {"
      "      k = Constant <value = float[1, 1, 8] {0, 0, 0, 0, 0, 0, 0, 0}> ()"
      "      a = Concat <axis = 1> (past_key, k)  c = Softmax(a) },"
      "    else_branch = e () => (float[b, q, 8] n, float[b, r, 8] m) {"
      "      n = Constant <value = float[1, 1, 8] {0, 0, 0, 0, 0, 0, 0, 0}> ()  m = Softmax(n) }> "
      "}";
  const Model model = import_text(merged, in_mode(Mode::kDecode));
  ASSERT_EQ(model.graph.caches.size(), 1u);
  EXPECT_EQ(model.graph[model.graph.caches[0].output].name, "present_key");
  ASSERT_NE(model.graph[model.graph.inputs[1]].elements, nullptr);
  EXPECT_EQ(model.graph[model.graph.inputs[1]].elements->front(), Expr(1));
}

}  // namespace
}  // namespace kcharter
