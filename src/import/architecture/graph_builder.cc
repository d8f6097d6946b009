#include "import/architecture/graph_builder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kcharter/base/error.h"
#include "kcharter/base/integer.h"

namespace kcharter {
namespace {

constexpr int32_t kOpset = 24;       // the first with Swish and RMSNormalization
constexpr int32_t kSplitOpset = 11;  // the last whose sizes are an attribute

int64_t element_count(const std::vector<int64_t>& dims) {
  Int count = 1;
  for (int64_t dim : dims) count = checked_mul(count, dim);
  return to_int64(count);
}

std::string joined(const std::vector<std::string>& segments) {
  std::string result;
  for (const std::string& segment : segments) {
    if (!result.empty()) result += '.';
    result += segment;
  }
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Shape shape_from(const std::vector<Expr>& dims) { return Shape(dims.begin(), dims.end()); }

}  // namespace

Attribute attribute(std::string_view name, AttributeValue value) {
  return {std::string(name), std::move(value)};
}

GraphBuilder::GraphBuilder(BuildOptions options) : options_(std::move(options)) {
  graph_.regions.emplace_back();
  graph_.scopes.emplace_back();
  batch_ = Expr::variable(kBatchSize);
  Expr length = Expr::variable(kCurrentLength);
  tokens_ = decode() ? Expr(1) : length;
  past_ = decode() ? length - Expr(1) : Expr(0);
}

GraphBuilder::Scoped GraphBuilder::scope(std::string_view name, std::string_view class_name) {
  size_t levels = 0;
  for (size_t begin = 0; begin < name.size();) {
    size_t end = name.find('.', begin);
    // An index belongs to the list before it.
    if (end != std::string_view::npos && end + 1 < name.size() && is_digit(name[end + 1])) {
      end = name.find('.', end + 1);
    }
    end = std::min(end, name.size());
    segments_.emplace_back(name.substr(begin, end - begin));
    classes_.emplace_back();
    scope_ids_.emplace_back();
    ++levels;
    begin = end + 1;
  }
  if (levels > 0) classes_.back() = class_name;
  return Scoped(this, levels);
}

GraphBuilder::Scoped GraphBuilder::scope(std::string_view list, int64_t index,
                                         std::string_view class_name) {
  return scope(std::string(list) + "." + std::to_string(index), class_name);
}

void GraphBuilder::leave(size_t levels) {
  segments_.resize(segments_.size() - levels);
  classes_.resize(classes_.size() - levels);
  scope_ids_.resize(scope_ids_.size() - levels);
}

std::string GraphBuilder::path(std::string_view name) const {
  std::string result = joined(segments_);
  if (!result.empty() && !name.empty()) result += '.';
  return result += name;
}

DType GraphBuilder::activation_dtype() const {
  return options_.activation_dtype.value_or(options_.dtype);
}

ScopeId GraphBuilder::current_scope() {
  if (segments_.empty()) return ScopeId(size_t{0});
  if (!scope_ids_.back()) {
    scope_ids_.back() = ScopeId(graph_.scopes.size());
    graph_.scopes.push_back({segments_, ScopeSource::kMetadata, classes_.back()});
  }
  return scope_ids_.back();
}

ValueId GraphBuilder::add_value(std::string name) {
  Value value;
  value.name = std::move(name);
  value.region = RegionId(size_t{0});
  graph_.values.push_back(std::move(value));
  return ValueId(graph_.values.size() - 1);
}

ValueId GraphBuilder::input(std::string_view name, DType dtype, Shape shape) {
  ValueId id = add_value(std::string(name));
  Value& value = graph_[id];
  value.type = {dtype, std::move(shape)};
  value.declared = value.type;
  value.role = ValueRole::kInput;
  graph_.inputs.push_back(id);
  return id;
}

Expr GraphBuilder::variable(std::string_view name, std::string_view label, int64_t value,
                            int64_t min) {
  bool known = std::any_of(variables_.begin(), variables_.end(),
                           [&](const Variable& variable) { return variable.name == name; });
  if (!known) variables_.push_back({std::string(name), std::string(label), value, min});
  return Expr::variable(name);
}

InitializerId GraphBuilder::add_initializer(Initializer initializer) {
  if (graph_.initializers.size() >= kMostTensors) {
    throw Error("more than " + std::to_string(kMostTensors) + " tensors: is the configuration damaged?");
  }
  graph_.initializers.push_back(std::move(initializer));
  return InitializerId(graph_.initializers.size() - 1);
}

ValueId GraphBuilder::stored(Initializer initializer, std::vector<int64_t> read_as) {
  if (sharing_ == 0) return store_once(std::move(initializer), std::move(read_as));
  auto [known, is_new] = shared_.try_emplace(initializer.name);
  if (is_new) known->second = store_once(std::move(initializer), std::move(read_as));
  return known->second;
}

ValueId GraphBuilder::store_once(Initializer initializer, std::vector<int64_t> read_as) {
  if (silent_ > 0) {
    active_[add_initializer(std::move(initializer)).index] = {0, 1};
    return ValueId();
  }
  ValueId id = add_value(initializer.name);
  if (read_as.empty()) read_as = initializer.dims;
  initializer.value = id;
  DType dtype = initializer.dtype;
  InitializerId stored_id = add_initializer(std::move(initializer));
  Value& value = graph_[id];
  value.type = {dtype, shape_of(read_as)};
  value.initializer = stored_id;
  value.role = ValueRole::kInitializer;
  return id;
}

ValueId GraphBuilder::parameter(std::string_view name, std::vector<int64_t> dims,
                                std::vector<int64_t> read_as, std::optional<DType> dtype) {
  Initializer initializer;
  initializer.name = path(name);
  initializer.dtype = dtype.value_or(options_.dtype);
  const Expr bytes = byte_size(element_count(dims), initializer.dtype);
  initializer.stored_bytes = static_cast<uint64_t>(to_int64(*bytes.constant()));
  initializer.dims = std::move(dims);
  return stored(std::move(initializer), std::move(read_as));
}

void GraphBuilder::copied_parameter(std::string_view name, std::vector<int64_t> dims) {
  parameter(name, std::move(dims));
  graph_.initializers.back().logical_elements = 0;
}

GraphBuilder::Matrix GraphBuilder::matrix(int64_t in, int64_t out, bool stored_in_out) {
  std::vector<StoredPart> parts;
  if (!options_.quantization.method.empty() && !options_.quantization.in_f32.contains(path(""))) {
    parts = stored_parts(format_of(options_.quantization, path("")), {in, out});
  }
  if (parts.empty()) {
    std::vector<int64_t> as_read = {in, out};
    if (stored_in_out) return {{parameter("weight", as_read)}, false};
    std::optional<DType> dtype;
    if (options_.quantization.in_f32.contains(path(""))) dtype = DType::kF32;
    return {{parameter("weight", {out, in}, as_read, dtype)}, false};
  }
  return {store_parts(parts, "", {in, out}), true};
}

std::vector<ValueId> GraphBuilder::stacked_matrix(const std::string& name, const std::string& suffix,
                                                  int64_t experts, int64_t in, int64_t out,
                                                  bool stored_in_out) {
  const Quantization& quantization = options_.quantization;
  MatrixFormat format = format_of(quantization, path(name));
  if (format.storage == StorageFormat::kMxfp4) {
    // gpt-oss: blocks of 32 numbers in 16 bytes along the inputs, a scale each.
    std::vector<StoredPart> parts = {
        {name + "_blocks", DType::kUInt8, {experts, out, in / 32, 16}, TensorPart::kPayload},
        {name + "_scales", DType::kUInt8, {experts, out, in / 32}, TensorPart::kScale}};
    return store_parts(parts, "", {experts, in, out});
  }
  std::vector<int64_t> as_read = {experts, in, out};
  return {stored_in_out ? parameter(name + suffix, as_read)
                        : parameter(name + suffix, {experts, out, in}, as_read)};
}

std::vector<ValueId> GraphBuilder::store_parts(const std::vector<StoredPart>& parts,
                                               const std::string& prefix,
                                               const std::vector<int64_t>& logical) {
  std::vector<ValueId> values;
  for (const StoredPart& part : parts) {
    Initializer initializer;
    initializer.name = path(prefix + part.name);
    initializer.dtype = part.dtype;
    initializer.dims = part.dims;
    initializer.part = part.part;
    initializer.logical_elements = part.part == TensorPart::kPayload ? element_count(logical) : 0;
    Expr bytes = byte_size(Expr(element_count(part.dims)), part.dtype);
    initializer.stored_bytes = static_cast<uint64_t>(to_int64(*bytes.constant()));
    values.push_back(stored(std::move(initializer), {}));
  }
  return values;
}

void GraphBuilder::buffer(std::string_view name, std::vector<int64_t> dims, DType dtype) {
  Initializer initializer;
  initializer.name = path(name);
  initializer.dtype = dtype;
  initializer.role = TensorRole::kBuffer;
  Expr bytes = byte_size(Expr(element_count(dims)), dtype);
  initializer.stored_bytes = static_cast<uint64_t>(to_int64(*bytes.constant()));
  initializer.dims = std::move(dims);
  add_initializer(std::move(initializer));
}

ValueId GraphBuilder::buffer_value(std::string_view name, std::vector<int64_t> dims, std::optional<DType> dtype) {
  ValueId value = parameter(name, std::move(dims), {}, dtype);
  graph_.initializers.back().role = TensorRole::kBuffer;
  return value;
}

ValueId GraphBuilder::alias(std::string_view name, ValueId original, std::vector<int64_t> read_as) {
  Initializer copy = graph_[graph_[original].initializer];
  copy.name = path(name);
  copy.alias_of = graph_[original].initializer;
  copy.stored_bytes = 0;
  return stored(std::move(copy), std::move(read_as));
}

NodeId GraphBuilder::add_node(std::string_view domain, std::string_view op_type,
                              std::vector<ValueId> inputs, size_t outputs,
                              std::vector<Attribute> attributes, int32_t version) {
  if (graph_.nodes.size() >= kMostNodes) {
    throw Error("more than " + std::to_string(kMostNodes) + " nodes: is the configuration damaged?");
  }
  Node node;
  node.name = joined(segments_) + "/" + std::string(op_type);
  int& times = names_[node.name];
  if (times++ > 0) node.name += "_" + std::to_string(times - 1);
  node.op_type = op_type;
  node.domain = domain;
  node.since_version = version;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.region = RegionId(size_t{0});
  node.scope = current_scope();
  NodeId id(graph_.nodes.size());
  for (size_t i = 0; i < outputs; ++i) {
    ValueId value = add_value(node.name + (outputs > 1 ? ":" + std::to_string(i) : ""));
    graph_[value].producer = id;
    node.outputs.push_back(value);
  }
  graph_.nodes.push_back(std::move(node));
  return id;
}

ValueId GraphBuilder::op(std::string_view op_type, std::vector<ValueId> inputs,
                         std::vector<Attribute> attributes) {
  if (silent_ > 0) return ValueId();
  NodeId id = add_node("", op_type, std::move(inputs), 1, std::move(attributes), kOpset);
  return graph_[id].outputs[0];
}

ValueId GraphBuilder::ours(std::string_view op_type, std::vector<ValueId> inputs,
                           std::vector<Attribute> attributes) {
  return ours(op_type, std::move(inputs), 1, std::move(attributes))[0];
}

std::vector<ValueId> GraphBuilder::ours(std::string_view op_type, std::vector<ValueId> inputs,
                                        size_t outputs, std::vector<Attribute> attributes) {
  if (silent_ > 0) return std::vector<ValueId>(outputs);
  NodeId id = add_node("kcharter", op_type, std::move(inputs), outputs, std::move(attributes), 1);
  return graph_[id].outputs;
}

std::vector<ValueId> GraphBuilder::split(ValueId value, std::vector<int64_t> sizes) {
  size_t parts = sizes.size();
  if (silent_ > 0) return std::vector<ValueId>(parts);
  NodeId id = add_node("", "Split", {value}, parts,
                       {attribute("axis", int64_t{-1}), attribute("split", std::move(sizes))},
                       kSplitOpset);
  return graph_[id].outputs;
}

ValueId GraphBuilder::reshape(ValueId value, std::vector<int64_t> shape) {
  return ours("Reshape", {value}, {attribute("shape", std::move(shape))});
}

ElementFormat GraphBuilder::cache_format(const CacheSpec& spec) const {
  if (spec.format) return *spec.format;
  if (spec.dtype) return element_format(*spec.dtype);
  if (options_.kv_format && spec.kind != CacheKind::kState) return *options_.kv_format;
  return element_format(activation_dtype());
}

GraphBuilder::CachedNode GraphBuilder::cached(std::string_view op_type, std::vector<ValueId> inputs,
                                              size_t outputs, const std::vector<CacheSpec>& caches,
                                              std::vector<Attribute> attributes) {
  if (silent_ > 0) return {std::vector<ValueId>(outputs), std::vector<ValueId>(caches.size())};
  can_decode = true;
  std::vector<Cache> made;
  for (const CacheSpec& spec : caches) {
    Cache cache;
    cache.kind = spec.kind;
    cache.name = spec.name;
    cache.format = cache_format(spec);
    cache.allocated = spec.allocated;
    cache.sequence_axis = spec.sequence_axis;
    if (decode()) {
      DType dtype = parse_dtype(cache.format.name).value_or(activation_dtype());
      cache.input = input(spec.name, dtype, shape_from(spec.past));
      graph_[cache.input].role = ValueRole::kCache;
    }
    inputs.push_back(cache.input);
    made.push_back(std::move(cache));
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  NodeId id = add_node("kcharter", op_type, std::move(inputs), outputs + caches.size(),
                       std::move(attributes), 1);
  CachedNode result;
  std::vector<ValueId> all = graph_[id].outputs;
  for (size_t i = 0; i < caches.size(); ++i) {
    Value& present = graph_[all[outputs + i]];
    DType dtype = parse_dtype(made[i].format.name).value_or(activation_dtype());
    present.role = ValueRole::kCache;
    present.type = {dtype, shape_from(caches[i].present)};
    present.declared = present.type;
    made[i].output = all[outputs + i];
    made[i].reader = id;
    graph_.outputs.push_back(made[i].output);
    graph_.caches.push_back(std::move(made[i]));
  }
  auto first_present = all.begin() + static_cast<std::ptrdiff_t>(outputs);
  result.outputs.assign(all.begin(), first_present);
  result.presents.assign(first_present, all.end());
  return result;
}

std::vector<ValueId> GraphBuilder::remembered(int64_t layer) const {
  auto found = remembered_.find(layer);
  if (found == remembered_.end()) throw Error("layer " + std::to_string(layer) + " keeps no keys to share");
  return found->second;
}

void GraphBuilder::output(ValueId value) { graph_.outputs.insert(graph_.outputs.begin(), value); }

void GraphBuilder::expect(std::string_view convention) {
  if (std::find(conventions_.begin(), conventions_.end(), convention) == conventions_.end()) {
    conventions_.emplace_back(convention);
  }
}

void GraphBuilder::active_share(ValueId weight, int64_t used, int64_t of) {
  if (weight) active_[graph_[weight].initializer.index] = {used, of};
}

// Shares are summed before they are divided: k of E equal experts are a whole number together.
Int GraphBuilder::active_parameters() const {
  std::map<std::pair<int64_t, int64_t>, Int> by_share;
  for (size_t i = 0; i < graph_.initializers.size(); ++i) {
    const Initializer& initializer = graph_.initializers[i];
    if (initializer.role != TensorRole::kParameter || initializer.alias_of) continue;
    Int elements = initializer.logical_elements.value_or(element_count(initializer.dims));
    auto share = active_.find(static_cast<uint32_t>(i));
    Int& sum = by_share[share == active_.end() ? std::pair<int64_t, int64_t>{1, 1} : share->second];
    sum = checked_add(sum, elements);
  }
  Int active = 0;
  for (const auto& [share, sum] : by_share) {
    active = checked_add(active, floor_div(checked_mul(sum, share.first), Int(share.second)));
  }
  return active;
}

Model GraphBuilder::finish() {
  Model model;
  model.active_parameters = to_int64(active_parameters());
  model.architecture = architecture;
  model.mode = options_.mode;
  model.can_decode = can_decode;
  model.graph = std::move(graph_);
  model.variables = std::move(variables_);
  model.conventions = std::move(conventions_);
  model.context_limit = context_limit;
  model.diagnostics = std::move(diagnostics_);
  return model;
}

}  // namespace kcharter
