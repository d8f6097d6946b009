// A formula, as a document of someone else's may hold it: what parses is canonical, so it survives
// being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kcharter/base/error.h"
#include "kcharter/symbolic/expr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kcharter::Expr;
  try {
    const Expr formula = Expr::parse({reinterpret_cast<const char*>(data), size});
    if (!(Expr::parse(formula.to_string()) == formula)) std::abort();
  } catch (const kcharter::Error&) {
  }
  return 0;
}
