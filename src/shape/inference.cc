#include "shape/inference.h"

#include <cctype>

namespace kcharter {
namespace {

// A person turns a handful of free dimensions, not thousands.
constexpr size_t kMaxDataDependent = 256;
constexpr size_t kMaxSequenceItems = 64;
// Gather of a tensor by itself doubles its rank: no graph may go on with that.
constexpr size_t kMaxRank = 256;

Bindings lower_bounds_of(const Model& model) {
  Bindings bounds{
      {std::string(kBatchSize), 1}, {std::string(kCurrentLength), 1}, {std::string(kMaxLength), 1}};
  for (const Variable& variable : model.variables) {
    bounds[variable.name] = variable.min > 0 ? variable.min : 0;
  }
  return bounds;
}

// "/layers.3/NonZero_1" → "/layers.#/NonZero_#": the same node of another layer.
std::string without_digits(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (!std::isdigit(static_cast<unsigned char>(c)))
      result += c;
    else if (result.empty() || result.back() != '#')
      result += '#';
  }
  return result;
}

std::string variable_name(const Model& model, std::string_view base) {
  std::string name;
  for (const char c : base) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  const auto taken = [&](const std::string& candidate) {
    if (candidate == kBatchSize || candidate == kCurrentLength || candidate == kMaxLength)
      return true;
    for (const Variable& variable : model.variables) {
      if (variable.name == candidate) return true;
    }
    return false;
  };
  if (!taken(name)) return name;
  for (int i = 2;; ++i) {
    const std::string numbered = name + "_" + std::to_string(i);
    if (!taken(numbered)) return numbered;
  }
}

}  // namespace

std::shared_ptr<const Elements> elements_of(const Literal& literal) {
  const size_t count = literal.integers.size() + literal.floats.size();
  if (count == 0 || count > kMaxElements || literal.dtype == DType::kString) return nullptr;
  Elements elements;
  elements.reserve(count);
  for (const int64_t number : literal.integers) elements.push_back(Element{Expr(number), 1});
  for (const double number : literal.floats) elements.push_back(element(number));
  return std::make_shared<const Elements>(std::move(elements));
}

Inference::Inference(Model& of)
    : model(of), graph(of.graph), facts(of.graph.values.size()), bounds(lower_bounds_of(of)) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    facts[i].from_weights = static_cast<bool>(value.initializer);
    if (value.elements != nullptr && value.elements->size() <= kMaxElements) {
      Elements elements;
      for (const Expr& number : *value.elements) elements.push_back(Element{number, 1});
      facts[i].elements = std::make_shared<const Elements>(std::move(elements));
    } else if (value.initializer && graph[value.initializer].literal != nullptr) {
      facts[i].elements = elements_of(*graph[value.initializer].literal);
    }
  }
}

Dim Inference::data_dependent_dim(const Node& node, size_t output, std::string_view what,
                                  int64_t minimum) {
  const std::string pattern = node.name.empty() ? "#" + std::to_string(&node - graph.nodes.data())
                                                : without_digits(node.name);
  const std::string key =
      node.op_type + '\n' + pattern + '\n' + std::to_string(output) + '\n' + std::string(what);
  if (const auto found = data_dependent_.find(key); found != data_dependent_.end()) {
    return found->second;
  }
  if (data_dependent_.size() >= kMaxDataDependent) return std::nullopt;
  const std::string name = variable_name(model, node.op_type + "_" + std::string(what));
  const std::string label =
      std::string(what) + " of " + node.op_type + (node.name.empty() ? "" : " " + pattern);
  model.variables.push_back({name, label, 1, minimum});
  bounds.set_minimum(name, minimum);
  return data_dependent_.emplace(key, Expr::variable(name)).first->second;
}

const TensorType& NodeInference::input(size_t i) const {
  static const TensorType unknown;
  return has_input(i) ? graph[node.inputs[i]].type : unknown;
}

const Shape* NodeInference::input_shape(size_t i) const {
  const TensorType& type = input(i);
  return type.shape ? &*type.shape : nullptr;
}

