#include "import/onnx/convert_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "import/onnx/attributes.h"
#include "import/onnx/functions.h"
#include "import/onnx/scopes.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

// Bodies within bodies and calls within calls; protobuf's own limit for nested messages is 100.
constexpr size_t kMaxDepth = 100;

// Twenty times the largest known model. A hostile file spends a few bytes on each.
constexpr size_t kMaxNodes = 2'000'000;
constexpr size_t kMaxValues = 4'000'000;
// Calls in calls make names longer and longer; what they are made of is kept up to here.
constexpr size_t kLongestPrefix = 256;

// A graph that its owner runs in a way of its own, how often is not known: BeamSearch's decoder.
constexpr RegionKind kRunByItsOwner = RegionKind::kRoot;

using NameTable = std::unordered_map<std::string_view, ValueId>;
using OpsetTable = std::unordered_map<std::string_view, int64_t>;

// A graph or a function's body that is being converted.
struct Frame {
  NameTable names;
  const Frame* outer = nullptr;  // whose names are visible too: none for the root and functions
  RegionId region;
  ScopeId scope;
  const OpsetTable* opsets = nullptr;
  std::shared_ptr<const OpsetTable> own_opsets;
  std::shared_ptr<const AttributeBindings> bindings;  // null outside functions
  std::string prefix;  // of names in a function's body: the call's own name
  std::vector<NodeView> nodes;
  size_t next = 0;
  // The bodies of nodes[next], converted before the node itself.
  std::vector<RegionId> bodies;
  bool bodies_pushed = false;
  // Set when the frame is done.
  std::vector<std::string_view> outputs;
};

std::string describe(const NodeView& node) {
  return fmt::format("node '{}' ({})", node.name, node.op_type);
}

OpsetTable opset_table(const std::vector<OpsetView>& opsets) {
  OpsetTable table;
  for (const OpsetView& opset : opsets) table[canonical_domain(opset.domain)] = opset.version;
  return table;
}

std::vector<NodeView> read_nodes(const std::vector<FileBytes>& nodes) {
  std::vector<NodeView> views;
  views.reserve(nodes.size());
  for (const FileBytes bytes : nodes) views.push_back(read_node(bytes));
  return views;
}

class GraphConverter {
 public:
  explicit GraphConverter(const ConversionSource& source)
      : model_(source.model),
        diagnostics_(source.diagnostics),
        functions_(source.model.functions),
        opsets_(opset_table(source.model.opsets)),
        tensors_(result_.graph, source.external, source.embedded_file, source.diagnostics),
        scopes_(result_.graph.scopes) {}

  ConvertedGraph run() {
    push_root();
    while (!stack_.empty()) step();
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }

  ValueId new_value(std::string name, RegionId region) {
    const ValueId id(graph().values.size());
    if (id.index >= kMaxValues) throw Error(fmt::format("it has more than {} values", kMaxValues));
    Value value;
    value.name = std::move(name);
    value.region = region;
    graph().values.push_back(std::move(value));
    return id;
  }

  static ValueId lookup(const Frame* frame, std::string_view name) {
    for (; frame != nullptr; frame = frame->outer) {
      const auto found = frame->names.find(name);
      if (found != frame->names.end()) return found->second;
    }
    return {};
  }

  // The value of that name; one of unknown type where nothing makes it. Absent for the empty name.
  ValueId resolve(Frame& frame, std::string_view name, std::string_view user) {
    if (name.empty()) return {};
    // A function's formal input that the call leaves out is in the table, and absent.
    for (const Frame* at = &frame; at != nullptr; at = at->outer) {
      const auto found = at->names.find(name);
      if (found != at->names.end()) return found->second;
    }
    diagnostics_.add(Severity::kWarning, "dangling-input", user,
                     fmt::format("input '{}' is produced by nothing; its type is unknown", name));
    return frame.names[name] = new_value(frame.prefix + std::string(name), frame.region);
  }

  // A new value under `name`, a second one where there is one already.
  ValueId declare(Frame& frame, std::string_view name, std::string_view subject) {
    const ValueId id = new_value(frame.prefix + std::string(name), frame.region);
    if (!frame.names.try_emplace(name, id).second) warn_defined_twice(name, subject);
    return id;
  }

