// Whether a model fits a device, and what would: for people and for scripts.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kcharter/estimate/device.h"
#include "kcharter/report/document.h"

namespace kcharter {

// `documents` are those of one model, a mode each; `overhead_bytes` is what the runtime takes.
std::string fit_table(std::span<const Document> documents, const Device& device,
                      int64_t overhead_bytes, size_t width);
// An array with an entry per document; what is unknown or without limit is null.
std::string fit_json(std::span<const Document> documents, const Device& device,
                     int64_t overhead_bytes);

}  // namespace kcharter
