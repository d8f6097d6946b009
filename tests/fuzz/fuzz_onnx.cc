// Any bytes taken for a serialized ONNX model end in a Model or an Error.
#include <cstdint>
#include <string_view>

#include "import/onnx/import_onnx.h"
#include "kcharter/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const kcharter::Mode mode : {kcharter::Mode::kPrefill, kcharter::Mode::kDecode}) {
    kcharter::ImportOptions options;
    options.mode = mode;
    try {
      kcharter::import_onnx_bytes(bytes, "model.onnx", options);
    } catch (const kcharter::Error&) {
    }
  }
  return 0;
}
