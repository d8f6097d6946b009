#include "import/onnx/model_view.h"

#include <fmt/format.h>

#include <bit>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

// Which fields of each message hold bytes, and which one number (onnx.proto).
constexpr MessageFields kStringStringEntryFields = {"StringStringEntryProto", field_set({1, 2})};
constexpr MessageFields kOperatorSetIdFields = {"OperatorSetIdProto", field_set({1}),
                                                field_set({2})};
constexpr MessageFields kTensorShapeFields = {"TensorShapeProto", field_set({1})};
constexpr MessageFields kTensorShapeDimensionFields = {"TensorShapeProto.Dimension", field_set({2}),
                                                       field_set({1})};
constexpr MessageFields kTypeTensorFields = {"TypeProto.Tensor", field_set({2}), field_set({1})};
constexpr MessageFields kTypeFields = {"TypeProto", field_set({1, 4, 5, 7, 8, 9})};
constexpr MessageFields kModelFields = {"ModelProto", field_set({2, 3, 4, 6, 7, 8, 14, 20, 25, 26}),
                                        field_set({1, 5})};
constexpr MessageFields kGraphFields = {"GraphProto",
                                        field_set({1, 2, 5, 10, 11, 12, 13, 14, 15, 16})};
constexpr MessageFields kFunctionFields = {"FunctionProto",
                                           field_set({1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})};
constexpr MessageFields kNodeFields = {"NodeProto", field_set({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};
constexpr MessageFields kAttributeFields = {
    "AttributeProto", field_set({1, 4, 5, 6, 9, 10, 11, 13, 14, 15, 21, 22, 23}),
    field_set({2, 3, 20})};
constexpr MessageFields kTensorFields = {"TensorProto", field_set({3, 6, 8, 9, 12, 13, 16}),
                                         field_set({2, 14})};
constexpr MessageFields kSparseTensorFields = {"SparseTensorProto", field_set({1, 2})};
constexpr MessageFields kValueInfoFields = {"ValueInfoProto", field_set({1, 2, 3, 4})};

KeyValue read_entry(FileBytes bytes) {
  KeyValue entry;
  WireReader reader(bytes, kStringStringEntryFields);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) entry.first = field.text();
    if (field.number == 2) entry.second = field.text();
  }
  return entry;
}

OpsetView read_opset(FileBytes bytes) {
  OpsetView opset;
  WireReader reader(bytes, kOperatorSetIdFields);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) opset.domain = field.text();
    if (field.number == 2) opset.version = field.integer();
  }
  return opset;
}

// Longer lists (tree ensembles) are no settings of an operator; what is behind this is not kept.
constexpr size_t kLongestList = 1 << 16;

// A repeated integer field may be packed or not, whatever its declaration says.
void append_integers(const WireField& field, std::vector<int64_t>& into) {
  if (field.type != WireType::kBytes) {
    if (into.size() <= kLongestList) into.push_back(field.integer());
    return;
  }
  PackedVarints packed(field.payload);
  for (uint64_t value; into.size() <= kLongestList && packed.next(value);) {
    into.push_back(static_cast<int64_t>(value));
  }
}

float float_of(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

void append_floats(const WireField& field, std::vector<float>& into) {
  if (field.type != WireType::kBytes) {
    if (into.size() <= kLongestList) into.push_back(float_of(field.scalar));
    return;
  }
  const std::string_view packed = field.payload.text;
  for (size_t i = 0; i + 4 <= packed.size() && into.size() <= kLongestList; i += 4) {
    float value = 0;
    packed.copy(reinterpret_cast<char*>(&value), 4, i);
    into.push_back(value);
  }
}

PayloadField payload_field(uint32_t number) {
  switch (number) {
    case 4:
      return PayloadField::kFloat;
    case 5:
      return PayloadField::kInt32;
    case 6:
      return PayloadField::kString;
    case 7:
      return PayloadField::kInt64;
    case 9:
      return PayloadField::kRaw;
    case 10:
      return PayloadField::kDouble;
    case 11:
      return PayloadField::kUInt64;
    default:
      return PayloadField::kNone;
  }
}

void add_payload(const WireField& field, TensorView& tensor) {
  const PayloadField kind = payload_field(field.number);
  if (kind == PayloadField::kNone) return;
  if (field.type == WireType::kBytes && field.payload.text.empty() &&
      kind != PayloadField::kString) {
    return;
  }
  if (tensor.payload_pieces == 0) {
    tensor.field = kind;
    tensor.payload = field.payload;
  } else if (tensor.field != kind) {
    tensor.field = PayloadField::kSeveral;
  }
  tensor.payload_pieces += 1;
  // An unpacked number takes its own bytes; how many does not matter, but that it is not one
  // stretch.
  tensor.payload_bytes += field.type == WireType::kBytes ? field.payload.text.size() : 1;
}

std::vector<DimensionView> read_shape(FileBytes bytes) {
  std::vector<DimensionView> dims;
  WireReader reader(bytes, kTensorShapeFields);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) continue;
    DimensionView dim;
    WireReader dim_reader(field.payload, kTensorShapeDimensionFields);
    for (WireField part; dim_reader.next(part);) {
      if (part.number == 1) dim.value = part.integer();
      if (part.number == 2) dim.symbol = part.text();
    }
    dims.push_back(dim);
  }
  return dims;
}

