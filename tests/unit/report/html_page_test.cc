#include "kcharter/report/html_page.h"

#include <gtest/gtest.h>

#include <vector>

namespace kcharter {
namespace {

TEST(ScriptString, EndsNoElementAndBreaksNoLine) {
  EXPECT_EQ(script_string("</script><!-- \xE2\x80\xA8\xE2\x80\xA9\""),
            "\"\\u003c/script>\\u003c!-- \\u2028\\u2029\\\"\"");
}

TEST(HtmlPage, HoldsItsDocumentsAsData) {
  const std::vector<NamedDocument> documents = {{"a.prefill.json", "{\"x\":\"</script><b>\"}"},
                                                {"b.decode.json", "{}"}};
  const std::string page = html_page(documents);
  EXPECT_NE(
      page.find("data-kcharter-document=\"a.prefill.json\">{\"x\":\"\\u003c/script>\\u003cb>\"}"
                "</script>"),
      std::string::npos);
  EXPECT_NE(page.find("data-kcharter-document=\"b.decode.json\">{}</script>"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));  // names of SVG, no address
}

}  // namespace
}  // namespace kcharter
