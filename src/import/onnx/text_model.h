// Text forms of an ONNX model → the binary form.
#pragma once

#include <string>
#include <string_view>

namespace kcharter {

// ONNX's syntax (onnx/defs/parser.h). Throws Error with the place in the text.
std::string serialize_onnx_text(std::string_view text);
// protobuf's text format of a ModelProto.
std::string serialize_proto_text(std::string_view text);

}  // namespace kcharter
