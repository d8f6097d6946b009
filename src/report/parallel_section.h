// What one of several devices holds, computes and sends, as a section of the terminal table.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kcharter/estimate/device.h"
#include "kcharter/report/document.h"

namespace kcharter {

// A column per document, of the fullest stage; empty where there is one device only. With a
// `device` also the time that what is sent takes on its link.
std::string parallel_section(std::span<const Document> documents, const Device* device,
                             size_t width);

}  // namespace kcharter
