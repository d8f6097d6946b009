#include "shape/schema_inference.h"

#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>

#include <string>
#include <unordered_map>

#include "shape/dim_rules.h"

namespace kcharter {
namespace {

// Formulas by token, for the time of one inference.
class Tokens {
 public:
  std::string token(const Expr& dim) {
    const auto [at, is_new] = index_.emplace(dim, dims_.size());
    if (is_new) dims_.push_back(dim);
    return "$" + std::to_string(at->second);
  }
  Dim dim(const std::string& token) const {
    if (token.size() < 2 || token[0] != '$') return std::nullopt;
    const size_t index = std::stoul(token.substr(1));
    return index < dims_.size() ? Dim(dims_[index]) : std::nullopt;
  }

 private:
  std::vector<Expr> dims_;
  std::unordered_map<Expr, size_t> index_;
};

void write_shape(const Shape& shape, Tokens& tokens, onnx::TensorShapeProto& proto) {
  for (const Dim& dim : shape) {
    auto* added = proto.add_dim();
    if (const auto number = constant(dim))
      added->set_dim_value(*number);
    else if (dim)
      added->set_dim_param(tokens.token(*dim));
  }
}

void write_tensor_type(const TensorType& type, Tokens& tokens, onnx::TypeProto& proto) {
  auto* tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(onnx_number(type.dtype)));
  if (type.shape) write_shape(*type.shape, tokens, *tensor->mutable_shape());
}

// False where nothing is known.
bool write_type(const TensorType& type, Tokens& tokens, onnx::TypeProto& proto) {
  if (type.dtype == DType::kUnknown) return false;
  switch (type.kind) {
    case TypeKind::kTensor:
      write_tensor_type(type, tokens, proto);
      return true;
    case TypeKind::kSequence:
      write_tensor_type(type, tokens, *proto.mutable_sequence_type()->mutable_elem_type());
      return true;
    case TypeKind::kOptional:
      write_tensor_type(type, tokens, *proto.mutable_optional_type()->mutable_elem_type());
      return true;
    default:
      return false;
  }
}

TensorType read_type(const onnx::TypeProto& proto, const Tokens& tokens) {
  const onnx::TypeProto* inner = &proto;
  TensorType type;
  if (proto.has_sequence_type()) {
    type.kind = TypeKind::kSequence;
    inner = &proto.sequence_type().elem_type();
  } else if (proto.has_optional_type()) {
    type.kind = TypeKind::kOptional;
    inner = &proto.optional_type().elem_type();
  } else if (proto.has_map_type()) {
    type.kind = TypeKind::kMap;
  }
  if (!inner->has_tensor_type()) return type;
  type.dtype = dtype_of_onnx(inner->tensor_type().elem_type());
  if (!inner->tensor_type().has_shape()) return type;
  type.shape.emplace();
  for (const auto& dim : inner->tensor_type().shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      type.shape->push_back(Expr(dim.dim_value()));
    else
      type.shape->push_back(dim.has_dim_param() ? tokens.dim(dim.dim_param()) : std::nullopt);
  }
  return type;
}

void write_number(DType dtype, int64_t integer, double real, onnx::TensorProto& proto) {
  switch (dtype) {
    case DType::kInt64:
      proto.add_int64_data(integer);
      break;
    case DType::kUInt64:
    case DType::kUInt32:
      proto.add_uint64_data(static_cast<uint64_t>(integer));
      break;
    case DType::kF32:
      proto.add_float_data(static_cast<float>(real));
      break;
    case DType::kF64:
      proto.add_double_data(real);
      break;
    default:
      proto.add_int32_data(static_cast<int32_t>(integer));
      break;
  }
}

void write_literal(const Literal& literal, onnx::TensorProto& proto) {
  proto.set_data_type(static_cast<int>(onnx_number(literal.dtype)));
  for (const int64_t dim : literal.dims) proto.add_dims(dim);
  for (const int64_t number : literal.integers) {
    write_number(literal.dtype, number, static_cast<double>(number), proto);
  }
  for (const double number : literal.floats) {
    write_number(literal.dtype, static_cast<int64_t>(number), number, proto);
  }
}

struct AttributeWriter {
  onnx::AttributeProto& proto;

  void operator()(std::monostate) const {}
  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (const double value : values) proto.add_floats(static_cast<float>(value));
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) proto.add_strings(value);
  }
  void operator()(const Literal& value) const {
    proto.set_type(onnx::AttributeProto::TENSOR);
    write_literal(value, *proto.mutable_t());
  }
};

