// Folders of diffusers: every part with a configuration is a model of its own.
#include "kcharter/import/pipeline_parts.h"

#include <gtest/gtest.h>

#include <fstream>

#include "kcharter/base/error.h"
#include "kcharter/import/import_model.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() : folder_(fs::temp_directory_path() / "kcharter_pipeline_test") { fs::remove_all(folder_); }
  ~PipelineTest() override { fs::remove_all(folder_); }
  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  fs::path folder_;
};

constexpr const char* kAutoencoder = R"({"_class_name": "AutoencoderKL", "block_out_channels": [32, 64],
  "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D"], "latent_channels": 4})";

TEST_F(PipelineTest, PartsAreFoldersWithAConfiguration) {
  write("model_index.json", R"({"_class_name": "P", "vae": ["diffusers", "AutoencoderKL"],
    "scheduler": ["diffusers", "S"], "text_encoder": ["transformers", "T"], "../outside": ["a", "b"]})");
  write("vae/config.json", kAutoencoder);
  write("scheduler/scheduler_config.json", "{}");
  EXPECT_EQ(pipeline_parts(folder_), std::vector<fs::path>{folder_ / "vae"});
  EXPECT_EQ(pipeline_parts(folder_ / "vae"), std::vector<fs::path>{folder_ / "vae"});
  Model model = import_model(folder_ / "vae", {});
  EXPECT_TRUE(model.graph_known);
  EXPECT_EQ(model.name, "kcharter_pipeline_test-vae");
}

TEST_F(PipelineTest, NothingThereIsAnErrorThatNamesTheFile) {
  write("model_index.json", R"({"vae": ["diffusers", "AutoencoderKL"]})");
  try {
    pipeline_parts(folder_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model_index.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace kcharter
