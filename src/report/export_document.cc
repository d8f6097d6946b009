#include "kcharter/report/export_document.h"

#include "kcharter/base/error.h"
#include "report/export_formats.h"

namespace kcharter {

std::string export_document(std::string_view text, ExportFormat format, const Device& device,
                            const Bindings& set) {
  const PricedDocument document = price_document(text, device, set);
  if (format == ExportFormat::kPerfetto) return perfetto_trace(document, device);
  if (document.format != "onnx") {
    throw Error("the document was made from a " + document.format +
                ", and no ONNX file has its nodes; `--to perfetto` needs none");
  }
  return format == ExportFormat::kNetron ? netron_attachment(document)
                                         : model_explorer_node_data(document);
}

}  // namespace kcharter
