#include "kcharter/report/validate.h"

#include <nlohmann/json.hpp>

#include "kcharter/base/error.h"
#include "report/document_checks.h"
#include "report/embedded_schemas.h"
#include "report/json_schema.h"
#include "kcharter/base/nesting.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

const Json& document_schema() {
  static const Json schema = [] {
    for (const EmbeddedFile& file : embedded_schemas()) {
      if (file.name == "document-1.schema.json") return Json::parse(file.bytes);
    }
    throw Error("this kcharter was built without its schemas");
  }();
  return schema;
}

// Discarded where it is no JSON, or nests deeper than any document.
Json parse(std::string_view text) {
  if (nests_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

// What keeps `json` from being read at all; empty: nothing.
std::string refusal(const Json& json) {
  if (json.is_discarded()) return "is not JSON, ends early, or nests deeper than a document does";
  if (!json.is_object() || json.value("schema", Json()) != "kcharter.document") {
    return "is not a document of kcharter: its 'schema' is not \"kcharter.document\"";
  }
  const Json version = json.value("schema_version", Json());
  if (!version.is_string() || !version.get_ref<const std::string&>().starts_with("1.")) {
    return "has the schema version " + version.dump() + "; this program reads 1.x";
  }
  return "";
}

}  // namespace

bool is_document(std::string_view text) {
  // Not by parsing: a weights index of many megabytes is JSON too.
  return text.substr(0, 4096).find("\"kcharter.document\"") != std::string_view::npos;
}

std::vector<std::string> validate_document(std::string_view text) {
  const Json json = parse(text);
  if (const std::string reason = refusal(json); !reason.empty()) return {reason};
  std::vector<std::string> problems;
  check_schema(json, document_schema(), &problems);
  // What follows relies on the form that the schema asserts.
  if (problems.empty()) check_document(json, &problems);
  return problems;
}

DocumentIdentity identify_document(std::string_view text) {
  const Json json = parse(text);
  if (const std::string reason = refusal(json); !reason.empty()) throw Error("the text " + reason);
  const Json model = json.value("model", Json::object());
  const Json mode = json.value("mode", Json());
  if (!model.contains("name") || !model["name"].is_string() ||
      (mode != "prefill" && mode != "decode")) {
    throw Error("the document does not name its model and mode");
  }
  return {model["name"].get<std::string>(), mode.get<std::string>()};
}

}  // namespace kcharter
