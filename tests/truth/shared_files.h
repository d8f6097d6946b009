// Real model files and numbers known from elsewhere. They stand beside the repository, not in it, so
// a test asks for them, skips itself where they are absent, and says what it looked at:
//
//   const auto corpus = corpus_dir();
//   if (!corpus) GTEST_SKIP() << "no corpus";
//   for (const auto& file : std::filesystem::directory_iterator(*corpus)) { …; count_case("corpus"); }
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace kcharter::truth {

std::optional<std::filesystem::path> shared_dir();  // ../shared
std::optional<std::filesystem::path> corpus_dir();  // its corpus, unpacked once per machine

// Real cases that were looked at, by where they come from; main prints them at the end.
void count_case(const std::string& origin);
const std::map<std::string, int>& cases();

}  // namespace kcharter::truth
