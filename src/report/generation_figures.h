// What answering a request takes on a device: both modes of one model together.
#pragma once

#include <string>

#include "kcharter/report/document.h"
#include "kcharter/report/summary_formats.h"
#include "report/json_writer.h"

namespace kcharter {

// The two modes of one model.
bool is_pair(const Document& prefill, const Document& decode);

// A section of the terminal table; `asked` has a device and a request.
std::string generation_section(const Document& prefill, const Document& decode,
                               const OnDevice& asked, size_t width);
void write_generation(const Document& prefill, const Document& decode, const OnDevice& asked,
                      JsonWriter& json);

}  // namespace kcharter
