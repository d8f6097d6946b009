#include "report/write_tables.h"

#include "kcharter/estimate/caches.h"
#include "kcharter/estimate/time.h"
#include "kcharter/ops/operator.h"
#include "report/instance_names.h"

namespace kcharter {
namespace {

// Longer lists of an attribute are cut: a document shows what steers a node, not its data.
constexpr size_t kMaxListed = 64;
constexpr size_t kMaxText = 512;

template <typename T, typename Write>
void write_list(JsonWriter& json, const std::vector<T>& list, Write write) {
  json.begin_array();
  for (size_t i = 0; i < list.size() && i < kMaxListed; ++i) write(list[i]);
  if (list.size() > kMaxListed)
    json.text("… " + std::to_string(list.size() - kMaxListed) + " more");
  json.end_array();
}

// Whether a node's body, and those around it, run in this mode.
bool runs(const Graph& graph, const Node& node) {
  for (RegionId at = node.region; at; at = graph[at].parent) {
    if (graph[at].runs == RegionRuns::kNo) return false;
  }
  return true;
}

std::string shortened(const std::string& text) {
  return text.size() <= kMaxText ? text : text.substr(0, kMaxText) + "…";
}

struct AttributeWriter {
  JsonWriter& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(int64_t value) const { json.integer(value); }
  void operator()(double value) const { json.real(value); }
  void operator()(const std::string& value) const { json.text(shortened(value)); }
  void operator()(const std::vector<int64_t>& list) const {
    write_list(json, list, [&](int64_t value) { json.integer(value); });
  }
  void operator()(const std::vector<double>& list) const {
    write_list(json, list, [&](double value) { json.real(value); });
  }
  void operator()(const std::vector<std::string>& list) const {
    write_list(json, list, [&](const std::string& value) { json.text(shortened(value)); });
  }
  void operator()(const Literal& literal) const {
    json.begin_object().key("dtype").text(name(literal.dtype)).key("shape");
    (*this)(literal.dims);
    json.key("values");
    literal.floats.empty() ? (*this)(literal.integers) : (*this)(literal.floats);
    json.end_object();
  }
};

std::string_view role_of(const Value& value) {
  switch (value.role) {
    case ValueRole::kActivation:
      return value.initializer ? "initializer" : "activation";
    case ValueRole::kInput:
      return "input";
    case ValueRole::kInitializer:
      return "initializer";
    case ValueRole::kCache:
      return "cache";
  }
  return "activation";
}

std::vector<std::string_view> roles_of(const Graph& graph, const Numbering& values) {
  std::vector<std::string_view> roles;
  for (const uint32_t id : values.members) roles.push_back(role_of(graph.values[id]));
  const auto mark = [&](const std::vector<ValueId>& list, std::string_view role) {
    for (const ValueId id : list) {
      const auto number = values.find(id.index);
      if (number && roles[*number] == "activation") roles[*number] = role;
    }
  };
  mark(graph.inputs, "input");
  mark(graph.outputs, "output");
  return roles;
}

}  // namespace

void TableWriter::formula(const std::optional<Expr>& formula) {
  if (formula) {
    json.integer(static_cast<Int>(formulas.index_of(*formula)));
  } else {
    json.null();
  }
}

void TableWriter::reference(const Numbering& table, uint32_t graph_id) {
  if (const std::optional<uint32_t> number = table.find(graph_id)) {
    json.integer(Int{*number});
  } else {
    json.null();
  }
}

void TableWriter::references(const Numbering& table, const std::vector<ValueId>& values) {
  json.begin_array();
  for (const ValueId value : values) reference(table, value.index);
  json.end_array();
}

void TableWriter::quantity(std::string_view key, const Quantity& quantity) {
  json.key(key).begin_object().key("formula");
  formula(quantity.formula);
  json.key("exactness").text(name(quantity.exactness));
  json.key("source").text(name(quantity.source)).end_object();
}

void TableWriter::metrics(const Metrics& metrics) {
  json.key("metrics").begin_object();
  for (size_t i = 0; i < kMetricCount; ++i) {
    quantity(name(static_cast<Metric>(i)), metrics.all[i]);
  }
  json.end_object();
}

void TableWriter::stage(const Module& module) {
  json.key("instances").begin_array();
  for (const std::string& instance : module.instances) json.text(instance);
  json.end_array().key("carried").begin_array();
  for (const CarriedValue& carried : module.carried) {
    const auto produced = ids.values.find(carried.produced.index);
    const auto read = ids.values.find(carried.read.index);
    if (!produced || !read) continue;
    json.begin_array().integer(Int{*produced}).integer(Int{*read}).end_array();
  }
  json.end_array().key("differences").begin_array();
  for (const std::string& difference : module.differences) json.text(difference);
  json.end_array();
}

void TableWriter::module(uint32_t id) {
  const Module& module = document.tree.modules[id];
  json.line().begin_object().key("name").text(module.name).key("path").text(module.path);
  json.key("kind").text(module.kind).key("path_source").text(name(module.source)).key("parent");
  module.parent ? json.integer(Int{module.parent.index}) : json.null();
  json.key("children").begin_array();
  for (const ModuleItem& item : module.items) {
    if (item.module) json.integer(Int{item.module.index});
  }
  json.end_array().key("items").begin_array();
  for (const ModuleItem& item : module.items) {
    const auto node = ids.nodes.find(item.node.index);
    if (!item.module && !node) continue;
    json.begin_array().text(item.module ? "module" : "node");
    json.integer(Int{item.module ? item.module.index : *node}).end_array();
  }
  json.end_array().key("tensors").begin_array();
  for (const InitializerId tensor : module.initializers) {
    // Second names and tensors that another row stands for have no row of their own.
    const auto number = ids.tensors.find(tensor.index);
    if (number && ids.tensors.members[*number] == tensor.index) json.integer(Int{*number});
  }
  json.end_array().key("caches").begin_array();
  for (const uint32_t cache : module.caches) {
    if (const auto number = ids.caches.find(cache)) json.integer(Int{*number});
  }
  json.end_array().key("stage").boolean(module.is_stage);
  json.key("repeat").integer(module.repeat).key("multiplicity").integer(module.multiplicity);
  if (module.is_stage) stage(module);
  metrics(document.estimate.modules[id]);
  json.end_object();
}

void TableWriter::modules() {
  json.begin_array();
  for (uint32_t id = 0; id < document.tree.modules.size(); ++id) module(id);
  json.end_array();
}

void TableWriter::attributes(const Node& node) {
  json.key("attributes").begin_object();
  for (const Attribute& attribute : node.attributes) {
    json.key(attribute.name);
    std::visit(AttributeWriter{json}, attribute.value);
  }
  json.end_object();
}

void TableWriter::node(uint32_t id, const std::vector<uint32_t>& stood_for) {
  const Node& node = document.model.graph.nodes[id];
  const ModuleId module = document.tree.module_of_node[id];
  const OperatorInfo* known = find_operator(node.domain, node.op_type);
  json.line().begin_object().key("name").text(node.name).key("op_type").text(node.op_type);
  json.key("domain").text(node.domain).key("module").integer(Int{module.index}).key("inputs");
  references(ids.values, node.inputs);
  json.key("outputs");
  references(ids.values, node.outputs);
  attributes(node);
  json.key("compute_dtype").text(name(document.estimate.compute_dtypes[id]));
  json.key("work").text(kind_of_work(node, document.estimate.compute_dtypes[id]));
  json.key("multiplicity").integer(static_cast<int64_t>(stood_for.size()));
  json.key("view").boolean(known != nullptr && known->is_view);
  json.key("folded_at_load").boolean(document.estimate.folded_at_load[id]);
  if (!runs(document.model.graph, node)) json.key("runs").boolean(false);
  json.key("launches")
      .integer(launch_count(document.model, document.tree, document.estimate, NodeId{id}));
  metrics(document.estimate.nodes[id]);
  std::vector<std::string_view> names;
  for (const uint32_t instance : stood_for) names.push_back(document.model.graph.nodes[instance].name);
  write_instance_names(document.tree, module, names, json);
  json.end_object();
}

void TableWriter::nodes() {
  const std::vector<std::vector<uint32_t>> stood_for = ids.nodes.stood_for();
  json.begin_array();
  for (size_t number = 0; number < ids.nodes.members.size(); ++number) {
    node(ids.nodes.members[number], stood_for[number]);
  }
  json.end_array();
}

void TableWriter::value(uint32_t number, std::string_view role,
                        const std::vector<uint32_t>& consumers,
                        const std::vector<uint32_t>& stood_for) {
  const Graph& graph = document.model.graph;
  const ValueId id{ids.values.members[number]};
  const Value& value = graph[id];
  json.line().begin_object().key("name").text(value.name);
  json.key("dtype").text(name(value.type.dtype)).key("shape");
  if (value.type.shape && value.type.kind == TypeKind::kTensor) {
    json.begin_array();
    for (const Dim& dim : *value.type.shape) formula(dim);
    json.end_array();
  } else {
    json.null();
  }
  json.key("bytes");
  formula(byte_size(value.type));
  json.key("producer");
  reference(ids.nodes, value.producer.index);
  json.key("consumers").begin_array();
  for (const uint32_t consumer : consumers) json.integer(Int{consumer});
  json.end_array().key("role").text(role).key("tensor");
  reference(ids.tensors, value.initializer.index);
  if (value.producer) {
    std::vector<std::string_view> names;
    for (const uint32_t instance : stood_for) names.push_back(graph.values[instance].name);
    const NodeId producer = document.tree.template_of_node[value.producer.index];
    write_instance_names(document.tree, document.tree.module_of_node[producer.index], names, json);
  }
  json.end_object();
}

void TableWriter::values() {
  const Graph& graph = document.model.graph;
  std::vector<std::vector<uint32_t>> consumers(ids.values.members.size());
  for (uint32_t number = 0; number < ids.nodes.members.size(); ++number) {
    for (const ValueId input : graph.nodes[ids.nodes.members[number]].inputs) {
      const auto value = ids.values.find(input.index);
      if (!value) continue;
      std::vector<uint32_t>& list = consumers[*value];
      if (list.empty() || list.back() != number) list.push_back(number);
    }
  }
  const std::vector<std::string_view> roles = roles_of(graph, ids.values);
  const std::vector<std::vector<uint32_t>> stood_for = ids.values.stood_for();
  json.begin_array();
  for (uint32_t number = 0; number < consumers.size(); ++number) {
    value(number, roles[number], consumers[number], stood_for[number]);
  }
  json.end_array();
}

void TableWriter::tensor(uint32_t number) {
  const uint32_t id = ids.tensors.members[number];
  const Initializer& tensor = document.model.graph.initializers[id];
  const TensorLocation& location = tensor.location;
  const std::vector<std::string>& files = document.model.files;
  json.line().begin_object().key("name").text(tensor.name).key("dtype").text(name(tensor.dtype));
  json.key("shape").begin_array();
  Int elements = 1;
  for (const int64_t dim : tensor.dims) {
    json.integer(dim);
    elements = checked_mul(elements, dim);
  }
  json.end_array().key("bytes").integer(Int{tensor.stored_bytes});
  json.key("module").integer(Int{document.tree.module_of_initializer[id].index});
  json.key("role").text(name(tensor.role)).key("part").text(name(tensor.part)).key("parameters");
  const bool is_parameter = tensor.role == TensorRole::kParameter;
  json.integer(is_parameter ? tensor.logical_elements.value_or(elements) : Int{0});
  const bool is_stored = location.file >= 0 && static_cast<size_t>(location.file) < files.size();
  json.key("file");
  is_stored ? json.text(files[static_cast<size_t>(location.file)]) : json.null();
  json.key("offset");
  is_stored ? json.integer(Int{location.offset}) : json.null();
  json.key("instances").integer(ids.tensors.instances[number]).end_object();
}

void TableWriter::tensors() {
  json.begin_array();
  for (uint32_t number = 0; number < ids.tensors.members.size(); ++number) tensor(number);
  json.end_array();
}

void TableWriter::cache(uint32_t number, std::optional<ModuleId> module) {
  const uint32_t id = ids.caches.members[number];
  const Cache& cache = document.model.graph.caches[id];
  json.line().begin_object().key("name").text(cache.name).key("kind").text(name(cache.kind));
  json.key("input");
  reference(ids.values, cache.input.index);
  json.key("output");
  reference(ids.values, cache.output.index);
  json.key("node");
  reference(ids.nodes, cache.reader.index);
  json.key("format").text(cache.format.name).key("shape");
  if (cache.allocated) {
    json.begin_array();
    for (const Expr& dim : *cache.allocated) formula(dim);
    json.end_array();
  } else {
    json.null();
  }
  json.key("bytes");
  formula(allocated_bytes(cache, document.estimate.operands.kv_blocks));
  json.key("copied").boolean(cache.copied);
  json.key("instances").integer(ids.caches.instances[number]).key("module");
  module ? json.integer(Int{module->index}) : json.null();
  json.end_object();
}

void TableWriter::caches() {
  std::vector<std::optional<ModuleId>> owners(ids.caches.members.size());
  for (uint32_t id = 0; id < document.tree.modules.size(); ++id) {
    for (const uint32_t cache : document.tree.modules[id].caches) {
      if (const auto number = ids.caches.find(cache)) owners[*number] = ModuleId(id);
    }
  }
  json.begin_array();
  for (uint32_t number = 0; number < owners.size(); ++number) cache(number, owners[number]);
  json.end_array();
}

void TableWriter::peak() {
  json.begin_object().key("node");
  reference(ids.nodes, document.estimate.peak_node.index);
  const auto& packed = document.estimate.packed_peak_bytes;
  json.key("packed_bytes");
  packed ? json.integer(*packed) : json.null();
  json.key("scratch_bytes");
  formula(document.estimate.scratch_at_peak.formula);
  json.key("alive").begin_array();
  for (const LiveValue& live : document.estimate.alive_at_peak) {
    const auto value = ids.values.find(live.value.index);
    if (!value) continue;
    json.line().begin_object().key("value").integer(Int{*value});
    json.key("name").text(document.model.graph[live.value].name).key("birth");
    reference(ids.nodes, live.birth.index);
    json.key("death");
    reference(ids.nodes, live.death.index);
    json.key("bytes");
    formula(live.bytes.formula);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace kcharter
