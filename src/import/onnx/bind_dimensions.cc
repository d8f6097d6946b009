#include "import/onnx/bind_dimensions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/cache_operators.h"
#include "import/onnx/consumers.h"
#include "import/onnx/count_heads.h"
#include "import/onnx/symbols.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

// One symbol at one place of the graph's inputs.
struct Place {
  ValueId input;
  size_t axis = 0;
  size_t rank = 0;
  DType dtype = DType::kUnknown;
};

struct Binding {
  Expr formula;
  bool guessed = false;
};

class DimensionBinder {
 public:
  DimensionBinder(Model& model, const GraphTypes& types, const ImportOptions& options)
      : model_(model), graph_(model.graph), types_(types), options_(options), consumers_(graph_) {
    for (const std::string_view name : {kBatchSize, kCurrentLength, kMaxLength})
      taken_.emplace(name);
  }

  void run() {
    check_mode();
    collect_places();
    bind_caches();
    bind_tokens();
    bind_by_name();
    bind_first_axis();
    bind_rest();
    set_input_types();
    apply_options_to_variables();
    set_declared_types();
    set_cache_shapes();
    set_cache_branch();
    report();
  }

 private:
  bool decode() const { return model_.mode == Mode::kDecode; }
  Expr batch() const { return Expr::variable(kBatchSize); }
  Expr total() const { return Expr::variable(kCurrentLength); }
  Expr past() const { return decode() ? total() - Expr(1) : Expr(0); }
  Expr sequence() const { return decode() ? Expr(1) : total(); }

