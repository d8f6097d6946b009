// The index of a checkpoint in shards: *.safetensors.index.json.
#include <cstddef>
#include <cstdint>

#include "import/safetensors/read_index.h"
#include "kcharter/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    kcharter::read_safetensors_index({reinterpret_cast<const char*>(data), size});
  } catch (const kcharter::Error&) {
  }
  return 0;
}