  void warn_defined_twice(std::string_view name, std::string_view subject) {
    diagnostics_.add(Severity::kWarning, "duplicate-value", subject,
                     fmt::format("value '{}' is defined twice; readers get the first", name));
  }

  void declare_type(ValueId value, FileBytes type) {
    if (value && !type.text.empty()) result_.declarations.push_back({value, type});
  }

  Frame& push(RegionId region, const Frame* outer, const Frame* settings) {
    if (stack_.size() >= kMaxDepth) {
      throw Error(fmt::format("bodies and function calls are nested deeper than {}", kMaxDepth));
    }
    auto frame = std::make_unique<Frame>();
    frame->region = region;
    frame->outer = outer;
    frame->opsets = settings != nullptr ? settings->opsets : &opsets_;
    frame->scope = settings != nullptr ? settings->scope : ScopeId(0);
    if (settings != nullptr) {
      frame->bindings = settings->bindings;
      frame->own_opsets = settings->own_opsets;
      frame->prefix = settings->prefix;
    }
    stack_.push_back(std::move(frame));
    return *stack_.back();
  }

  RegionId new_region(RegionKind kind, RegionId parent) {
    const RegionId id(graph().regions.size());
    Region region;
    region.kind = kind;
    region.parent = parent;
    if (parent) {
      region.runs = RegionRuns::kUnknown;
      const bool branch = kind == RegionKind::kThen || kind == RegionKind::kElse;
      if (!branch) region.trip_count = std::nullopt;
    }
    graph().regions.push_back(std::move(region));
    return id;
  }

  void push_root() {
    const RegionId region = new_region(RegionKind::kRoot, {});
    Frame& frame = push(region, nullptr, nullptr);
    open_graph(frame, read_graph(model_.graphs.front()));
    const Region& root = graph()[region];
    graph().inputs = root.inputs;
    for (const ValueId input : root.inputs) graph()[input].role = ValueRole::kInput;
  }

  // Everything in the graph that has a name gets its id, so that nodes may stand in any order.
  void open_graph(Frame& frame, const GraphView& view) {
    frame.names.reserve(view.nodes.size() + view.initializers.size() + view.inputs.size());
    add_initializers(frame, view.initializers, false);
    add_initializers(frame, view.sparse_initializers, true);
    for (const FileBytes bytes : view.inputs) {
      const ValueInfoView info = read_value_info(bytes);
      // Up to IR 3 weights had to be listed as inputs too; they stay weights.
      const auto known = frame.names.find(info.name);
      if (known != frame.names.end() && graph()[known->second].initializer) continue;
      const ValueId value = declare(frame, info.name, "graph input");
      graph()[frame.region].inputs.push_back(value);
      declare_type(value, info.type);
    }
    frame.nodes = read_nodes(view.nodes);
    declare_outputs(frame);
    for (const FileBytes bytes : view.value_infos) {
      const ValueInfoView info = read_value_info(bytes);
      const auto found = frame.names.find(info.name);
      if (found != frame.names.end()) declare_type(found->second, info.type);
    }
    for (const FileBytes bytes : view.outputs) {
      const ValueInfoView info = read_value_info(bytes);
      frame.outputs.push_back(info.name);
      declare_type(lookup(&frame, info.name), info.type);
    }
  }

  // Of several with one name the last is used, as in ONNX Runtime.
  void add_initializers(Frame& frame, const std::vector<FileBytes>& messages, bool sparse) {
    std::vector<std::string_view> names;
    std::unordered_map<std::string_view, size_t> last;
    names.reserve(messages.size());
    last.reserve(messages.size());
    for (size_t i = 0; i < messages.size(); ++i) {
      names.push_back(
          read_tensor(sparse ? read_sparse_tensor(messages[i]).values : messages[i]).name);
      last[names.back()] = i;
    }
    for (size_t i = 0; i < messages.size(); ++i) {
      if (last[names[i]] != i || frame.names.contains(names[i])) {
        diagnostics_.add(Severity::kWarning, "duplicate-initializer",
                         fmt::format("initializer '{}'", names[i]),
                         "it is stored more than once; the last is used and counted");
        continue;
      }
      const ValueId value = declare(frame, names[i], "initializer");
      if (sparse) {
        tensors_.add_sparse(messages[i], graph()[value].name, value);
      } else {
        tensors_.add(messages[i], graph()[value].name, value);
      }
    }
  }