  void check_mode() {
    has_tokens_ = std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                              [&](ValueId input) { return is_token_input(input); });
    for (const Cache& cache : graph_.caches) {
      if (!cache.input || cache.kind == CacheKind::kCrossKeyValue) continue;
      if (cache.kind == CacheKind::kKeyValue || has_tokens_) model_.can_decode = true;
    }
    if (decode() && !model_.can_decode) {
      throw UsageError(
          "it cannot decode: no output of its graph is a cache or state that an input takes back");
    }
  }

  DType dtype_of_input(ValueId input) const {
    const TypeView* type = types_.find(input);
    return type == nullptr ? DType::kUnknown : dtype_of(type->element_type);
  }

  bool is_cache(ValueId input) const { return graph_[input].role == ValueRole::kCache; }

  void collect_places() {
    for (const ValueId input : graph_.inputs) {
      const auto* dims = types_.dims(input);
      if (dims == nullptr) continue;
      for (size_t axis = 0; axis < dims->size(); ++axis) {
        const std::string_view symbol = (*dims)[axis].symbol;
        if ((*dims)[axis].value || hint_of(symbol) == SymbolHint::kUnknown) continue;
        const auto [found, added] = places_.try_emplace(symbol);
        if (added) order_.push_back(symbol);
        found->second.push_back({input, axis, dims->size(), dtype_of_input(input)});
      }
    }
  }

  bool is_bound(std::string_view symbol) const { return bound_.contains(symbol); }

  void bind(std::string_view symbol, Expr formula, bool guessed) {
    if (symbol.empty() || hint_of(symbol) == SymbolHint::kUnknown) return;
    bound_.try_emplace(symbol, Binding{std::move(formula), guessed});
  }

  std::string_view symbol_at(ValueId value, int64_t axis) const {
    const auto* dims = types_.dims(value);
    if (dims == nullptr || axis < 0 || axis >= static_cast<int64_t>(dims->size())) return {};
    return (*dims)[static_cast<size_t>(axis)].symbol;
  }

  // A combined cache is [2, batch, heads, tokens, head size], a recurrence's [layers, batch,
  // hidden].
  int64_t batch_axis(const Cache& cache) const {
    const auto* dims = types_.dims(cache.input);
    if (dims == nullptr || dims->size() < 3 || !dims->front().value || (*dims)[1].value) return 0;
    return dims->size() == 5 || cache.kind == CacheKind::kState ? 1 : 0;
  }

  void bind_caches() {
    for (const Cache& cache : graph_.caches) {
      if (!cache.input) continue;
      if (cache.kind == CacheKind::kKeyValue)
        bind(symbol_at(cache.input, cache.sequence_axis), past(), false);
      const std::string_view first = symbol_at(cache.input, batch_axis(cache));
      const bool paged = cache.reader && graph_[cache.reader].op_type == "PagedAttention";
      if (paged || first.empty()) continue;
      if (hint_of(first) == SymbolHint::kBatchTimesHeads) {
        bind(first, batch() * heads_of(cache), true);
      } else if (hint_of(first) == SymbolHint::kBatch) {
        bind(first, batch(), false);
      }
    }
  }

  // How many heads share the first axis with the batch.
  Expr heads_of(const Cache& cache) {
    if (const std::optional<int64_t> heads = count_heads(graph_, types_, cache))
      return Expr(*heads);
    if (!heads_variable_) heads_variable_ = new_variable("num_heads", 1);
    return *heads_variable_;
  }

  Expr new_variable(std::string_view label, int64_t value) {
    const std::string name = variable_name(label, taken_);
    model_.variables.push_back(
        {.name = name, .label = std::string(label), .value = value, .min = 1});
    return Expr::variable(name);
  }

  // Token ids choose rows of a table; through at most a few operators that only move them.
  bool is_token_input(ValueId input) const {
    const DType dtype = dtype_of_input(input);
    if (dtype != DType::kInt64 && dtype != DType::kInt32) return false;
    ValueId value = input;
    for (int steps = 0; steps < 8 && value; ++steps) {
      ValueId next;
      for (const Consumer& consumer : consumers_.of(value)) {
        const Node& node = graph_[consumer.node];
        const bool chooses = (node.op_type == "Gather" || node.op_type == "GatherBlockQuantized") &&
                             consumer.input == 1 && node.inputs[0] && reads_table(node.inputs[0]);
        if (chooses || (node.op_type == "EmbedLayerNormalization" && consumer.input == 0))
          return true;
        const std::optional<CachePassage> passage = cache_passage(node, consumer.input);
        if (!next && passage && passage->step == CacheStep::kMove && !node.outputs.empty()) {
          next = node.outputs.front();
        }
      }
      value = next;
    }
    return false;
  }

  // A stored matrix, perhaps behind an alias.
  bool reads_table(ValueId value) const {
    for (int steps = 0; steps < 4 && value; ++steps) {
      const Value& table = graph_[value];
      if (table.initializer) return graph_[table.initializer].dims.size() >= 2;
      if (!table.producer) return false;
      const Node& producer = graph_[table.producer];
      value = producer.inputs.empty() ? ValueId() : producer.inputs.front();
    }
    return false;
  }

  void bind_tokens() {
    for (const ValueId input : graph_.inputs) {
      const auto* dims = types_.dims(input);
      if (dims == nullptr || dims->size() != 2 || !is_token_input(input)) continue;
      if (hint_of(symbol_at(input, 1)) == SymbolHint::kTotal) continue;
      bind(symbol_at(input, 0), batch(), false);
      bind(symbol_at(input, 1), sequence(), false);
    }
    bind_cross_attention();
  }

  // The encoder's length: an axis of what cross attention keeps and of the hidden states it reads.
  void bind_cross_attention() {
    for (const Cache& cache : graph_.caches) {
      if (cache.kind != CacheKind::kCrossKeyValue || !cache.input) continue;
      const std::string_view symbol = symbol_at(cache.input, cache.sequence_axis);
      if (!symbol.empty() && !is_bound(symbol)) bind(symbol, encoder_length(symbol), true);
    }
  }

  Expr encoder_length(std::string_view symbol) {
    if (!encoder_length_) {
      // Prefer how the hidden states call it: "encoder_sequence_length", not "…_out" of a cache.
      std::string_view label = symbol;
      for (const std::string_view other : order_) {
        const bool hidden =
            std::any_of(places_[other].begin(), places_[other].end(), [&](const Place& place) {
              return place.rank == 3 && place.axis == 1 && !is_cache(place.input) &&
                     is_float(place.dtype);
            });
        if (hidden && hint_of(other) == SymbolHint::kEncoder) label = other;
      }
      encoder_length_ = new_variable("encoder_sequence_length", usual_size(label, 1, 3, true));
      model_.variables.back().label = std::string(label);
    }
    return *encoder_length_;
  }

  bool has_key_value_input() const {
    return std::any_of(graph_.caches.begin(), graph_.caches.end(), [](const Cache& cache) {
      return cache.kind == CacheKind::kKeyValue && cache.input;
    });
  }

  void bind_by_name() {
    const bool decoder = has_key_value_input() || has_tokens_;
    for (const std::string_view symbol : order_) {
      if (is_bound(symbol)) continue;
      switch (hint_of(symbol)) {
        case SymbolHint::kBatch:
          bind(symbol, batch(), true);
          break;
        case SymbolHint::kBatchPlusOne:
          bind(symbol, batch() + Expr(1), true);
          break;
        case SymbolHint::kPast:
          bind(symbol, past(), true);
          break;
        case SymbolHint::kTotal:
          bind(symbol, total(), true);
          break;
        case SymbolHint::kSequence:
          bind(symbol, sequence(), true);
          break;
        case SymbolHint::kEncoder:
          if (decoder) bind(symbol, encoder_length(symbol), true);
          break;
        default:
          break;
      }
    }
    bind_beside_tokens();
  }

  // The length along the last axis of an input beside the token ids, told by what the input is
  // called: of a mask all tokens, of positions and kinds those of this step.
  std::optional<Expr> length_beside_tokens(ValueId input, size_t axis, size_t rank) const {
    if (axis == 0 || axis + 1 != rank) return std::nullopt;
    if (is_token_input(input)) return sequence();
    const std::string& name = graph_[input].name;
    const auto named = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    if (named("encoder")) return std::nullopt;
    if (named("mask") && has_key_value_input()) return total();
    const bool beside =
        named("mask") || named("position") || named("token_type") || named("segment");
    if (beside && has_tokens_) return sequence();
    return std::nullopt;
  }

  void bind_beside_tokens() {
    for (const std::string_view symbol : order_) {
      if (is_bound(symbol)) continue;
      const Place& place = places_[symbol].front();
      if (const auto length = length_beside_tokens(place.input, place.axis, place.rank)) {
        bind(symbol, *length, true);
      }
    }
  }

  bool batch_is_bound() const {
    return std::any_of(bound_.begin(), bound_.end(),
                       [&](const auto& entry) { return entry.second.formula == batch(); });
  }

  // The first axis of an input that is no table of tokens is taken as the batch.
  void bind_first_axis() {
    for (const std::string_view symbol : order_) {
      if (batch_is_bound()) return;
      const Place& place = places_[symbol].front();
      if (is_bound(symbol) || place.axis != 0 || place.rank < 2 || is_cache(place.input)) continue;
      const std::string name(symbol);
      if (name.find("num_") != std::string::npos || name.find("tokens") != std::string::npos ||
          name.find("patches") != std::string::npos || name.find("len") != std::string::npos) {
        continue;
      }
      bind(symbol, batch(), true);
    }
  }

  void bind_rest() {
    for (const std::string_view symbol : order_) {
      if (is_bound(symbol)) continue;
      const Place& place = places_[symbol].front();
      bind(symbol,
           new_variable(symbol, usual_size(symbol, place.axis, place.rank, is_float(place.dtype))),
           false);
    }
    apply_options_to_symbols();
  }

  // --dim NAME=N: a symbol that is bound to one of the three lengths is set to the number.
  void apply_options_to_symbols() {
    for (const auto& [name, size] : options_.dims) {
      const auto symbol = bound_.find(name);
      if (symbol == bound_.end()) continue;
      applied_.insert(name);
      if (find_variable(model_.variables, name) == nullptr) symbol->second = {Expr(size), false};
    }
  }

  // A variable of the document gets that value.
  void apply_options_to_variables() {
    for (const auto& [name, size] : options_.dims) {
      if (Variable* variable = find_variable(model_.variables, name)) {
        variable->value = size;
        continue;
      }
      if (applied_.contains(name)) continue;
      std::vector<std::string> known;
      for (const auto& [label, binding] : bound_) known.push_back(fmt::format("'{}'", label));
      for (const Variable& variable : model_.variables) known.push_back(variable.name);
      throw UsageError(
          fmt::format("--dim {}={}: no dimension has that name; the model's are {}", name, size,
                      known.empty() ? "all fixed" : fmt::format("{}", fmt::join(known, ", "))));
    }
  }

  Dim dim_of(const DimensionView& dim) const {
    if (dim.value) return Expr(*dim.value);
    const auto found = bound_.find(dim.symbol);
    if (found == bound_.end()) return std::nullopt;
    return found->second.formula;
  }

  TensorType type_of(const TypeView& view) const {
    TensorType type;
    type.dtype = dtype_of(view.element_type);
    switch (view.kind) {
      case TypeViewKind::kTensor:
        type.kind = TypeKind::kTensor;
        break;
      case TypeViewKind::kSparseTensor:
        type.kind = TypeKind::kSparseTensor;
        break;
      case TypeViewKind::kSequence:
        type.kind = TypeKind::kSequence;
        break;
      case TypeViewKind::kOptional:
        type.kind = TypeKind::kOptional;
        break;
      case TypeViewKind::kMap:
        type.kind = TypeKind::kMap;
        break;
      default:
        type.kind = TypeKind::kOpaque;
        break;
    }
    if (view.dims) {
      Shape shape;
      for (const DimensionView& dim : *view.dims) shape.push_back(dim_of(dim));
      type.shape = std::move(shape);
    }
    return type;
  }

  void set_input_types() {
    for (const ValueId input : graph_.inputs) {
      const TypeView* view = types_.find(input);
      if (view == nullptr) continue;
      TensorType type = type_of(*view);
      if (type.kind == TypeKind::kTensor && type.shape) name_open_dims(input, *type.shape);
      graph_[input].type = std::move(type);
    }
  }

  // An axis that the file leaves open is a free dimension too: the cache's grows, the first is the
  // batch where nothing else is, any other becomes a variable named for its place.
  void name_open_dims(ValueId input, Shape& shape) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis]) continue;
      const Cache* cache = cache_of(input);
      if (cache != nullptr && cache->kind == CacheKind::kKeyValue &&
          cache->sequence_axis == static_cast<int32_t>(axis)) {
        shape[axis] = past();
      } else if (axis == 0 && shape.size() >= 2) {
        shape[axis] = batch();
        guess(fmt::format("the open first axis of input '{}'", graph_[input].name), batch());
      } else if (cache != nullptr && axis == static_cast<size_t>(batch_axis(*cache))) {
        shape[axis] = batch();
      } else if (const auto length = length_beside_tokens(input, axis, shape.size())) {
        shape[axis] = *length;
        guess(fmt::format("the open last axis of input '{}'", graph_[input].name), *length);
      } else {
        const std::string label = fmt::format("{}_dim_{}", graph_[input].name, axis);
        const bool floats = is_float(dtype_of_input(input));
        shape[axis] = new_variable(label, usual_size(label, axis, shape.size(), floats));
      }
    }
  }

  const Cache* cache_of(ValueId input) const {
    for (const Cache& cache : graph_.caches) {
      if (cache.input == input) return &cache;
    }
    return nullptr;
  }

  void set_declared_types() {
    std::vector<std::optional<TensorType>> distinct(types_.distinct.size());
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const uint32_t index = types_.of_value[i];
      if (index == GraphTypes::kNone || graph_.values[i].initializer) continue;
      if (!distinct[index]) distinct[index] = type_of(types_.distinct[index]);
      graph_.values[i].declared = distinct[index];
      const bool body_input = !graph_.values[i].producer && graph_.values[i].region.index != 0;
      if (body_input) graph_.values[i].type = *distinct[index];
    }
  }

  void set_cache_shapes() {
    for (Cache& cache : graph_.caches) {
      const ValueId value = cache.input ? cache.input : cache.output;
      const auto* dims = types_.dims(value);
      if (dims == nullptr) continue;
      cache.format = element_format(dtype_of_input(value));
      if (options_.kv_format && cache.kind != CacheKind::kState) cache.format = *options_.kv_format;
      std::vector<Expr> shape;
      for (size_t axis = 0; axis < dims->size(); ++axis) {
        const DimensionView& view = (*dims)[axis];
        Dim dim = dim_of(view);
        if (!dim && cache.input) dim = (*graph_[cache.input].type.shape)[axis];
        const bool grows = cache.kind == CacheKind::kKeyValue && !view.value &&
                           cache.sequence_axis == static_cast<int32_t>(axis);
        if (grows) dim = Expr::variable(kMaxLength);
        if (!dim && axis == 0 && !cache.input) dim = batch();
        if (!dim && cache.kind == CacheKind::kCrossKeyValue &&
            cache.sequence_axis == static_cast<int32_t>(axis)) {
          dim = encoder_length(view.symbol);
        }
        if (!dim) break;
        shape.push_back(*dim);
      }
      if (shape.size() == dims->size()) cache.allocated = std::move(shape);
    }
  }

  // A merged decoder takes a bool that says whether there is a past; it chooses a branch of an If.
  void set_cache_branch() {
    if (!has_key_value_input()) return;
    for (const ValueId input : graph_.inputs) {
      if (dtype_of_input(input) != DType::kBool) continue;
      const std::span<const Consumer> uses = consumers_.of(input);
      const bool chooses = std::any_of(uses.begin(), uses.end(), [&](const Consumer& consumer) {
        return graph_[consumer.node].op_type == "If" && consumer.input == 0;
      });
      const bool named = graph_[input].name.find("use_cache") != std::string::npos;
      if (!chooses && !named) continue;
      graph_[input].elements = std::make_shared<const std::vector<Expr>>(1, Expr(decode() ? 1 : 0));
      guess(fmt::format("input '{}'", graph_[input].name), Expr(decode() ? 1 : 0));
    }
  }

  void guess(std::string_view what, const Expr& formula) {
    model_.diagnostics.add(Severity::kNote, "guessed-binding", what,
                           fmt::format("{} is taken as {}", what, formula.to_string()));
  }

  void report() {
    for (const auto& [symbol, binding] : bound_) {
      model_.bindings[std::string(symbol)] = binding.formula;
      const bool is_itself = binding.formula.to_string() == symbol;
      if (binding.guessed && !is_itself)
        guess(fmt::format("dimension '{}'", symbol), binding.formula);
    }
    if (!decode() && has_key_value_input()) note_fixed_sequence();
  }

  // A decoder exported for one token a step has no prefill of its own.
  void note_fixed_sequence() {
    for (const ValueId input : graph_.inputs) {
      const auto* dims = types_.dims(input);
      if (dims == nullptr || dims->size() != 2 || dims->back().value != 1 || !is_token_input(input))
        continue;
      model_.diagnostics.add(Severity::kWarning, "fixed-sequence",
                             fmt::format("input '{}'", graph_[input].name),
                             "it takes one token a step, so that its prefill is that of one token");
    }
  }

  Model& model_;
  Graph& graph_;
  const GraphTypes& types_;
  const ImportOptions& options_;
  Consumers consumers_;
  std::map<std::string_view, std::vector<Place>> places_;
  std::vector<std::string_view> order_;  // of the symbols, as first met
  std::map<std::string_view, Binding> bound_;
  std::set<std::string> taken_;
  std::set<std::string, std::less<>> applied_;  // names of --dim that were found
  bool has_tokens_ = false;
  std::optional<Expr> encoder_length_;
  std::optional<Expr> heads_variable_;
};

}  // namespace

void bind_dimensions(Model& model, const GraphTypes& types, const ImportOptions& options) {
  DimensionBinder(model, types, options).run();
}

}  // namespace kcharter
