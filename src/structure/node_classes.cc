#include "structure/node_classes.h"

#include <cstring>

namespace kcharter {
namespace {

constexpr uint32_t kNothing = UINT32_MAX;
enum KeyKind : uint32_t { kType, kTensor, kCache, kValue, kNode };

void put(std::vector<uint32_t>& key, uint64_t number) {
  key.push_back(static_cast<uint32_t>(number));
  key.push_back(static_cast<uint32_t>(number >> 32));
}

template <typename T>
void put_bytes(std::string& text, const T& number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename T>
void put_list(std::string& text, const std::vector<T>& list) {
  put_bytes(text, list.size());
  for (const T& item : list) {
    if constexpr (std::is_same_v<T, std::string>) {
      put_bytes(text, item.size());
      text += item;
    } else {
      put_bytes(text, item);
    }
  }
}

// With `payload` false only the kind and the extents are written.
struct Writer {
  std::string& text;
  bool payload;

  void operator()(std::monostate) const {}
  void operator()(int64_t number) const {
    if (payload) put_bytes(text, number);
  }
  void operator()(double number) const {
    if (payload) put_bytes(text, number);
  }
  void operator()(const std::string& word) const {
    if (!payload) return;
    put_bytes(text, word.size());
    text += word;
  }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    if (payload)
      put_list(text, list);
    else
      put_bytes(text, list.size());
  }
  void operator()(const Literal& literal) const {
    put_bytes(text, literal.dtype);
    put_list(text, literal.dims);
    if (!payload) return;
    put_list(text, literal.integers);
    put_list(text, literal.floats);
  }
};

}  // namespace

bool is_constant_node(const Node& node) {
  return node.op_type == "Constant" && node.domain.empty();
}

NodeClasses::NodeClasses(const Graph& graph, const ValueReaders& readers)
    : graph_(graph), readers_(readers), cache_of_value_(graph.values.size()) {
  classify_tensors();
  classify_caches();
  classes_.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) classes_.push_back(classify(node));
}

void NodeClasses::classify_tensors() {
  for (const Initializer& tensor : graph_.initializers) {
    std::vector<uint32_t> key = {kTensor, static_cast<uint32_t>(tensor.dtype),
                                 static_cast<uint32_t>(tensor.role),
                                 static_cast<uint32_t>(tensor.part),
                                 static_cast<uint32_t>(static_cast<bool>(tensor.alias_of))};
    put(key, tensor.stored_bytes);
    put(key, static_cast<uint64_t>(tensor.logical_elements.value_or(-1)));
    for (int64_t dim : tensor.dims) put(key, static_cast<uint64_t>(dim));
    tensor_classes_.push_back(keys_.id(key));
  }
}

void NodeClasses::classify_caches() {
  for (const Cache& cache : graph_.caches) {
    std::vector<uint32_t> key = {kCache,
                                 static_cast<uint32_t>(cache.kind),
                                 strings_.id(cache.format.name),
                                 static_cast<uint32_t>(cache.copied),
                                 static_cast<uint32_t>(cache.sequence_axis),
                                 static_cast<uint32_t>(static_cast<bool>(cache.input)),
                                 static_cast<uint32_t>(static_cast<bool>(cache.output))};
    put(key, static_cast<uint64_t>(cache.format.block_bytes));
    if (cache.allocated) {
      for (const Expr& dim : *cache.allocated) key.push_back(dim_class(dim));
    }
    uint32_t id = keys_.id(key);
    cache_classes_.push_back(id);
    if (cache.input) cache_of_value_[cache.input.index] = id + 1;
    if (cache.output) cache_of_value_[cache.output.index] = id + 1;
  }
}

uint32_t NodeClasses::dim_class(const Dim& dim) {
  if (!dim) return kNothing;
  return dims_.try_emplace(*dim, static_cast<uint32_t>(dims_.size())).first->second;
}

uint32_t NodeClasses::type_class(const TensorType& type) {
  std::vector<uint32_t> key = {kType, static_cast<uint32_t>(type.dtype),
                               static_cast<uint32_t>(type.kind),
                               static_cast<uint32_t>(type.shape.has_value())};
  if (type.shape) {
    for (const Dim& dim : *type.shape) key.push_back(dim_class(dim));
  }
  return keys_.id(key);
}

uint32_t NodeClasses::value_class(ValueId id, bool produced) {
  if (!id) return kNothing;
  if (!produced) id = readers_.canonical(id);
  const Value& value = graph_[id];
  bool is_region_input = !produced && !value.producer && !value.initializer && value.region &&
                         value.region != RegionId(0);
  uint32_t kind = cache_of_value_[id.index] ? 2 : is_region_input ? 1 : 0;
  std::vector<uint32_t> key = {kValue, kind, cache_of_value_[id.index],
                               value.initializer ? of(value.initializer) : kNothing,
                               type_class(value.type)};
  return keys_.id(key);
}

uint32_t NodeClasses::attribute_class(const Node& node) {
  std::string text;
  Writer writer{text, !is_constant_node(node)};
  for (const Attribute& attribute : node.attributes) {
    put_bytes(text, attribute.name.size());
    text += attribute.name;
    put_bytes(text, attribute.value.index());
    std::visit(writer, attribute.value);
  }
  return strings_.id(text);
}

uint32_t NodeClasses::classify(const Node& node) {
  std::vector<uint32_t> key = {kNode,
                               strings_.id(node.op_type),
                               strings_.id(node.domain),
                               static_cast<uint32_t>(node.since_version),
                               attribute_class(node),
                               static_cast<uint32_t>(node.inputs.size()),
                               static_cast<uint32_t>(node.bodies.size())};
  for (ValueId input : node.inputs) key.push_back(value_class(input, false));
  for (ValueId output : node.outputs) key.push_back(value_class(output, true));
  for (RegionId id : node.bodies) {
    const Region& body = graph_[id];
    key.insert(key.end(),
               {static_cast<uint32_t>(body.kind), static_cast<uint32_t>(body.runs),
                dim_class(body.trip_count), static_cast<uint32_t>(body.trip_count_is_bound),
                static_cast<uint32_t>(body.inputs.size())});
    for (ValueId input : body.inputs) key.push_back(value_class(input, false));
    for (ValueId output : body.outputs) key.push_back(value_class(output, false));
  }
  return keys_.id(key);
}

}  // namespace kcharter
