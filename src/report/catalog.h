// The catalogue of a site: what its landing page shows of each document
// (schemas/catalog-1.schema.json).
#pragma once

#include <filesystem>
#include <string>

namespace kcharter {

// From the documents NAME.MODE.json in `folder`; files that are none are left out. The same bytes
// for the same documents.
std::string catalog(const std::filesystem::path& folder);

}  // namespace kcharter
