#include "kcharter/base/nesting.h"

namespace kcharter {

bool nests_too_deep(std::string_view json) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool is_in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        is_in_text = false;
      }
    } else if (c == '"') {
      is_in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace kcharter
