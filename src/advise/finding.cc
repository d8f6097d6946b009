#include "kcharter/advise/finding.h"

namespace kcharter {

std::string_view name(Sure sure) {
  switch (sure) {
    case Sure::kCertain:
      return "certain";
    case Sure::kLikely:
      return "likely";
    case Sure::kPossible:
      return "possible";
  }
  return "possible";
}

std::string_view name(Promise promise) {
  return promise == Promise::kAtLeast ? "at_least" : "at_most";
}

}  // namespace kcharter