  void declare_outputs(Frame& frame) {
    for (const NodeView& node : frame.nodes) {
      for (const std::string_view output : node.outputs) {
        if (output.empty()) continue;
        // Outputs of a function's body that are those of its call have their ids already.
        const auto [known, is_new] = frame.names.try_emplace(output);
        if (is_new) {
          known->second = new_value(frame.prefix + std::string(output), frame.region);
        } else if (!claimed_.erase(known->second.index)) {
          warn_defined_twice(output, describe(node));
        }
      }
    }
  }

  void step() {
    Frame& frame = *stack_.back();
    if (frame.next == frame.nodes.size()) {
      close(frame);
      stack_.pop_back();
      return;
    }
    const NodeView& node = frame.nodes[frame.next];
    const std::vector<AttributeView> attributes = read_attributes(node, frame.bindings.get());
    if (!frame.bodies_pushed) {
      if (canonical_domain(node.domain).empty() && node.op_type == "Constant") {
        add_constant(frame, node, attributes);
        return finish_node(frame);
      }
      if (const LocalFunction* function = functions_.find(node)) {
        if (fits(frame, *function, node)) return call(frame, node, *function, attributes);
      }
      frame.bodies_pushed = true;
      if (push_bodies(frame, node, attributes)) return;
    }
    emit(frame, node, attributes);
    finish_node(frame);
  }

  static void finish_node(Frame& frame) {
    frame.nodes[frame.next] = {};
    frame.next += 1;
    frame.bodies.clear();
    frame.bodies_pushed = false;
  }

  void close(Frame& frame) {
    if (frame.outputs.empty()) return;
    std::vector<ValueId> outputs;
    for (const std::string_view name : frame.outputs) {
      outputs.push_back(resolve(frame, name, "graph output"));
    }
    graph()[frame.region].outputs = outputs;
    if (frame.region.index == 0) graph().outputs = outputs;
  }

  static RegionKind kind_of_body(const NodeView& node, std::string_view attribute) {
    if (canonical_domain(node.domain).empty()) {
      if (node.op_type == "If") {
        return attribute == "then_branch" ? RegionKind::kThen : RegionKind::kElse;
      }
      if (node.op_type == "Loop") return RegionKind::kLoop;
      if (node.op_type == "Scan") return RegionKind::kScan;
    }
    return kRunByItsOwner;
  }

