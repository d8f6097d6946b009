#include "import/onnx/text_model.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

}  // namespace

std::string serialize_onnx_text(std::string_view text) {
  onnx::ModelProto model;
  const std::string copy(text);
  try {
    onnx::OnnxParser parser(copy.c_str());
    const auto status = parser.Parse(model);
    if (!status.IsOK()) throw Error(status.ErrorMessage());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(fmt::format("not ONNX text: {}", error.what()));
  }
  return model.SerializeAsString();
}

std::string serialize_proto_text(std::string_view text) {
  onnx::ModelProto model;
  FirstError errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(200);
  if (!parser.ParseFromString(std::string(text), &model)) {
    throw Error(fmt::format("not an ONNX model in protobuf's text format: {}", errors.text));
  }
  return model.SerializeAsString();
}

}  // namespace kcharter
