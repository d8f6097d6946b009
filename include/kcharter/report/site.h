// A static site: the viewer's files, SITE/generated/NAME.MODE.json with a script twin each, and the
// catalogue of the landing page. Publishing adds to what is there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kcharter/report/document_folder.h"

namespace kcharter {

class Site {
 public:
  // Makes the folders and writes the viewer's files.
  explicit Site(const std::filesystem::path& root);

  DocumentFolder& documents() { return documents_; }

  // Adds a document as JSON, under its own name unless that belongs to another model; `source` is
  // the model it was made from, empty where that is not known. A document says which model and mode
  // it is of. Returns the file's name.
  std::string add(std::string_view document, const std::filesystem::path& source);

  // Writes generated/catalog.json from the documents that are there now.
  void write_catalog() const;

 private:
  std::filesystem::path root_;
  DocumentFolder documents_;
};

}  // namespace kcharter
