// Damaged and odd safetensors files: each says what EXPECT.tsv asks.
#include <gtest/gtest.h>

#include <fstream>

#include "import/huggingface/import_checkpoint.h"
#include "kcharter/base/error.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

TEST(Safetensors, EdgesAreAsExpected) {
  auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  std::filesystem::path folder = *corpus / "edge-safetensors";
  std::ifstream lines(folder / "EXPECT.tsv");
  std::string line;
  while (std::getline(lines, line)) {
    size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    std::string name = line.substr(0, tab), expected = line.substr(tab + 1);
    count_case("edge-safetensors");
    std::string outcome = "ok";
    try {
      Model model = import_checkpoint(folder / name, {});
      for (const Diagnostic& diagnostic : model.diagnostics.all()) {
        for (const char* code : {"truncated-file", "gap-in-file", "unknown-dtype"}) {
          if (diagnostic.code == code) outcome = "warn";
        }
      }
    } catch (const Error&) {
      outcome = "error";
    }
    bool tolerated = expected.find("tolerate") != std::string::npos && outcome == "ok";
    bool fits = expected.starts_with(outcome) || expected.find("/" + outcome) != std::string::npos || tolerated;
    EXPECT_TRUE(fits) << name << ": expected '" << expected << "', was " << outcome;
  }
  EXPECT_THROW(import_checkpoint(folder / "traversal.safetensors.index.json", {}), Error);
}

}  // namespace
}  // namespace kcharter::truth
