// Whether a text is a document: by schemas/document-1.schema.json, and by what no schema can say:
// indices in range, formulas that parse, sums that add up, values that are their formula's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

// What is wrong, a sentence each with its place ("/modules/3/metrics/flops: …"); empty: valid. At
// most 50 are given. Text that is no JSON, and documents of another major version, are one problem.
std::vector<std::string> validate_document(std::string_view text);

struct DocumentIdentity {
  std::string name;
  std::string mode;  // prefill, decode
};

// Throws Error where `text` is not a document of a version this program reads.
DocumentIdentity identify_document(std::string_view text);
// Whether it is JSON that calls itself a document of kcharter.
bool is_document(std::string_view text);

}  // namespace kcharter
