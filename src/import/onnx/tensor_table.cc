#include "import/onnx/tensor_table.h"

#include <fmt/format.h>

#include "import/onnx/literal.h"
#include "kcharter/base/error.h"
#include "kcharter/base/integer.h"

namespace kcharter {
namespace {

// What no tensor reaches: sums of a few million such sizes still fit 128 bits with room.
constexpr Int kMaxTensorBits = Int{1} << 62;

Int element_count(const std::vector<int64_t>& dims) {
  Int count = 1;
  for (const int64_t dim : dims) count = checked_mul(count, dim);
  return count;
}

bool has_zero(const std::vector<int64_t>& dims) {
  for (const int64_t dim : dims) {
    if (dim == 0) return true;
  }
  return false;
}

void check_dims(const std::vector<int64_t>& dims, DType dtype) {
  Int size = bits(dtype) > 0 ? bits(dtype) : 8;
  if (has_zero(dims)) size = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0) {
      throw Error(fmt::format("dimension {} is {}, and a stored tensor has none below 0", axis,
                              dims[axis]));
    }
    if (size != 0)
      size = size > kMaxTensorBits / dims[axis] ? kMaxTensorBits + 1 : size * dims[axis];
    if (size > kMaxTensorBits) {
      throw Error("its dimensions multiply to more than 2^62 bits: no file holds such a tensor");
    }
  }
}

// Bytes of the payload where they can be told without reading it.
std::optional<uint64_t> payload_bytes(const TensorView& tensor) {
  switch (tensor.field) {
    case PayloadField::kRaw:
    case PayloadField::kFloat:
    case PayloadField::kDouble:
      if (tensor.payload_pieces == 1) return tensor.payload_bytes;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

TensorTable::TensorTable(Graph& graph, ExternalFiles& external, int32_t embedded_file,
                         Diagnostics& diagnostics)
    : graph_(graph),
      external_(external),
      embedded_file_(embedded_file),
      diagnostics_(diagnostics) {}

void TensorTable::append(Initializer initializer, ValueId value) {
  const InitializerId id(graph_.initializers.size());
  Value& target = graph_[value];
  target.initializer = id;
  target.role = ValueRole::kInitializer;
  target.type = {.dtype = initializer.dtype, .shape = shape_of(initializer.dims)};
  if (initializer.literal != nullptr && initializer.literal->floats.empty()) {
    std::vector<Expr> elements;
    elements.reserve(initializer.literal->integers.size());
    for (const int64_t number : initializer.literal->integers) elements.emplace_back(number);
    target.elements = std::make_shared<const std::vector<Expr>>(std::move(elements));
  }
  initializer.value = value;
  graph_.initializers.push_back(std::move(initializer));
}

uint64_t TensorTable::dense_bytes(const Initializer& initializer) const {
  const Int size = element_count(initializer.dims) * bits(initializer.dtype);
  return static_cast<uint64_t>((size + 7) / 8);
}

// Where the elements lie, and a diagnostic where they are not as many as the dimensions say.
TensorLocation TensorTable::place(const TensorView& tensor, uint64_t bytes) {
  if (tensor.external) return external_.locate(tensor, bytes);
  const std::string subject = fmt::format("initializer '{}'", tensor.name);
  const DType dtype = dtype_of(tensor.data_type);
  if (tensor.field == PayloadField::kNone) {
    if (bytes > 0) {
      diagnostics_.add(Severity::kNote, "tensor-without-data", subject,
                       "the file holds none of its elements; sizes come from the dimensions");
    }
    return {};
  }
  const std::optional<uint64_t> there = payload_bytes(tensor);
  if (there && bits(dtype) > 0 && *there != bytes) {
    diagnostics_.add(
        Severity::kWarning, "tensor-size-differs", subject,
        fmt::format("the dimensions call for {} bytes, the file holds {}", bytes, *there));
  }
  if (embedded_file_ < 0 || tensor.payload_pieces != 1 || tensor.payload.text.empty()) return {};
  return {.file = embedded_file_,
          .offset = tensor.payload.offset,
          .length = tensor.payload.text.size()};
}

void TensorTable::add(FileBytes message, std::string_view name, ValueId value) {
  const TensorView tensor = read_tensor(message);
  Initializer initializer;
  initializer.name = name;
  initializer.dtype = dtype_of(tensor.data_type);
  initializer.dims = tensor.dims;
  try {
    check_dims(tensor.dims, initializer.dtype);
  } catch (Error& error) {
    throw error.in(fmt::format("initializer '{}'", name));
  }
  if (const std::optional<Literal> literal = read_literal(tensor, message)) {
    initializer.literal = std::make_shared<const Literal>(*literal);
  }
  const auto [first, added] =
      by_offset_.try_emplace(message.offset, InitializerId(graph_.initializers.size()));
  if (!added) {
    initializer.alias_of = first->second;
    append(std::move(initializer), value);
    return;
  }
  const uint64_t bytes = dense_bytes(initializer);
  initializer.location = place(tensor, bytes);
  initializer.stored_bytes = bytes;
  if (bits(initializer.dtype) == 0) {
    initializer.stored_bytes = tensor.payload_bytes;
    if (initializer.dtype == DType::kUnknown) {
      diagnostics_.add(Severity::kWarning, "unknown-dtype", fmt::format("initializer '{}'", name),
                       fmt::format("element type {} is not known", tensor.data_type));
    }
  }
  append(std::move(initializer), value);
}

void TensorTable::add_sparse(FileBytes message, std::string_view name, ValueId value) {
  const SparseTensorView sparse = read_sparse_tensor(message);
  const TensorView values = read_tensor(sparse.values);
  const TensorView indices = read_tensor(sparse.indices);
  Initializer initializer;
  initializer.name = name;
  initializer.dtype = dtype_of(values.data_type);
  initializer.dims = sparse.dims;
  try {
    check_dims(sparse.dims, initializer.dtype);
    check_dims(values.dims, initializer.dtype);
    check_dims(indices.dims, DType::kInt64);
  } catch (Error& error) {
    throw error.in(fmt::format("sparse initializer '{}'", name));
  }
  // Stored are the values that are not zero, and an index or a tuple of them for each.
  initializer.stored_bytes =
      static_cast<uint64_t>((element_count(values.dims) * bits(initializer.dtype) + 7) / 8 +
                            element_count(indices.dims) * 8);
  append(std::move(initializer), value);
}

void TensorTable::add(Literal literal, std::string_view name, ValueId value) {
  Initializer initializer;
  initializer.name = name;
  initializer.dtype = literal.dtype;
  initializer.dims = literal.dims;
  initializer.stored_bytes = dense_bytes(initializer);
  const bool small = literal.integers.size() <= static_cast<size_t>(kMaxLiteralIntegers) &&
                     literal.floats.size() <= static_cast<size_t>(kMaxLiteralFloats);
  if (small && (!literal.integers.empty() || !literal.floats.empty())) {
    initializer.literal = std::make_shared<const Literal>(std::move(literal));
  }
  append(std::move(initializer), value);
}

}  // namespace kcharter
