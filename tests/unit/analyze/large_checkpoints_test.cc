// The largest models of today: a trillion parameters from a configuration, 140,000 tensors from headers.
// Each ends in a document below a megabyte.
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "kcharter/analyze/analyze.h"
#include "kcharter/report/document.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestDocument = 1'000'000;
// Against what would hang; how long it takes on an idle machine is for a benchmark to say.
constexpr double kMostSeconds = 30;

// Of Kimi K2's sizes; in fp8 every matrix has a second tensor.
std::string trillion(const std::string& quantization) {
  return R"({"architectures": ["DeepseekV3ForCausalLM"], "torch_dtype": "bfloat16", "vocab_size": 163840,
    "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
    "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 384,
    "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1)" +
         quantization + "}";
}

constexpr const char* kFp8 = R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})";

class LargeCheckpoints : public testing::Test {
 protected:
  LargeCheckpoints() : folder_(fs::temp_directory_path() / ("kcharter-large-checkpoints-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~LargeCheckpoints() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  // Both modes of it; checks the time each takes and the length of each document.
  std::vector<Document> chart(const fs::path& path) const {
    std::vector<Document> documents;
    for (Mode mode : {Mode::kPrefill, Mode::kDecode}) {
      AnalyzeOptions options;
      options.import.mode = mode;
      std::clock_t begin = std::clock();
      std::vector<Document> one = analyze(path, options);
      std::string text = to_json(one.at(0));
      double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      EXPECT_LT(seconds, kMostSeconds);
      EXPECT_LT(text.size(), kLongestDocument);
      documents.push_back(std::move(one[0]));
    }
    return documents;
  }
  fs::path folder_;
};

TEST_F(LargeCheckpoints, ATrillionParametersFromAConfiguration) {
  write("config.json", trillion(""));
  for (const Document& document : chart(folder_ / "config.json")) {
    EXPECT_EQ(document.estimate.parameters, 1'026'408'209'408);
    EXPECT_EQ(document.estimate.stored_elements, 1'026'408'232'448);  // and a score's bias of each expert
  }
}

// A header of one file for all experts, whose data is a hole.
TEST_F(LargeCheckpoints, Holds140000Tensors) {
  write("config.json", trillion(kFp8));
  constexpr int kLayers = 61, kExperts = 384;
  std::string header = "{";
  uint64_t offset = 0;
  size_t count = 0;
  auto add = [&](const std::string& name, const char* dtype, const std::string& shape, uint64_t bytes) {
    header += (count++ == 0 ? "\"" : ",\"") + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
              ",\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(offset + bytes) + "]}";
    offset += bytes;
  };
  for (int layer = 1; layer < kLayers; ++layer) {
    for (int expert = 0; expert < kExperts; ++expert) {
      for (const char* matrix : {"gate_proj", "up_proj", "down_proj"}) {
        bool down = std::string_view(matrix) == "down_proj";
        std::string name = "model.layers." + std::to_string(layer) + ".mlp.experts." + std::to_string(expert) + "." + matrix;
        add(name + ".weight", "F8_E4M3", down ? "[7168,2048]" : "[2048,7168]", 7168 * 2048);
        add(name + ".weight_scale_inv", "F32", down ? "[56,16]" : "[16,56]", 16 * 56 * 4);
      }
    }
  }
  ASSERT_GT(count, 138'000U);
  header += "}";
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  write("model.safetensors", length + header);
  fs::resize_file(folder_ / "model.safetensors", 8 + header.size() + offset);
  for (const Document& document : chart(folder_)) {
    // What the file leaves out is charted from the configuration.
    EXPECT_EQ(document.estimate.stored_elements, 1'026'470'727'640);
    EXPECT_GT(document.estimate.stored_elements, Int(kLayers - 1) * kExperts * 3 * (7168 * 2048 + 16 * 56));
  }
}

}  // namespace
}  // namespace kcharter
