// What the name of a symbolic dimension suggests. Names are labels: "past_sequence_length + 1" is
// never computed with, and a guess from a name is said in a diagnostic.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace kcharter {

enum class SymbolHint : uint8_t {
  kNone,
  kUnknown,  // a placeholder, not a name: "None", "?"
  kBatch,
  kBatchTimesHeads,  // "batch_size x num_heads"
  kBatchPlusOne,     // of offsets into a ragged batch
  kSequence,
  kPast,
  kTotal,  // past and this step together
  kEncoder,
};

SymbolHint hint_of(std::string_view symbol);

// A name of a variable made of the model's own: [A-Za-z_][A-Za-z0-9_]*, not yet in `taken`, to
// which it is added.
std::string variable_name(std::string_view symbol, std::set<std::string>& taken);

// A size that such a dimension often has.
int64_t usual_size(std::string_view symbol, size_t axis, size_t rank, bool is_float);

}  // namespace kcharter
