// Checkpoints as sparse files of true size: headers alone are read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "import/huggingface/import_checkpoint.h"
#include "import/safetensors/read_header.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "torch_dtype": "bfloat16",
  "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100})";

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() : folder_(fs::temp_directory_path() / ("kcharter_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("config.json", kConfig);
  }
  ~CheckpointTest() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  // The tensors of `model` one after the other; the data is a hole in the file.
  void write_tensors(const std::string& name, const Model& model, size_t begin, size_t end) {
    nlohmann::ordered_json header;
    uint64_t offset = 0;
    for (size_t i = begin; i < end; ++i) {
      const Initializer& tensor = model.graph.initializers[i];
      header[tensor.name] = {{"dtype", "BF16"}, {"shape", tensor.dims}, {"data_offsets", {offset, offset + tensor.stored_bytes}}};
      offset += tensor.stored_bytes;
    }
    std::string text = header.dump();
    std::string length(8, '\0');
    for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
    write(name, length + text);
    fs::resize_file(folder_ / name, 8 + text.size() + offset);
  }
  fs::path folder_;
};

TEST_F(CheckpointTest, FilesSayWhatTheConfigurationSays) {
  Model expected = import_checkpoint(folder_ / "config.json", {});
  ASSERT_TRUE(expected.graph_known);
  size_t count = expected.graph.initializers.size();
  write_tensors("model.safetensors", expected, 0, count);
  Model found = import_checkpoint(folder_, {});
  EXPECT_EQ(found.format, Format::kSafetensors);
  ASSERT_EQ(found.graph.initializers.size(), count);
  EXPECT_TRUE(found.diagnostics.all().empty());
  for (size_t i = 0; i < count; ++i) {
    const Initializer& a = expected.graph.initializers[i];
    const Initializer& b = found.graph.initializers[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.dims, b.dims);
    EXPECT_EQ(a.stored_bytes, b.stored_bytes);
    EXPECT_EQ(b.location.file, 0);
  }
  EXPECT_EQ(expected.graph.nodes.size(), found.graph.nodes.size());
  EXPECT_EQ(expected.active_parameters, found.active_parameters);
}

TEST_F(CheckpointTest, AMissingShardIsNamedAndItsTensorsAreAsExpected) {
  Model expected = import_checkpoint(folder_ / "config.json", {});
  size_t count = expected.graph.initializers.size();
  write_tensors("model-00001-of-00002.safetensors", expected, 0, count / 2);
  nlohmann::json map;
  for (size_t i = 0; i < count; ++i) {
    map[expected.graph.initializers[i].name] = i < count / 2 ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
  }
  write("model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  Model found = import_checkpoint(folder_, {});
  EXPECT_TRUE(found.diagnostics.has("missing-shard"));
  EXPECT_FALSE(found.diagnostics.has("unknown-size"));
  EXPECT_EQ(found.graph.initializers.size(), count);
}

TEST_F(CheckpointTest, WithoutAKnownFamilyTensorsAreStillExact) {
  Model expected = import_checkpoint(folder_ / "config.json", {});
  write_tensors("model.safetensors", expected, 0, expected.graph.initializers.size());
  write("config.json", R"({"architectures": ["InventedForCausalLM"], "torch_dtype": "bfloat16"})");
  Model found = import_checkpoint(folder_, {});
  EXPECT_FALSE(found.graph_known);
  EXPECT_TRUE(found.graph.nodes.empty());
  EXPECT_EQ(found.graph.initializers.size(), expected.graph.initializers.size());
}

std::string header_error(const std::string& json, size_t data = 24) {
  std::string file(8, '\0');
  file[0] = static_cast<char>(json.size());
  file += json + std::string(data, '\0');
  try {
    read_safetensors_header(std::as_bytes(std::span(file)));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, FreeDimensionsAreBoundByName) {
  ImportOptions options;
  options.dims = {{"encoder_sequence_length", 100}};
  const Model model = import_checkpoint("models/configs/whisper-large-v3", options);
  ASSERT_EQ(model.variables.size(), 1u);
  EXPECT_EQ(model.variables[0].value, 100);
  options.dims = {{"heigth", 100}};
  EXPECT_THROW(import_checkpoint("models/configs/whisper-large-v3", options), UsageError);
}

TEST(SafetensorsHeader, ContradictionsAreNamed) {
  EXPECT_EQ(header_error(R"({"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}})"), "");
  EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[5],"data_offsets":[0,24]}})").find("needs 20 bytes"), std::string::npos);
  EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})").find("before it begins"), std::string::npos);
  EXPECT_NE(header_error(R"([1])").find("array"), std::string::npos);
  EXPECT_NE(header_error(R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})"), "");
}

}  // namespace
}  // namespace kcharter