void read_tensor_type(FileBytes bytes, TypeView& type) {
  WireReader reader(bytes, kTypeTensorFields);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) type.element_type = field.integer();
    if (field.number == 2) type.dims = read_shape(field.payload);
  }
}

// The element type of a sequence or optional.
FileBytes read_element_type(FileBytes bytes) {
  FileBytes element;
  WireReader reader(bytes, kTypeFields);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) element = field.payload;
  }
  return element;
}

}  // namespace

ModelView read_model(FileBytes bytes) {
  ModelView model;
  WireReader reader(bytes, kModelFields);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        model.ir_version = field.integer();
        break;
      case 2:
        model.producer = field.text();
        break;
      case 7:
        model.graphs.push_back(field.payload);
        break;
      case 8:
        model.opsets.push_back(read_opset(field.payload));
        break;
      case 14:
        model.metadata.push_back(read_entry(field.payload));
        break;
      case 25:
        model.functions.push_back(field.payload);
        break;
      case 3:
      case 4:
      case 5:
      case 6:
      case 20:
      case 26:
        break;
      default:
        model.has_unknown_fields = true;
    }
  }
  return model;
}

GraphView read_graph(FileBytes bytes) {
  GraphView graph;
  WireReader reader(bytes, kGraphFields);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        graph.nodes.push_back(field.payload);
        break;
      case 2:
        graph.name = field.text();
        break;
      case 5:
        graph.initializers.push_back(field.payload);
        break;
      case 11:
        graph.inputs.push_back(field.payload);
        break;
      case 12:
        graph.outputs.push_back(field.payload);
        break;
      case 13:
        graph.value_infos.push_back(field.payload);
        break;
      case 15:
        graph.sparse_initializers.push_back(field.payload);
        break;
      default:
        break;
    }
  }
  return graph;
}

FunctionView read_function(FileBytes bytes) {
  FunctionView function;
  WireReader reader(bytes, kFunctionFields);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        function.name = field.text();
        break;
      case 4:
        function.inputs.push_back(field.text());
        break;
      case 5:
        function.outputs.push_back(field.text());
        break;
      case 7:
        function.nodes.push_back(field.payload);
        break;
      case 9:
        function.opsets.push_back(read_opset(field.payload));
        break;
      case 10:
        function.domain = field.text();
        break;
      case 11:
        function.attribute_defaults.push_back(field.payload);
        break;
      case 13:
        function.overload = field.text();
        break;
      default:
        break;
    }
  }
  return function;
}

NodeView read_node(FileBytes bytes) {
  NodeView node;
  WireReader reader(bytes, kNodeFields);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        node.inputs.push_back(field.text());
        break;
      case 2:
        node.outputs.push_back(field.text());
        break;
      case 3:
        node.name = field.text();
        break;
      case 4:
        node.op_type = field.text();
        break;
      case 5:
        node.attributes.push_back(field.payload);
        break;
      case 7:
        node.domain = field.text();
        break;
      case 8:
        node.overload = field.text();
        break;
      case 9:
        node.metadata.push_back(read_entry(field.payload));
        break;
      default:
        break;
    }
  }
  return node;
}

