// Interner: gives equal sequences of numbers one small id. Comparison is exact, so that equal ids
// mean equal contents and nothing rests on a hash.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace kcharter {

class Interner {
 public:
  uint32_t id(const std::vector<uint32_t>& key) {
    return ids_.try_emplace(key, static_cast<uint32_t>(ids_.size())).first->second;
  }

 private:
  struct Hash {
    size_t operator()(const std::vector<uint32_t>& key) const {
      uint64_t hash = 0x9e3779b97f4a7c15u ^ key.size();
      for (uint32_t word : key) {
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };
  std::unordered_map<std::vector<uint32_t>, uint32_t, Hash> ids_;
};

class StringInterner {
 public:
  uint32_t id(const std::string& text) {
    return ids_.try_emplace(text, static_cast<uint32_t>(ids_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace kcharter
