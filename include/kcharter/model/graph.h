// Graph: what the model computes in one mode, as flat tables with small typed ids.
//
// One table of nodes and one of values holds everything, the bodies of If, Loop and Scan included:
// a body is a Region, a node belongs to one region, and a value may be read in any region below its
// own, so captures need no special case. Calls of model-local functions are inlined by the importer.
// Weights are initializers: name, type and place in a file, never their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kcharter/model/dtype.h"
#include "kcharter/model/element_format.h"
#include "kcharter/model/tensor_type.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t index = kNone;
  constexpr Id() = default;
  constexpr explicit Id(size_t i) : index(static_cast<uint32_t>(i)) {}
  constexpr explicit operator bool() const { return index != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using InitializerId = Id<struct InitializerTag>;
using RegionId = Id<struct RegionTag>;
using ScopeId = Id<struct ScopeTag>;

// A small tensor whose numbers are known (shapes, axes, indices, scalars). Integers and bools are in
// `integers`, floats in `floats`; one of the two has as many entries as the shape has elements.
struct Literal {
  DType dtype = DType::kUnknown;
  std::vector<int64_t> dims;
  std::vector<int64_t> integers;
  std::vector<double> floats;
  friend bool operator==(const Literal&, const Literal&) = default;
};

// A tensor attribute whose payload was left on disk because it is large: its type and place only.
struct TensorLocation {
  int32_t file = -1;    // index into Model::files; -1: not stored (dims only)
  uint64_t offset = 0;  // bytes from the file's start
  uint64_t length = 0;  // bytes stored there
  friend bool operator==(const TensorLocation&, const TensorLocation&) = default;
};

using AttributeValue =
    std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>, Literal>;

struct Attribute {
  std::string name;
  AttributeValue value;  // monostate: kept by name only (graphs become regions; large tensors stay on disk)
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// What a value is for. Set by the importer where the file says so, otherwise kActivation.
enum class ValueRole : uint8_t {
  kActivation,
  kInput,        // a graph input that the caller gives anew each step
  kInitializer,  // weights, buffers, constants
  kCache,        // a cache or state input or output: see Graph::caches
};

struct Value {
  std::string name;
  TensorType type;                     // filled by shape inference; declared types of inputs at import
  std::optional<TensorType> declared;  // what the file says of it, for comparison only
  NodeId producer;                     // none for graph inputs, initializers, region inputs
  RegionId region;                     // where it is defined
  InitializerId initializer;
  ValueRole role = ValueRole::kActivation;
  // The element values where they are known and few, as formulas (Shape → Gather → Concat).
  std::shared_ptr<const std::vector<Expr>> elements;
};

// Where a module path was taken from, best first.
enum class ScopeSource : uint8_t { kNone, kMetadata, kFunction, kNodeName, kWeightName, kValueName, kStructure };

std::string_view name(ScopeSource source);

// A module path as the exporter wrote it, in segments: {"model", "layers.0", "self_attn"}.
struct Scope {
  std::vector<std::string> segments;
  ScopeSource source = ScopeSource::kNone;
  std::string class_name;  // "LlamaAttention" where the exporter says so
  friend bool operator==(const Scope&, const Scope&) = default;
};

struct Node {
  std::string name;     // as in the file: may be empty, may repeat
  std::string op_type;
  std::string domain;   // "" is ai.onnx; "kcharter" is ours
  int32_t since_version = 0;  // the opset version of `domain` that this node uses
  std::vector<ValueId> inputs;   // a none id is an absent optional input
  std::vector<ValueId> outputs;  // a none id is an output nobody wants
  std::vector<Attribute> attributes;
  std::vector<RegionId> bodies;  // If: then, else; Loop, Scan: body
  RegionId region;
  ScopeId scope;
};

const Attribute* find_attribute(const Node& node, std::string_view name);
int64_t int_attribute(const Node& node, std::string_view name, int64_t fallback);
double float_attribute(const Node& node, std::string_view name, double fallback);
std::string string_attribute(const Node& node, std::string_view name, std::string_view fallback);
// nullptr where absent or of another kind.
const std::vector<int64_t>* ints_attribute(const Node& node, std::string_view name);

enum class RegionKind : uint8_t { kRoot, kThen, kElse, kLoop, kScan };

// Whether a region's nodes run in this mode. Shape inference decides it where a condition is known.
enum class RegionRuns : uint8_t { kYes, kNo, kUnknown };

struct Region {
  RegionKind kind = RegionKind::kRoot;
  NodeId owner;                  // the If, Loop or Scan node
  RegionId parent;
  std::vector<ValueId> inputs;   // body inputs of Loop and Scan
  std::vector<ValueId> outputs;
  RegionRuns runs = RegionRuns::kYes;
  Dim trip_count = Expr(1);      // times the body runs per run of its owner; nullopt: unknown
  bool trip_count_is_bound = false;  // a Loop with a condition may stop earlier
};

// What a stored tensor is for. kUnused: no node reads it.
enum class TensorRole : uint8_t { kParameter, kBuffer, kConstant };
// Which part of a quantized weight it stores.
enum class TensorPart : uint8_t { kPlain, kPayload, kScale, kZeroPoint, kMetadata };

std::string_view name(TensorRole role);  // parameter, buffer, constant
std::string_view name(TensorPart part);  // plain, payload, scale, zero_point, metadata

struct Initializer {
  std::string name;
  DType dtype = DType::kUnknown;
  std::vector<int64_t> dims;       // as stored
  ValueId value;                   // none where no graph uses it (a checkpoint without a known graph)
  TensorLocation location;
  uint64_t stored_bytes = 0;       // dims times bits, or the encoding's own size
  TensorRole role = TensorRole::kParameter;
  TensorPart part = TensorPart::kPlain;
  // Parameters it stands for where that is not its element count: packed 4-bit weights; 0 for scales.
  std::optional<int64_t> logical_elements;
  // A second name of the tensor of that id (tied embeddings): stores nothing itself.
  InitializerId alias_of;
  // The numbers of a small tensor (up to 4,096 integers or 64 floats); null where they stay on disk.
  std::shared_ptr<const Literal> literal;
};

enum class CacheKind : uint8_t {
  kKeyValue,       // grows with the sequence, up to `allocated`
  kCrossKeyValue,  // written once per request from the encoder's output
  kState,          // recurrent or convolution state: one size for any length
};

std::string_view name(CacheKind kind);  // key_value, cross_key_value, state

// A tensor kept from step to step: a cache input, the output it becomes, and what is allocated for it.
struct Cache {
  CacheKind kind = CacheKind::kKeyValue;
  std::string name;                // "past_key_values.0.key"
  ValueId input;                   // none: the graph starts it (prefill without past)
  ValueId output;                  // none: read only
  ElementFormat format;            // how it is stored; block_bytes 0: not known
  std::optional<std::vector<Expr>> allocated;  // its shape as allocated, over batch_size and max_length …
  // The graph returns a grown copy (past → Concat → present) instead of updating in place.
  bool copied = false;
  // The node it belongs to: the attention or recurrence that reads it. None: found by the estimate.
  NodeId reader;
  // kKeyValue: the axis of the shape that counts tokens. -1: none found.
  int32_t sequence_axis = -1;
  bool by_rule = false;  // `allocated` is what an engine's rule says, not what the model does
};

struct Graph {
  std::vector<Node> nodes;  // in execution order; a body's nodes stand before its owner
  std::vector<Value> values;
  std::vector<Initializer> initializers;
  std::vector<Region> regions;  // 0 is the root
  std::vector<Scope> scopes;    // 0 is the empty scope
  std::vector<ValueId> inputs;  // of the root, initializers not among them
  std::vector<ValueId> outputs;
  std::vector<Cache> caches;

  Node& operator[](NodeId id) { return nodes[id.index]; }
  const Node& operator[](NodeId id) const { return nodes[id.index]; }
  Value& operator[](ValueId id) { return values[id.index]; }
  const Value& operator[](ValueId id) const { return values[id.index]; }
  Initializer& operator[](InitializerId id) { return initializers[id.index]; }
  const Initializer& operator[](InitializerId id) const { return initializers[id.index]; }
  Region& operator[](RegionId id) { return regions[id.index]; }
  const Region& operator[](RegionId id) const { return regions[id.index]; }
  Scope& operator[](ScopeId id) { return scopes[id.index]; }
  const Scope& operator[](ScopeId id) const { return scopes[id.index]; }
};

}  // namespace kcharter
