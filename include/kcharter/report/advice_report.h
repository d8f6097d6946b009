// What `kcharter advise` says: findings by pattern, ranked by the time they would save on a device,
// and by memory.
#pragma once

#include <span>
#include <string>

#include "kcharter/estimate/device.h"
#include "kcharter/report/document.h"

namespace kcharter {

// `documents` are those of one model, a mode each. `width` is the terminal's.
std::string advice_table(std::span<const Document> documents, const Device& device, size_t width);
std::string advice_markdown(std::span<const Document> documents, const Device& device);
// An array with an entry per document.
std::string advice_json(std::span<const Document> documents, const Device& device);

}  // namespace kcharter
