// A document for other programs: what each node costs at one setting, in their own file formats.
//
//   netron          an attachment that shows metrics beside the nodes and values of the open model
//   model-explorer  node data: the time of each node, by its output tensors, with a colour scale
//   perfetto        a Chrome trace of the estimated step, modules around their nodes
//
// docs/export.md says how each is opened. Times are those of time.h on the device.
#pragma once

#include <string>
#include <string_view>

#include "kcharter/estimate/device.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

enum class ExportFormat : uint8_t { kNetron, kModelExplorer, kPerfetto };

// `document` is the JSON of a valid document; `set` are values of its variables other than its own.
// Throws Error on anything else, on a variable it does not have, and where its nodes are in no file
// that the other program could open (Netron and Model Explorer show the graph of an ONNX file).
std::string export_document(std::string_view document, ExportFormat format, const Device& device,
                            const Bindings& set);

}  // namespace kcharter
