// Views of an ONNX model's messages: what the importer needs of each, as text that lies in the
// file. Reading one message never reads those inside it (graphs, attributes, tensors are
// FileBytes), so nesting costs no recursion, and a weight's payload is an offset and a length. The
// fields are those of onnx.proto (IR 14); documentation strings, stack traces and the like are
// passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/wire_reader.h"
#include "kcharter/model/dtype.h"

namespace kcharter {

using KeyValue = std::pair<std::string_view, std::string_view>;

struct OpsetView {
  std::string_view domain;
  int64_t version = 0;
};

struct ModelView {
  std::optional<int64_t> ir_version;
  std::string_view producer;
  std::vector<OpsetView> opsets;
  std::vector<FileBytes> graphs;  // one, in a sound file
  std::vector<FileBytes> functions;
  std::vector<KeyValue> metadata;
  bool has_unknown_fields = false;
};

struct GraphView {
  std::string_view name;
  std::vector<FileBytes> nodes;
  std::vector<FileBytes> initializers;
  std::vector<FileBytes> sparse_initializers;
  std::vector<FileBytes> inputs;
  std::vector<FileBytes> outputs;
  std::vector<FileBytes> value_infos;
};

struct FunctionView {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<FileBytes> nodes;
  std::vector<FileBytes> attribute_defaults;
  std::vector<OpsetView> opsets;
};

struct NodeView {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<FileBytes> attributes;
  std::vector<KeyValue> metadata;
};

struct AttributeView {
  std::string_view name;
  std::string_view reference;  // the attribute of the calling node that it stands for
  int64_t type = 0;            // AttributeProto.AttributeType; 0 in files that do not say
  std::optional<float> number;
  std::optional<int64_t> integer;
  std::optional<std::string_view> text;
  std::optional<FileBytes> tensor;
  std::optional<FileBytes> sparse_tensor;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string_view> texts;
  std::vector<FileBytes> graphs;
  bool other = false;  // lists of tensors, types: kept by name only
};

// Where the elements of a tensor stand in its message.
enum class PayloadField : uint8_t {
  kNone,
  kRaw,
  kFloat,
  kInt32,
  kInt64,
  kDouble,
  kUInt64,
  kString,
  kSeveral
};

struct TensorView {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  bool external = false;
  std::vector<KeyValue> external_data;
  PayloadField field = PayloadField::kNone;
  FileBytes payload;            // the raw or packed bytes; of an unpacked field the first element
  uint64_t payload_pieces = 0;  // 1 where the payload is one stretch of the file
  uint64_t payload_bytes = 0;   // of all pieces
};

struct SparseTensorView {
  FileBytes values;
  FileBytes indices;
  std::vector<int64_t> dims;
};

struct DimensionView {
  std::optional<int64_t> value;
  std::string_view symbol;
};

enum class TypeViewKind : uint8_t {
  kNone,
  kTensor,
  kSparseTensor,
  kSequence,
  kOptional,
  kMap,
  kOpaque
};

// A sequence or optional gives the type of what it holds; one of these inside another is kOpaque.
struct TypeView {
  TypeViewKind kind = TypeViewKind::kNone;
  int64_t element_type = 0;
  std::optional<std::vector<DimensionView>> dims;
};

struct ValueInfoView {
  std::string_view name;
  FileBytes type;
};

ModelView read_model(FileBytes bytes);
GraphView read_graph(FileBytes bytes);
FunctionView read_function(FileBytes bytes);
NodeView read_node(FileBytes bytes);
AttributeView read_attribute(FileBytes bytes);
TensorView read_tensor(FileBytes bytes);
SparseTensorView read_sparse_tensor(FileBytes bytes);
ValueInfoView read_value_info(FileBytes bytes);
TypeView read_type(FileBytes bytes);

// kUnknown for a number that TensorProto.DataType does not define.
DType dtype_of(int64_t onnx_data_type);

}  // namespace kcharter
