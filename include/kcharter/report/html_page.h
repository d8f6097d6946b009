// html_page: one self-contained page: the viewer and the documents it shows.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kcharter {

// A document as JSON under its file name, "NAME.MODE.json".
struct NamedDocument {
  std::string name;
  std::string json;
};

std::string html_page(std::span<const NamedDocument> documents);

// `text` as a JavaScript string literal that may stand in a <script> element: no "</", no "<!--",
// no line separators that older engines refuse.
std::string script_string(std::string_view text);

}  // namespace kcharter
