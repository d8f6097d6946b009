// Parameters of real graphs: published counts, and that quantizing changes none.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "kcharter/analyze/analyze.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

Int parameters(const std::filesystem::path& file) {
  AnalyzeOptions options;
  options.import.mode = Mode::kPrefill;
  return analyze(file, options).at(0).estimate.parameters;
}

struct Pair {
  const char* quantized;
  const char* original;
  int64_t missing = 0;  // that the quantized file lacks
};

constexpr Pair kPairs[] = {
    {"mobius/real/llama-3.2-1b-int4-g128-sym/model.onnx",
     "mobius/real/llama-3.2-1b-default/model.onnx"},
    {"mobius/real/llama-3.2-1b-int4-g32-asym-emb-head/model.onnx",
     "mobius/real/llama-3.2-1b-default/model.onnx"},
    {"mobius/real/llama-3.2-1b-int8-g128/model.onnx",
     "mobius/real/llama-3.2-1b-default/model.onnx"},
    {"mobius/real/llama-3.2-1b-cuda-f16-fp8kv/model.onnx",
     "mobius/real/llama-3.2-1b-default/model.onnx"},
    {"mobius/real/qwen2.5-0.5b-int4-g128-sym/model.onnx",
     "mobius/real/qwen2.5-0.5b-default/model.onnx"},
    {"ort-genai-builder-0.4.0/llama-gqa-int4-b32-QOperator/model.onnx",
     "ort-genai-builder-0.4.0/llama-gqa-fp16-cuda/model.onnx"},
    {"ort-genai-builder-0.4.0/llama-gqa-int8-b128-QOperator/model.onnx",
     "ort-genai-builder-0.4.0/llama-gqa-fp16-cuda/model.onnx"},
    {"ort-genai-builder-0.4.0/mistral-swa-int4-b32-QOperator/model.onnx",
     "ort-genai-builder-0.4.0/mistral-swa-fp32-cpu/model.onnx"},
    {"ort-genai-builder-0.4.0/phi2-int4-b32-QOperator/model.onnx",
     "ort-genai-builder-0.4.0/phi2-fp32-cpu/model.onnx"},
    {"ort-genai-builder-0.4.0/qwen2-int4-b16-QDQ/model.onnx",
     "ort-genai-builder-0.4.0/qwen2-fp32-cpu/model.onnx"},
    {"ort-tools/bert.dynint8.onnx", "optimum-1.16.2-torch1.13/bert/model.onnx"},
    {"ort-tools/distilbert.dynint8.onnx", "optimum-1.16.2-torch1.13/distilbert/model.onnx"},
    {"ort-tools/gpt2.dynint8.onnx", "optimum-1.16.2-torch1.13/gpt2/model.onnx"},
    {"ort-tools/gpt2.int4.QDQ.onnx", "optimum-1.16.2-torch1.13/gpt2/model.onnx"},
    {"ort-tools/llama-gqa.dynint8.onnx", "optimum-1.16.2-torch1.13/llama-gqa/model.onnx"},
    {"ort-tools/llama-gqa.int4.QDQ.onnx", "optimum-1.16.2-torch1.13/llama-gqa/model.onnx"},
    {"ort-tools/llama-gqa.merged.dynint8.onnx", "optimum-1.16.2-torch1.13/llama-gqa/model.onnx"},
};

TEST(Parameters, QuantizedAreThoseOfTheOriginal) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  for (const Pair& pair : kPairs) {
    if (!std::filesystem::exists(*corpus / pair.quantized)) continue;
    EXPECT_EQ(parameters(*corpus / pair.quantized), parameters(*corpus / pair.original))
        << pair.quantized;
    count_case("quantized and original parameters");
  }
}

// The exported router is missing in the file: 32 matrices of 8 by 4096 that its nodes ask for.
TEST(Parameters, OfMixtralInFourBits) {
  const auto corpus = corpus_dir();
  const char* file = "mobius/real/mixtral-8x7b-int4-g128-sym/model.onnx";
  if (!corpus || !std::filesystem::exists(*corpus / file)) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(parameters(*corpus / file), 46'702'792'704 - 32 * 8 * 4096);
  count_case("quantized and original parameters");
}

// What the authors publish: the exporter stored equal norms once, and those still count apart. Of
// an encoder-decoder the table of the tokens is in both files.
TEST(Parameters, PublishedCountsOfMergedExports) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const std::filesystem::path folder = *corpus / "optimum-1.16.2-realsize";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus";
  EXPECT_EQ(parameters(folder / "llama-600m-2.4GB/model.onnx"), 601'683'456);
  for (const char* decoder : {"decoder_model.onnx", "decoder_model_merged.onnx"}) {
    EXPECT_EQ(parameters(folder / "whisper-tiny/encoder_model.onnx") +
                  parameters(folder / "whisper-tiny" / decoder),
              37'760'640);
    EXPECT_EQ(parameters(folder / "t5-small/encoder_model.onnx") +
                  parameters(folder / "t5-small" / decoder) - 32128 * 512,
              60'506'624);
  }
  for (const auto& [file, count] : {std::pair("gpt2-124m/model.onnx", int64_t{124'439'808}),
                                    std::pair("bert-base/model.onnx", int64_t{109'482'240})}) {
    if (std::filesystem::exists(folder / file)) {
      EXPECT_EQ(parameters(folder / file), count) << file;
    }
  }
  count_case("published counts of merged exports");
}

}  // namespace
}  // namespace kcharter::truth
