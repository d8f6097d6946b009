// Cache and state sizes that engines printed in their logs. The settings stand here, the sizes in the
// tables beside the repository.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "accuracy/csv.h"
#include "kcharter/analyze/analyze.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

namespace fs = std::filesystem;

struct Printed {
  const char* row;     // its id, or "model_id|tokens|type of keys" in kv_sizes.csv
  const char* config;  // in truth/configs
  const char* engine;
  std::map<std::string, std::string> options;
  int64_t batch = 1, length = 0;
  Metric metric = Metric::kKvCacheBytes;
  const char* kv_dtype = "";
};

const std::vector<Printed>& printed_sizes() {
  static const std::map<std::string, std::string> keys_q8 = {{"cache_type_k", "q8_0"}, {"cache_type_v", "q8_0"}};
  static const std::vector<Printed> all = {
      {"T001", "Qwen--Qwen3-235B-A22B.json", "llama.cpp", {}, 1, 32768},
      {"T002", "Qwen--Qwen3-235B-A22B.json", "llama.cpp", keys_q8, 1, 32768},
      {"T004", "Qwen--Qwen3-235B-A22B.json", "llama.cpp", {{"cache_type_k", "q8_0"}}, 1, 65536},
      {"T007", "Qwen--Qwen3-32B.json", "llama.cpp", {}, 1, 16896, Metric::kKvCacheBytes, "q8_0"},
      {"T009", "IrfanUruchi--Llama-3.1-8B-Computer-Networks-LLM.json", "llama.cpp",
       {{"cache_type_k", "iq4_nl"}}, 1, 1024},
      {"T016", "Ibtasam-98--medgemma-27b-it.json", "llama.cpp", {{"swa_full", "1"}}, 1, 32768},
      {"T017", "Ibtasam-98--medgemma-27b-it.json", "llama.cpp", {{"swa_full", "1"}}, 1, 131072},
      {"T019", "deepseek-ai--DeepSeek-V3.json", "llama.cpp", keys_q8, 1, 65536},
      {"T020", "deepseek-ai--DeepSeek-V3.json", "llama.cpp", {}, 1, 163840},
      {"T021", "deepseek-ai--DeepSeek-V3.json", "llama.cpp", {{"mla", "transposed"}}, 1, 16384},
      {"T022", "deepseek-ai--DeepSeek-V3.json", "llama.cpp", {{"mla", "expanded"}}, 1, 512},
      {"T024", "deepseek-ai--DeepSeek-V2-Lite.json", "llama.cpp", {{"mla", "expanded"}}, 1, 512},
      {"T053", "meta-llama--Llama-2-70b-hf.json", "llama.cpp", {}, 1, 512},
      {"T055", "meta-llama--Meta-Llama-3-8B.json", "llama.cpp", {}, 1, 8192},
      {"T062", "meta-llama--Meta-Llama-3-70B.json", "llama.cpp", {}, 1, 2048},
      {"T207", "nvidia--Qwen3.6-27B-NVFP4.json", "llama.cpp", {{"unified", "1"}}, 4, 65536},
      {"T208", "nvidia--Qwen3.6-27B-NVFP4.json", "llama.cpp", {}, 4, 65536, Metric::kStateBytes},
      {"T211", "nvidia--Qwen3.6-27B-NVFP4.json", "llama.cpp", {}, 1, 262144, Metric::kKvCacheBytes, "q4_0"},
      {"T215", "nvidia--Qwen3.6-27B-NVFP4.json", "llama.cpp", {}, 1, 65536, Metric::kKvCacheBytes, "q4_0"},
      {"T217", "nvidia--Qwen3.6-27B-NVFP4.json", "llama.cpp", {}, 1, 131072, Metric::kKvCacheBytes, "q4_0"},
      {"T221", "Gusiion--meta-llama-Llama-3.2-3B-Instruct.json", "llama.cpp", {}, 1, 2048},
      {"T222", "Gusiion--meta-llama-Llama-3.2-3B-Instruct.json", "llama.cpp", {}, 1, 32768},
      {"Qwen/Qwen3-32B|40960|f16", "Qwen--Qwen3-32B.json", "llama.cpp", {}, 1, 40960},
      {"moonshotai/Kimi-K2-Instruct|512|f16", "moonshotai--Kimi-K2-Instruct.json", "llama.cpp",
       {{"mla", "expanded"}}, 1, 512},
      {"moonshotai/Kimi-K2-Instruct|2048|q8_0", "moonshotai--Kimi-K2-Instruct.json", "llama.cpp", keys_q8, 1, 2048},
      {"01-ai/Yi-34B-200K|50000|f16", "01-ai--Yi-34B.json", "llama.cpp", {{"context_pad", "1"}}, 1, 50000},
  };
  return all;
}

struct Size {
  double value = 0;
  double unit = 1;
  double step = 0;  // half a unit of the last printed digit
};

double unit_of(const std::string& text) {
  if (text.find("1e6") != std::string::npos) return 1e6;
  if (text.find("MiB") != std::string::npos) return 1 << 20;
  if (text.find("GiB") != std::string::npos) return 1 << 30;
  return text.find("GB") != std::string::npos ? 1e9 : 1;
}

std::optional<Size> size_of(const std::string& number, const std::string& unit) {
  const std::string digits = number.substr(0, number.find_first_not_of("0123456789."));
  if (digits.empty()) return std::nullopt;
  const size_t point = digits.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  return Size{std::stod(digits), unit_of(unit), 0.5 * std::pow(10.0, -decimals)};
}

std::map<std::string, Size> published(const fs::path& truth) {
  std::map<std::string, Size> sizes;
  for (const accuracy::Row& row : accuracy::read_csv(truth / "memory_truth.csv")) {
    const std::optional<Size> size = size_of(row.at("value"), row.at("unit"));
    if (size) sizes[row.at("id")] = *size;
  }
  for (const accuracy::Row& row : accuracy::read_csv(truth / "kv_sizes.csv")) {
    const std::string& printed = row.at("kv_total_published");
    const std::optional<Size> size = size_of(printed, printed);
    if (size) sizes[row.at("model_id") + "|" + row.at("n_ctx_tokens") + "|" + row.at("k_dtype")] = *size;
  }
  return sizes;
}

double bytes_of(const Printed& row, const fs::path& path) {
  AnalyzeOptions options;
  options.import.mode = Mode::kDecode;
  if (*row.kv_dtype != 0) options.import.kv_format = parse_element_format(row.kv_dtype);
  options.engine = EngineRequest{row.engine, row.options, options.import.kv_format};
  options.workload = {row.batch, row.length, std::nullopt};
  const Document document = analyze(path, options).front();
  const Quantity& quantity = document.estimate.modules.front()[row.metric];
  return static_cast<double>(quantity.formula->evaluate(document.values));
}

TEST(Engine, AllocatesWhatEnginesPrint) {
  const auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no shared folder";
  const std::map<std::string, Size> sizes = published(*shared / "truth");
  int rows = 0;
  for (const Printed& row : printed_sizes()) {
    const fs::path config = *shared / "truth" / "configs" / row.config;
    const auto size = sizes.find(row.row);
    if (!fs::exists(config) || size == sizes.end()) {
      std::printf("ABSENT %s\n", row.row);
      continue;
    }
    ++rows;
    count_case("engine logs");
    const double printed = bytes_of(row, config) / size->second.unit;
    EXPECT_NEAR(printed, size->second.value, size->second.step * 1.0001) << row.row << " " << row.config;
  }
  EXPECT_GE(rows, 20);
}

}  // namespace
}  // namespace kcharter::truth
