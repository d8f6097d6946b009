// An ONNX graph, binary or text, from the file to the documents of both modes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kcharter/analyze/analyze.h"
#include "kcharter/base/error.h"
#include "kcharter/report/document.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Weights are located, not read, so the importer wants a file; this one never leaves memory.
  const int file = memfd_create("model.onnx", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    for (const kcharter::Document& document :
         kcharter::analyze("/proc/self/fd/" + std::to_string(file), {})) {
      kcharter::to_json(document);
    }
  } catch (const kcharter::Error&) {
  }
  close(file);
  return 0;
}