Dim NodeInference::input_dim(size_t i, int64_t axis) const {
  const Shape* shape = input_shape(i);
  if (shape == nullptr) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(shape->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return (*shape)[static_cast<size_t>(axis)];
}

std::optional<int64_t> NodeInference::input_rank(size_t i) const {
  const Shape* shape = input_shape(i);
  if (shape == nullptr) return std::nullopt;
  return static_cast<int64_t>(shape->size());
}

const Elements* NodeInference::elements(size_t i) const {
  return has_input(i) ? inference.facts[node.inputs[i].index].elements.get() : nullptr;
}

std::optional<std::vector<int64_t>> NodeInference::constants(size_t i) const {
  const Elements* known = elements(i);
  if (known == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const MaybeElement& element : *known) {
    const auto number = constant(element);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

MaybeElement NodeInference::scalar(size_t i) const {
  const Elements* known = elements(i);
  if (known == nullptr || known->size() != 1) return std::nullopt;
  return known->front();
}

std::optional<std::vector<int64_t>> NodeInference::ints(std::string_view attribute,
                                                        size_t input) const {
  if (const auto* values = ints_attribute(node, attribute)) return *values;
  return constants(input);
}

bool NodeInference::from_weights(size_t i) const {
  return has_input(i) && inference.facts[node.inputs[i].index].from_weights;
}

void NodeInference::set(size_t output, DType dtype, std::optional<Shape> shape) {
  set(output, TensorType{dtype, std::move(shape), TypeKind::kTensor});
}

void NodeInference::set(size_t output, TensorType type) {
  if (type.shape && type.shape->size() > kMaxRank) {
    throw Error("a tensor of rank " + std::to_string(type.shape->size()));
  }
  if (has_output(output)) graph[node.outputs[output]].type = std::move(type);
}

void NodeInference::set_elements(size_t output, Elements elements) {
  if (!has_output(output) || elements.size() > kMaxElements) return;
  inference.facts[node.outputs[output].index].elements =
      std::make_shared<const Elements>(std::move(elements));
}

void NodeInference::set_sequence(size_t output, TensorType type, Dim length) {
  if (!has_output(output)) return;
  type.kind = TypeKind::kSequence;
  set(output, std::move(type));
  ValueFacts& facts = inference.facts[node.outputs[output].index];
  facts.sequence_length = std::move(length);
  facts.items = nullptr;
}

void NodeInference::set_sequence(size_t output, std::vector<TensorType> items, DType dtype) {
  if (!has_output(output)) return;
  TensorType type{dtype, std::nullopt, TypeKind::kTensor};
  for (size_t i = 0; i < items.size(); ++i) {
    type = i == 0 ? items[0] : common_type(type, items[i]);
  }
  set_sequence(output, std::move(type), Expr(static_cast<int64_t>(items.size())));
  if (items.size() > kMaxSequenceItems) return;
  inference.facts[node.outputs[output].index].items =
      std::make_shared<const std::vector<TensorType>>(std::move(items));
}

Dim NodeInference::sequence_length(size_t input) const {
  if (!has_input(input)) return std::nullopt;
  return inference.facts[node.inputs[input].index].sequence_length;
}

const std::vector<TensorType>* NodeInference::items(size_t input) const {
  return has_input(input) ? inference.facts[node.inputs[input].index].items.get() : nullptr;
}

TensorType common_type(const TensorType& a, const TensorType& b) {
  TensorType result = a;
  if (a.dtype != b.dtype) result.dtype = a.dtype == DType::kUnknown ? b.dtype : DType::kUnknown;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    result.shape = std::nullopt;
    return result;
  }
  for (size_t i = 0; i < a.shape->size(); ++i) {
    if ((*a.shape)[i] != (*b.shape)[i]) (*result.shape)[i] = std::nullopt;
  }
  return result;
}

bool NodeInference::at_least(const Dim& dim, int64_t minimum) const {
  return dim && bounds().at_least(*dim, Expr(minimum));
}

std::string NodeInference::subject() const {
  if (!node.name.empty()) return "node '" + node.name + "' (" + node.op_type + ")";
  return "node " + std::to_string(id.index) + " (" + node.op_type + ")";
}

void NodeInference::note(std::string_view code, std::string_view message) const {
  if (inference.quiet) return;
  inference.model.diagnostics.add(Severity::kNote, code, subject(), message);
}

void NodeInference::warn(std::string_view code, std::string_view message) const {
  if (inference.quiet) return;
  inference.model.diagnostics.add(Severity::kWarning, code, subject(), message);
}

}  // namespace kcharter
