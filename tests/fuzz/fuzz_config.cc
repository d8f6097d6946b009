// A config.json: what it says, and the graph that is built from it in both modes.
#include <cstddef>
#include <cstdint>

#include "import/architecture/build_model.h"
#include "kcharter/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kcharter;
  try {
    const ModelConfig config = ModelConfig::parse({reinterpret_cast<const char*>(data), size});
    for (const Mode mode : {Mode::kPrefill, Mode::kDecode}) {
      try {
        BuildOptions options;
        options.mode = mode;
        build_model(config, options);
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
