#include "kcharter/base/version.h"

namespace kcharter {

// CMakeLists.txt defines KCHARTER_VERSION for this file alone: nothing else is rebuilt by a
// release.
std::string_view version() { return KCHARTER_VERSION; }

}  // namespace kcharter
