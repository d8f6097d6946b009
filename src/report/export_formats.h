// One writer for each program that export_document() serves.
#pragma once

#include <string>

#include "report/priced_document.h"

namespace kcharter {

std::string netron_attachment(const PricedDocument& document);
std::string model_explorer_node_data(const PricedDocument& document);
std::string perfetto_trace(const PricedDocument& document, const Device& device);

}  // namespace kcharter