  // Graphs in attributes become regions, the node comes after them. True: the frame of one is on
  // the stack.
  bool push_bodies(Frame& frame, const NodeView& node,
                   const std::vector<AttributeView>& attributes) {
    std::vector<std::pair<RegionId, FileBytes>> found;
    for (const AttributeView& attribute : attributes) {
      for (const FileBytes graph : attribute.graphs) {
        const RegionKind kind = kind_of_body(node, attribute.name);
        if (kind == kRunByItsOwner) {
          diagnostics_.add(
              Severity::kWarning, "subgraph-runs-unknown", describe(node),
              fmt::format("how often {} runs its '{}' is not known", node.op_type, attribute.name));
        }
        found.emplace_back(new_region(kind, frame.region), graph);
      }
    }
    // The then branch first, whatever the order of the attributes.
    std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return graph_kind(a.first) < graph_kind(b.first);
    });
    for (const auto& [region, bytes] : found) frame.bodies.push_back(region);
    // The last pushed runs first.
    for (size_t i = found.size(); i-- > 0;) {
      Frame& body = push(found[i].first, &frame, &frame);
      open_graph(body, read_graph(found[i].second));
    }
    return !found.empty();
  }

  RegionKind graph_kind(RegionId region) const { return result_.graph[region].kind; }

  bool fits(const Frame& frame, const LocalFunction& function, const NodeView& node) {
    if (frame.bindings != nullptr) return true;  // counted with the function that it stands in
    if (function.expanded_nodes <= FunctionTable::kMaxInlinedNodes - inlined_nodes_) {
      inlined_nodes_ += function.expanded_nodes;
      return true;
    }
    const std::string count = function.expanded_nodes >= FunctionTable::kTooMany
                                  ? "more than 10^12"
                                  : fmt::format("{}", function.expanded_nodes);
    diagnostics_.add(
        Severity::kWarning, "function-too-large", describe(node),
        fmt::format("function '{}' would become {} nodes, the limit is {}; its call stays "
                    "one node whose work is unknown",
                    function.view.name, count, FunctionTable::kMaxInlinedNodes));
    return false;
  }

  void call(Frame& frame, const NodeView& node, const LocalFunction& function,
            const std::vector<AttributeView>& attributes) {
    const FunctionView& view = function.view;
    const std::string caller = describe(node);
    std::vector<ValueId> inputs;
    for (const std::string_view name : node.inputs) inputs.push_back(resolve(frame, name, caller));
    std::vector<ValueId> outputs;
    for (const std::string_view name : node.outputs) outputs.push_back(lookup(&frame, name));
    std::string prefix = frame.prefix + std::string(node.name.empty() ? node.op_type : node.name);
    if (prefix.size() >= kLongestPrefix) prefix.resize(kLongestPrefix - 1);
    prefix += '/';
    const ScopeId scope = scopes_.of_function(node, view.name, frame.scope, is_body(frame));

    auto bindings = std::make_shared<AttributeBindings>();
    for (const FileBytes bytes : view.attribute_defaults) {
      const AttributeView attribute = read_attribute(bytes);
      bindings->insert_or_assign(attribute.name, attribute);
    }
    for (const AttributeView& attribute : attributes) {
      bindings->insert_or_assign(attribute.name, attribute);
    }
    finish_node(frame);  // `node` is gone

    Frame& body = push(frame.region, nullptr, &frame);
    body.prefix = prefix;
    body.scope = scope;
    body.bindings = std::move(bindings);
    auto own = std::make_shared<OpsetTable>(opset_table(view.opsets));
    for (const auto& [domain, version] : opsets_) own->try_emplace(domain, version);
    body.opsets = own.get();
    body.own_opsets = std::move(own);
    for (size_t i = 0; i < view.inputs.size(); ++i) {
      body.names[view.inputs[i]] = i < inputs.size() ? inputs[i] : ValueId();
    }
    for (size_t i = 0; i < view.outputs.size() && i < outputs.size(); ++i) {
      if (!outputs[i]) continue;
      const auto [known, added] = body.names.try_emplace(view.outputs[i], outputs[i]);
      if (added) {
        claimed_.insert(outputs[i].index);
      } else if (known->second) {
        pass_through(body, known->second, outputs[i]);
      }
    }
    body.nodes = read_nodes(view.nodes);
    declare_outputs(body);
  }

  // An output of a function that is one of its inputs, or another output again.
  void pass_through(const Frame& body, ValueId from, ValueId to) {
    Node node;
    node.name = body.prefix + "Identity";
    node.op_type = "Identity";
    node.since_version = version_of(body, "");
    node.inputs = {from};
    node.outputs = {to};
    node.region = body.region;
    node.scope = body.scope;
    append(std::move(node));
  }

  bool is_body(const Frame& frame) { return frame.region.index != 0; }

  static int32_t version_of(const Frame& frame, std::string_view domain) {
    const auto found = frame.opsets->find(domain);
    const int64_t version = found == frame.opsets->end() ? 1 : found->second;
    return static_cast<int32_t>(std::clamp<int64_t>(version, 1, INT32_MAX));
  }

  void append(Node node) {
    const NodeId id(graph().nodes.size());
    if (id.index >= kMaxNodes) throw Error(fmt::format("it has more than {} nodes", kMaxNodes));
    for (const ValueId output : node.outputs) {
      if (output && !graph()[output].producer) graph()[output].producer = id;
    }
    for (const RegionId body : node.bodies) graph()[body].owner = id;
    graph().nodes.push_back(std::move(node));
  }

  void emit(Frame& frame, const NodeView& view, const std::vector<AttributeView>& attributes) {
    Node node;
    const std::string subject = describe(view);
    node.name = frame.prefix + std::string(view.name);
    node.op_type = view.op_type;
    node.domain = canonical_domain(view.domain);
    node.since_version = version_of(frame, node.domain);
    for (const std::string_view name : view.inputs)
      node.inputs.push_back(resolve(frame, name, subject));
    for (const std::string_view name : view.outputs) {
      ValueId output = name.empty() ? ValueId() : lookup(&frame, name);
      // A name that is taken: another value, which nobody reads.
      if (output && (graph()[output].producer || graph()[output].initializer)) {
        output = new_value(frame.prefix + std::string(name), frame.region);
      }
      node.outputs.push_back(output);
    }
    for (const AttributeView& attribute : attributes)
      node.attributes.push_back(convert_attribute(attribute));
    node.bodies = frame.bodies;
    node.region = frame.region;
    node.scope = scopes_.of_node(view, frame.scope, is_body(frame));
    append(std::move(node));
  }

  void add_constant(Frame& frame, const NodeView& node,
                    const std::vector<AttributeView>& attributes) {
    if (node.outputs.empty() || node.outputs.front().empty()) return;
    const ValueId value = lookup(&frame, node.outputs.front());
    if (graph()[value].initializer || graph()[value].producer) return;  // defined twice
    const std::string name = graph()[value].name;
    if (const AttributeView* tensor = kcharter::find_attribute(attributes, "value");
        tensor != nullptr && tensor->tensor) {
      tensors_.add(*tensor->tensor, name, value);
    } else if (const AttributeView* sparse = kcharter::find_attribute(attributes, "sparse_value");
               sparse != nullptr && sparse->sparse_tensor) {
      tensors_.add_sparse(*sparse->sparse_tensor, name, value);
    } else {
      tensors_.add(constant_literal(attributes), name, value);
    }
    graph().initializers.back().role = TensorRole::kConstant;
  }

  // Constant by value_int, value_ints, value_float, value_floats, value_string, value_strings.
  static Literal constant_literal(const std::vector<AttributeView>& attributes) {
    Literal literal;
    for (const AttributeView& attribute : attributes) {
      if (attribute.name == "value_int") {
        literal.dtype = DType::kInt64;
        literal.integers = {attribute.integer.value_or(0)};
      } else if (attribute.name == "value_ints") {
        literal.dtype = DType::kInt64;
        literal.integers = attribute.integers;
        literal.dims = {static_cast<int64_t>(attribute.integers.size())};
      } else if (attribute.name == "value_float") {
        literal.dtype = DType::kF32;
        literal.floats = {attribute.number.value_or(0)};
      } else if (attribute.name == "value_floats") {
        literal.dtype = DType::kF32;
        literal.floats.assign(attribute.numbers.begin(), attribute.numbers.end());
        literal.dims = {static_cast<int64_t>(attribute.numbers.size())};
      } else if (attribute.name == "value_string" || attribute.name == "value_strings") {
        literal.dtype = DType::kString;
        if (attribute.name == "value_strings") {
          literal.dims = {static_cast<int64_t>(attribute.texts.size())};
        }
      }
    }
    return literal;
  }

  const ModelView& model_;
  Diagnostics& diagnostics_;
  FunctionTable functions_;
  OpsetTable opsets_;
  ConvertedGraph result_;
  TensorTable tensors_;
  ScopeTable scopes_;
  std::vector<std::unique_ptr<Frame>> stack_;
  // Outputs of calls that their function's body still has to define.
  std::unordered_set<uint32_t> claimed_;
  int64_t inlined_nodes_ = 0;
};

}  // namespace

ConvertedGraph convert_graph(const ConversionSource& source) {
  return GraphConverter(source).run();
}

}  // namespace kcharter
