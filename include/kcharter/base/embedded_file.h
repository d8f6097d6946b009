// EmbeddedFile: a file that travels inside the executable (src/embed.cmake puts it there), so that
// the binary alone can publish a site, validate a document and name devices.
//
//   for (const EmbeddedFile& file : embedded_site()) write_file(site / file.name, file.bytes);
#pragma once

#include <string_view>

namespace kcharter {

struct EmbeddedFile {
  std::string_view name;  // without a folder: "viewer.js"
  std::string_view bytes;
};

}  // namespace kcharter
