// Diagnostic: there is a document, with a reservation. Codes are stable words that scripts match on
// (`unknown-operator`, `guessed-binding`); docs/diagnostics.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kcharter {

enum class Severity : uint8_t { kNote, kWarning, kError };

std::string_view name(Severity severity);  // note, warning, error

struct Diagnostic {
  Severity severity = Severity::kWarning;
  std::string code;
  std::string subject;  // the first one met: "node 'Foo_3'"
  std::string message;
  int64_t count = 1;  // how often this code was met with this message
};

// Collects diagnostics; one with a code and message already met only raises its count, so that a
// thousand nodes of one unknown operator are one line.
class Diagnostics {
 public:
  void add(Severity severity, std::string_view code, std::string_view subject,
           std::string_view message);
  void add(const Diagnostics& others);
  const std::vector<Diagnostic>& all() const { return all_; }
  bool has(std::string_view code) const;

 private:
  std::vector<Diagnostic> all_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace kcharter
