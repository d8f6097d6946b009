// Real files that were damaged: cut off and with bits turned at random places. Each ends in a
// document or in an Error, soon.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "kcharter/analyze/analyze.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFiles = 50;
constexpr int kVariants = 6;  // of each file and kind of damage
constexpr uintmax_t kLargest = 200'000;

std::vector<fs::path> some_models(const fs::path& corpus) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() == ".onnx" && entry.is_regular_file() &&
        entry.file_size() <= kLargest)
      all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  std::vector<fs::path> some;
  const size_t step = std::max<size_t>(1, all.size() / kFiles);
  for (size_t i = 0; i < all.size() && some.size() < kFiles; i += step) some.push_back(all[i]);
  return some;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_an_end(const fs::path& file, const std::string& bytes, const std::string& what) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  const std::clock_t start = std::clock();
  try {
    EXPECT_FALSE(to_json(analyze(file, {}).at(0)).empty());
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "") << what;
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 10) << what;
  count_case("damaged files");
}

TEST(Hostile, DamagedFilesEndInADocumentOrAnError) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const fs::path folder =
      fs::temp_directory_path() / ("kcharter-damaged-" + std::to_string(getpid()));
  fs::create_directory(folder);
  std::mt19937_64 random(20261201);
  for (const fs::path& model : some_models(*corpus)) {
    const std::string whole = text_of(model);
    if (whole.empty()) continue;
    for (int i = 0; i < kVariants; ++i) {
      const size_t end = random() % whole.size();
      const std::string what = model.string() + " cut at " + std::to_string(end);
      expect_an_end(folder / "model.onnx", whole.substr(0, end), what);
      std::string turned = whole;
      for (int bit = 0; bit <= i; ++bit)
        turned[random() % turned.size()] ^= char(1 << random() % 8);
      expect_an_end(folder / "model.onnx", turned,
                    model.string() + " turned, " + std::to_string(i));
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace kcharter::truth
