#include "kcharter/base/diagnostic.h"

namespace kcharter {

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

void Diagnostics::add(Severity severity, std::string_view code, std::string_view subject,
                      std::string_view message) {
  std::string key(code);
  key += '\n';
  key += message;
  const auto [entry, is_new] = index_.try_emplace(std::move(key), all_.size());
  if (is_new) {
    all_.push_back({severity, std::string(code), std::string(subject), std::string(message), 1});
  } else {
    ++all_[entry->second].count;
  }
}

void Diagnostics::add(const Diagnostics& others) {
  if (&others == this) return;
  for (const Diagnostic& other : others.all_) {
    add(other.severity, other.code, other.subject, other.message);
    all_[index_.at(other.code + '\n' + other.message)].count += other.count - 1;
  }
}

bool Diagnostics::has(std::string_view code) const {
  for (const Diagnostic& diagnostic : all_) {
    if (diagnostic.code == code) return true;
  }
  return false;
}

}  // namespace kcharter