class Context final : public onnx::InferenceContext {
 public:
  Context(const NodeInference& node, Tokens& tokens) : outputs_(node.output_count()) {
    for (const Attribute& attribute : node.node.attributes) {
      onnx::AttributeProto proto;
      proto.set_name(attribute.name);
      std::visit(AttributeWriter{proto}, attribute.value);
      if (proto.has_type()) attributes_.emplace(attribute.name, std::move(proto));
    }
    inputs_.resize(node.input_count());
    data_.resize(node.input_count());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!node.has_input(i)) continue;
      // What is not known is a type without content: not every function asks before it looks.
      inputs_[i] = std::make_unique<onnx::TypeProto>();
      if (write_type(node.input(i), tokens, *inputs_[i]))
        write_data(node, i);
      else
        all_known_ = false;
    }
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    const auto found = attributes_.find(name);
    return found == attributes_.end() ? nullptr : &found->second;
  }
  size_t getNumInputs() const override { return inputs_.size(); }
  const onnx::TypeProto* getInputType(size_t i) const override {
    return i < inputs_.size() ? inputs_[i].get() : nullptr;
  }
  const onnx::TensorProto* getInputData(size_t i) const override {
    return i < data_.size() ? data_[i].get() : nullptr;
  }
  bool all_inputs_known() const { return all_known_; }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t i) override { return &outputs_.at(i); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    throw Error("the body of attribute '" + name + "' is not looked into");
  }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t) const override { return nullptr; }

 private:
  // Only numbers that are all known; a function that needs them does without otherwise.
  void write_data(const NodeInference& node, size_t i) {
    const Elements* elements = node.elements(i);
    const TensorType& type = node.input(i);
    if (elements == nullptr || !type.shape || type.kind != TypeKind::kTensor) return;
    auto proto = std::make_unique<onnx::TensorProto>();
    proto->set_data_type(static_cast<int>(onnx_number(type.dtype)));
    for (const Dim& dim : *type.shape) {
      const auto size = constant(dim);
      if (!size) return;
      proto->add_dims(*size);
    }
    for (const MaybeElement& element : *elements) {
      const auto number = to_double(element);
      if (!number) return;
      write_number(type.dtype, constant(element).value_or(0), *number, *proto);
    }
    data_[i] = std::move(proto);
  }

  std::unordered_map<std::string, onnx::AttributeProto> attributes_;
  std::vector<std::unique_ptr<onnx::TypeProto>> inputs_;
  std::vector<std::unique_ptr<onnx::TensorProto>> data_;
  std::vector<onnx::TypeProto> outputs_;
  bool all_known_ = true;
};

}  // namespace

struct SchemaInference::State {
  Tokens tokens;
  std::unordered_map<std::string, const onnx::OpSchema*> schemas;  // by domain, type and version

  const onnx::OpSchema* schema(const NodeInference& node) {
    const std::string domain = node.node.domain == "ai.onnx" ? "" : node.node.domain;
    const int version = node.node.since_version;
    const std::string key = domain + '\n' + node.node.op_type + '\n' + std::to_string(version);
    const auto found = schemas.find(key);
    if (found != schemas.end()) return found->second;
    const onnx::OpSchema* schema = nullptr;
    if (version > 0) schema = onnx::OpSchemaRegistry::Schema(node.node.op_type, version, domain);
    if (schema == nullptr) {
      // Runtimes take newer operators at old versions, and so do we.
      schema = onnx::OpSchemaRegistry::Schema(node.node.op_type, domain);
      if (schema != nullptr && version > 0) {
        node.note("newer-operator", node.node.op_type + " does not exist in version " +
                                        std::to_string(version) + " of its domain; version " +
                                        std::to_string(schema->SinceVersion()) + " is taken");
      }
    }
    schemas.emplace(key, schema);
    return schema;
  }
};

SchemaInference::SchemaInference() : state_(std::make_unique<State>()) {}
SchemaInference::~SchemaInference() = default;

bool SchemaInference::infer(NodeInference& node) {
  const onnx::OpSchema* schema = state_->schema(node);
  if (schema == nullptr) return false;
  if (!schema->has_type_and_shape_inference_function()) return true;
  Context context(node, state_->tokens);
  try {
    schema->GetTypeAndShapeInferenceFunction()(context);
  } catch (const std::exception& error) {
    if (!context.all_inputs_known()) return true;  // no contradiction, only too little to go by
    throw Error(error.what());
  }
  for (size_t i = 0; i < node.output_count(); ++i) {
    node.set(i, read_type(*context.getOutputType(i), state_->tokens));
  }
  return true;
}

}  // namespace kcharter
