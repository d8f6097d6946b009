#include "kcharter/report/html_page.h"

#include "kcharter/base/error.h"
#include "report/embedded_site.h"
#include "report/json_writer.h"

namespace kcharter {
namespace {

constexpr std::string_view kPlaceOfDocuments = "<!--kcharter:documents-->";

void replace_all(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at)) {
    text->replace(at, from.size(), to);
    at += to.size();
  }
}

std::string_view page_template() {
  for (const EmbeddedFile& file : embedded_site()) {
    if (file.name == "single.html") return file.bytes;
  }
  throw Error("this kcharter was built without its page (web/): --html is not available");
}

std::string escaped_for_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// In JSON '<' stands in strings alone, where \u003c means the same and ends no element.
std::string without_markup(std::string_view json) {
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string html_page(std::span<const NamedDocument> documents) {
  std::string page(page_template());
  const size_t place = page.find(kPlaceOfDocuments);
  if (place == std::string::npos)
    throw Error("the page built into this kcharter holds no documents");
  std::string elements;
  for (const NamedDocument& document : documents) {
    elements += "<script type=\"application/json\" data-kcharter-document=\"" +
                escaped_for_html(document.name) + "\">";
    elements += without_markup(document.json);
    elements += "</script>\n";
  }
  page.replace(place, kPlaceOfDocuments.size(), elements);
  return page;
}

std::string script_string(std::string_view text) {
  std::string quoted = json_quote(text);
  replace_all(&quoted, "<", "\\u003c");
  replace_all(&quoted, "\xE2\x80\xA8", "\\u2028");
  replace_all(&quoted, "\xE2\x80\xA9", "\\u2029");
  return quoted;
}

}  // namespace kcharter
