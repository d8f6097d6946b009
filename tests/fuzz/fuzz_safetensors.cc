// The header of a safetensors file.
#include <cstddef>
#include <cstdint>

#include "import/safetensors/read_header.h"
#include "kcharter/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    kcharter::read_safetensors_header({reinterpret_cast<const std::byte*>(data), size});
  } catch (const kcharter::Error&) {  // the only thing a bad file may do
  }
  return 0;
}