AttributeView read_attribute(FileBytes bytes) {
  AttributeView attribute;
  WireReader reader(bytes, kAttributeFields);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        attribute.name = field.text();
        break;
      case 2:
        attribute.number = float_of(field.scalar);
        break;
      case 3:
        attribute.integer = field.integer();
        break;
      case 4:
        attribute.text = field.text();
        break;
      case 5:
        attribute.tensor = field.payload;
        break;
      case 6:
      case 11:
        attribute.graphs.push_back(field.payload);
        break;
      case 7:
        append_floats(field, attribute.numbers);
        break;
      case 8:
        append_integers(field, attribute.integers);
        break;
      case 9:
        if (attribute.texts.size() <= kLongestList) attribute.texts.push_back(field.text());
        break;
      case 10:
      case 14:
      case 15:
      case 23:
        attribute.other = true;
        break;
      case 20:
        attribute.type = field.integer();
        break;
      case 21:
        attribute.reference = field.text();
        break;
      case 22:
        attribute.sparse_tensor = field.payload;
        break;
      default:
        break;
    }
  }
  if (attribute.numbers.size() > kLongestList) attribute.numbers.clear();
  if (attribute.integers.size() > kLongestList) attribute.integers.clear();
  if (attribute.texts.size() > kLongestList) attribute.texts.clear();
  return attribute;
}

TensorView read_tensor(FileBytes bytes) {
  TensorView tensor;
  WireReader reader(bytes, kTensorFields);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        append_integers(field, tensor.dims);
        break;
      case 2:
        tensor.data_type = field.integer();
        break;
      case 8:
        tensor.name = field.text();
        break;
      case 13:
        tensor.external_data.push_back(read_entry(field.payload));
        break;
      case 14:
        tensor.external = field.integer() == 1;
        break;
      default:
        add_payload(field, tensor);
    }
  }
  if (tensor.dims.size() > kLongestList) {
    throw Error(
        fmt::format("a tensor at byte {} has more than {} dimensions", bytes.offset, kLongestList));
  }
  return tensor;
}

SparseTensorView read_sparse_tensor(FileBytes bytes) {
  SparseTensorView sparse;
  WireReader reader(bytes, kSparseTensorFields);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) sparse.values = field.payload;
    if (field.number == 2) sparse.indices = field.payload;
    if (field.number == 3) append_integers(field, sparse.dims);
  }
  return sparse;
}

ValueInfoView read_value_info(FileBytes bytes) {
  ValueInfoView info;
  WireReader reader(bytes, kValueInfoFields);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) info.name = field.text();
    if (field.number == 2) info.type = field.payload;
  }
  return info;
}

TypeView read_type(FileBytes bytes) {
  TypeView type;
  // Two rounds: a sequence or optional, then what it holds.
  for (int depth = 0; depth < 2; ++depth) {
    FileBytes element;
    WireReader reader(bytes, kTypeFields);
    for (WireField field; reader.next(field);) {
      const bool outer = depth == 0;
      switch (field.number) {
        case 1:
        case 8:
          if (outer) {
            type.kind = field.number == 1 ? TypeViewKind::kTensor : TypeViewKind::kSparseTensor;
          }
          read_tensor_type(field.payload, type);
          break;
        case 4:
        case 9:
          if (outer) {
            type.kind = field.number == 4 ? TypeViewKind::kSequence : TypeViewKind::kOptional;
            element = read_element_type(field.payload);
          }
          break;
        case 5:
          if (outer) type.kind = TypeViewKind::kMap;
          break;
        case 7:
          if (outer) type.kind = TypeViewKind::kOpaque;
          break;
        default:
          break;
      }
    }
    if (element.text.empty()) break;
    bytes = element;
  }
  return type;
}

DType dtype_of(int64_t onnx_data_type) {
  static constexpr DType kTypes[] = {
      DType::kUnknown,    DType::kF32,   DType::kUInt8,    DType::kInt8,       DType::kUInt16,
      DType::kInt16,      DType::kInt32, DType::kInt64,    DType::kString,     DType::kBool,
      DType::kF16,        DType::kF64,   DType::kUInt32,   DType::kUInt64,     DType::kComplex64,
      DType::kComplex128, DType::kBF16,  DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
      DType::kF8E5M2FNUZ, DType::kUInt4, DType::kInt4,     DType::kF4E2M1,     DType::kF8E8M0,
      DType::kUInt2,      DType::kInt2,  DType::kF6E2M3,   DType::kF6E3M2};
  if (onnx_data_type < 0 || onnx_data_type >= static_cast<int64_t>(std::size(kTypes))) {
    return DType::kUnknown;
  }
  return kTypes[onnx_data_type];
}

}  // namespace kcharter
