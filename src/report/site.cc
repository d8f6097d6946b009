#include "kcharter/report/site.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "kcharter/base/error.h"
#include "kcharter/report/html_page.h"
#include "kcharter/report/validate.h"
#include "report/catalog.h"
#include "report/embedded_site.h"

namespace kcharter {
namespace {

// What a page opened from a folder loads by a script tag, since it may not read files.
std::string twin(const std::string& file_name, std::string_view json) {
  return "kcharterDocument(" + script_string(file_name) + "," + script_string(json) + ");\n";
}

void write_with_twin(const std::filesystem::path& path, std::string_view json) {
  write_whole(path, json);
  std::filesystem::path twin_path = path;
  twin_path += ".js";
  write_whole(twin_path, twin(path.filename().string(), json));
}

// The document with another name in it.
std::string renamed(std::string_view document, const std::string& name) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(document);
  json["model"]["name"] = name;
  return json.dump() + "\n";
}

}  // namespace

Site::Site(const std::filesystem::path& root) : root_(root), documents_(root / "generated") {
  for (const EmbeddedFile& file : embedded_site()) {
    // The template of pages that hold their documents is no page of a site.
    if (file.name != "single.html") write_whole(root_ / file.name, file.bytes);
  }
}

std::string Site::add(std::string_view document, const std::filesystem::path& source) {
  const DocumentIdentity identity = identify_document(document);
  const std::string name = documents_.choose_name(identity.name, source, document);
  std::string text(document);
  if (name != identity.name) text = renamed(document, name);
  documents_.write(name, identity.mode, source, text);
  const std::filesystem::path path = documents_.path_of(name, identity.mode);
  write_with_twin(path, text);
  return path.filename().string();
}

void Site::write_catalog() const {
  write_with_twin(documents_.folder() / "catalog.json", catalog(documents_.folder()));
}

}  // namespace kcharter
