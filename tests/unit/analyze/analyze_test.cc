// The whole pipeline on the sample models: documents that hold, twice the same.

#include "kcharter/analyze/analyze.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

// Tests run in the root of the repository.
const std::filesystem::path kSamples = "models/samples";

TEST(Analyze, GivesValidDocumentsTwiceTheSame) {
  for (const char* sample : {"decoder.onnxtxt", "encoder.onnxtxt", "cnn.onnxtxt"}) {
    const std::vector<Document> documents = analyze(kSamples / sample, {});
    const std::vector<Document> again = analyze(kSamples / sample, {});
    ASSERT_EQ(documents.size(), again.size());
    for (size_t i = 0; i < documents.size(); ++i) {
      const std::string json = to_json(documents[i]);
      EXPECT_EQ(json, to_json(again[i]));
      EXPECT_EQ(validate_document(json), std::vector<std::string>()) << sample;
    }
  }
}

TEST(Analyze, GivesBothModesWhereTheModelCanDecode) {
  const std::vector<Document> decoder = analyze(kSamples / "decoder.onnxtxt", {});
  ASSERT_EQ(decoder.size(), 2u);
  EXPECT_EQ(decoder[0].model.mode, Mode::kPrefill);
  EXPECT_EQ(decoder[1].model.mode, Mode::kDecode);
  EXPECT_EQ(analyze(kSamples / "cnn.onnxtxt", {}).size(), 1u);
  AnalyzeOptions decode;
  decode.import.mode = Mode::kDecode;
  EXPECT_THROW(analyze(kSamples / "cnn.onnxtxt", decode), UsageError);
}

TEST(Analyze, CacheIsAFormulaOfTheVariables) {
  AnalyzeOptions options;
  options.workload = {.batch = 4, .current_length = 64, .max_length = 128};
  const Json document = Json::parse(to_json(analyze(kSamples / "decoder.onnxtxt", options)[1]));
  const Json& cache = document["summary"]["kv_cache_bytes"];
  // 4 layers, keys and values, 2 heads of 8 in two bytes.
  EXPECT_EQ(cache["formula"], "256*batch_size*max_length");
  EXPECT_EQ(cache["value"], 256 * 4 * 128);
  EXPECT_EQ(document["variables"][0]["value"], 4);
  EXPECT_EQ(document["bindings"]["past_sequence_length"], "current_length-1");
}

TEST(Analyze, TheBlockOfCachesCanBeLeftToBeTurned) {
  AnalyzeOptions options;
  options.kv_block_variables = true;
  const Json document = Json::parse(to_json(analyze(kSamples / "decoder.onnxtxt", options)[1]));
  EXPECT_EQ(document["summary"]["kv_cache_bytes"]["formula"],
            "8*kv_block_bytes*ceil_div(16*batch_size*max_length,kv_block_elements)");
}

TEST(Analyze, WarnsPastWhatTheModelWasMadeFor) {
  AnalyzeOptions options;
  options.workload.current_length = 128;
  EXPECT_FALSE(analyze(kSamples / "decoder.onnxtxt", options)[0].model.diagnostics.has(
      "past-context-limit"));
  options.workload.max_length = 129;
  EXPECT_TRUE(analyze(kSamples / "decoder.onnxtxt", options)[0].model.diagnostics.has(
      "past-context-limit"));
}

TEST(Analyze, RefusesSettingsThatContradict) {
  AnalyzeOptions options;
  options.workload.max_length = 1023;
  EXPECT_THROW(analyze(kSamples / "decoder.onnxtxt", options), UsageError);
  options.workload = {};
  options.workload.batch = 0;
  EXPECT_THROW(analyze(kSamples / "decoder.onnxtxt", options), UsageError);
}

// What a checkpoint-wide figure must be, whatever is turned: the widely published parameter count.
TEST(Analyze, ChartsAConfigurationAlone) {
  const Document llama = analyze("models/configs/llama-3-8b", {})[0];
  EXPECT_EQ(llama.estimate.parameters, 8030261248);
  EXPECT_EQ(llama.model.name, "llama-3-8b");
}

}  // namespace
}  // namespace kcharter
