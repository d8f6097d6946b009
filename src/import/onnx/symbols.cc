#include "import/onnx/symbols.h"

#include <fmt/format.h>

#include <cctype>
#include <initializer_list>

namespace kcharter {
namespace {

// Lower case, without blanks and underscores: "batch _size" and "batch_size" are one.
std::string squeeze(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '_')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (text == name) return true;
  }
  return false;
}

}  // namespace

SymbolHint hint_of(std::string_view symbol) {
  const std::string name = squeeze(symbol);
  if (is_one_of(name, {"", "none", "?", "-1", "unk", "unknown", "dynamic"}))
    return SymbolHint::kUnknown;
  const bool joins = contains_any(name, {"+", "plus"});
  if (contains_any(name, {"batch"})) {
    if (contains_any(name, {"head"})) return SymbolHint::kBatchTimesHeads;
    if (joins && name.ends_with('1')) return SymbolHint::kBatchPlusOne;
    if (is_one_of(name, {"batch", "batchsize", "batchdim", "batchaxis", "nbatch", "numbatch"})) {
      return SymbolHint::kBatch;
    }
    return SymbolHint::kNone;
  }
  if (is_one_of(name, {"n", "b", "bs", "bsz"})) return SymbolHint::kBatch;
  if (contains_any(name, {"past"})) return joins ? SymbolHint::kTotal : SymbolHint::kPast;
  if (contains_any(name, {"encoder"}) && !contains_any(name, {"decoder"}))
    return SymbolHint::kEncoder;
  if (contains_any(name, {"total"}) && contains_any(name, {"seq", "len"}))
    return SymbolHint::kTotal;
  if (contains_any(name, {"attentionmask", "kvlen", "kvseq"})) return SymbolHint::kTotal;
  if (joins && contains_any(name, {"seq"})) return SymbolHint::kTotal;
  if (is_one_of(name, {"s", "t", "seq", "sequence", "seqlen", "sequencelen", "sequencelength",
                       "seqlength", "decodersequencelength", "decodersequencelen", "tokens",
                       "numtokens"})) {
    return SymbolHint::kSequence;
  }
  return SymbolHint::kNone;
}

std::string variable_name(std::string_view symbol, std::set<std::string>& taken) {
  std::string name;
  for (const char c : symbol) {
    const bool fits =
        std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
    if (fits) {
      name += c;
    } else if (c == '+') {
      name += "_plus_";
    } else if (c == '/') {
      name += "_div_";
    } else if (c == '*') {
      name += "_times_";
    } else {
      name += '_';
    }
  }
  std::string clean;
  for (const char c : name) {
    if (c != '_' || clean.empty() || clean.back() != '_') clean += c;
  }
  while (clean.size() > 1 && clean.ends_with('_')) clean.pop_back();
  constexpr size_t kLongest = 64;
  if (clean.size() > kLongest) clean.resize(kLongest);
  if (clean.empty() || clean == "_" ||
      std::isdigit(static_cast<unsigned char>(clean.front())) != 0 ||
      is_one_of(clean, {"floor_div", "ceil_div", "mod", "min", "max", "expected_distinct"})) {
    clean = "dim_" + clean;
  }
  std::string unique = clean;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", clean, i);
  return unique;
}

int64_t usual_size(std::string_view symbol, size_t axis, size_t rank, bool is_float) {
  const std::string name = squeeze(symbol);
  if (is_one_of(name, {"height", "width", "h", "w", "imageheight", "imagewidth"})) return 224;
  if (contains_any(name, {"channel"}) || name == "c") return 3;
  if (contains_any(name, {"featuresize", "mel"})) return 80;
  if (contains_any(name, {"sample", "audio"})) return 16000;
  if (contains_any(name, {"encoder"})) return contains_any(name, {"/2"}) ? 1500 : 512;
  if (contains_any(name, {"batch", "image", "crop", "beam"}) || axis == 0) return 1;
  if (is_float && rank == 4) return axis == 1 ? 3 : 224;
  return 128;
}

}  // namespace kcharter
