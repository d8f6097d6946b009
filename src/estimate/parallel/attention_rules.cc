// Attention and recurrences by heads. What all heads share (a latent, an indexer) is whole on each
// device; heads of keys and values are held by several devices where there are fewer of them.
#include <optional>

#include "estimate/parallel/layout_rules.h"
#include "kcharter/model/domains.h"

namespace kcharter {
namespace {

ValueId input(const Node& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : ValueId();
}

// Where the operands of one kind of attention stand, and into how many heads they divide.
struct Heads {
  int64_t query = 0;
  int64_t key_value = 0;
  bool packed = false;             // input 0 is queries, keys and values
  std::vector<size_t> key_values;  // inputs with heads of keys or values
  std::vector<size_t> caches_in;   // inputs that are caches
  std::vector<size_t> caches_out;  // outputs
  int cache_axis = 1;
};

std::optional<Heads> heads_of(const LayoutPass& pass, const Node& node) {
  Heads heads;
  heads.query = int_attribute(node, "num_heads", int_attribute(node, "q_num_heads", 0));
  heads.key_value = int_attribute(node, "kv_num_heads", heads.query);
  const std::string& op = node.op_type;
  if (node.domain == kMicrosoft) {
    if (op == "GroupQueryAttention" || op == "SparseAttention") {
      heads.key_values = {1, 2}, heads.caches_in = {3, 4};
    } else if (op == "MultiHeadAttention") {
      heads.key_values = {1, 2}, heads.caches_in = {6, 7};
    } else if (op == "DecoderMaskedMultiHeadAttention") {
      heads.key_values = {1, 2}, heads.caches_in = {5, 6};
    } else {
      return std::nullopt;
    }
    heads.caches_out = {1, 2};
    heads.packed = !input(node, 1);
  } else if (op == "SharedAttention") {
    heads.caches_in = {1, 2};
  } else if (op == "Attention" || op == "CrossAttention") {
    heads.key_values = {1, 2};
    heads.caches_in = node.domain.empty()      ? std::vector<size_t>{4, 5}
                      : op == "CrossAttention" ? std::vector<size_t>{3, 4}
                                               : std::vector<size_t>{4, 5};
    heads.caches_out = {1, 2};
    if (heads.query == 0 && pass.rank(input(node, 0)) == 4) {
      heads.query = pass.size(input(node, 0), 1);
      heads.key_value = pass.size(input(node, 1), 1);
    }
  } else {
    return std::nullopt;
  }
  const auto is_sound = [](int64_t count) { return count >= 1 && count <= INT32_MAX; };
  if (!is_sound(heads.query) || !is_sound(heads.key_value)) return std::nullopt;
  return heads;
}

// [B, S, heads·size] or [B, heads, S, size]; nothing where the heads do not show.
std::optional<Layout> by_heads(const LayoutPass& pass, ValueId value, int64_t heads, SplitUnit unit,
                               int32_t head_axis = 1) {
  if (!value) return std::nullopt;
  const int rank = pass.rank(value);
  if (rank >= 4 && pass.size(value, head_axis) == heads) {
    return split(head_axis, {{heads, heads}}, unit);
  }
  const int64_t width = pass.size(value, -1);
  if (rank != 3 || width < heads || width % heads != 0) return std::nullopt;
  return split(2, {{width, heads}}, unit);
}

std::optional<Layout> query_layout(const LayoutPass& pass, const Node& node, const Heads& heads) {
  if (!heads.packed) return by_heads(pass, input(node, 0), heads.query, SplitUnit::kHead);
  const int64_t all = heads.query + 2 * heads.key_value;
  const int64_t width = pass.size(input(node, 0), -1);
  if (pass.rank(input(node, 0)) != 3 || width < all || width % all != 0) return std::nullopt;
  const int64_t size = width / all;
  const Segment kept{heads.key_value * size, heads.key_value};
  return split(2, {{heads.query * size, heads.query}, kept, kept}, SplitUnit::kKeyValueHead);
}

void want_attention(LayoutPass& pass, const Node& node) {
  const auto heads = heads_of(pass, node);
  const auto query = heads ? query_layout(pass, node, *heads) : std::nullopt;
  if (!query || !is_split(pass.wanted(node.outputs[0]))) return pass.want_whole(node);
  std::vector<size_t> cut = {0};
  cut.insert(cut.end(), heads->key_values.begin(), heads->key_values.end());
  cut.insert(cut.end(), heads->caches_in.begin(), heads->caches_in.end());
  pass.want_whole_but(node, cut);
  pass.want(input(node, 0), *query);
  const auto want = [&](size_t index) {
    const auto layout = by_heads(pass, input(node, index), heads->key_value,
                                 SplitUnit::kKeyValueHead, heads->cache_axis);
    pass.want(input(node, index), layout.value_or(Layout{}));
  };
  for (const size_t index : heads->key_values) want(index);
  for (const size_t index : heads->caches_in) want(index);
}

void set_attention(LayoutPass& pass, const Node& node) {
  const auto heads = heads_of(pass, node);
  const auto out =
      heads ? by_heads(pass, node.outputs[0], heads->query, SplitUnit::kHead) : std::nullopt;
  if (!out || !is_split(pass.of(input(node, 0)))) return pass.gather_all(node);
  for (const ValueId value : node.inputs) {
    if (!value) continue;
    if (pass.is_constant(value)) {
      const int64_t width = pass.size(value, pass.rank(value) == 1 ? 0 : -1);
      pass.set_weight(value, width == heads->query
                                 ? split(0, {{width, heads->query}}, SplitUnit::kHead)
                                 : Layout{});
    } else if (pass.of(value).kind == LayoutKind::kPartial) {
      pass.gather(value);
    }
  }
  pass.set(node.outputs[0], *out);
  pass.set_work(node, *out);
  for (const size_t index : heads->caches_out) {
    if (index >= node.outputs.size() || !node.outputs[index]) continue;
    const auto kept = by_heads(pass, node.outputs[index], heads->key_value,
                               SplitUnit::kKeyValueHead, heads->cache_axis);
    const ValueId key = heads->packed ? input(node, 0) : input(node, index);
    const bool is_cut = kept && (!key || is_split(pass.of(key)));
    pass.set(node.outputs[index], is_cut ? *kept : Layout{});
  }
}

// q by heads, the expanded keys and values too; the latent and its cache are the same for all
// heads.
void want_latent(LayoutPass& pass, const Node& node) {
  const int64_t heads = int_attribute(node, "num_heads", 0);
  pass.want_whole_but(node, {0, 3});
  if (!is_split(pass.wanted(node.outputs[0])) || heads < 1) return pass.want_whole(node);
  for (const size_t index : {size_t{0}, size_t{3}}) {
    const auto layout = by_heads(pass, input(node, index), heads, SplitUnit::kHead);
    pass.want(input(node, index), layout.value_or(Layout{}));
  }
}

void set_latent(LayoutPass& pass, const Node& node) {
  const int64_t heads = int_attribute(node, "num_heads", 0);
  const auto out =
      heads > 0 ? by_heads(pass, node.outputs[0], heads, SplitUnit::kHead) : std::nullopt;
  if (!out || !is_split(pass.of(input(node, 0)))) return pass.gather_all(node);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (!value) continue;
    if (pass.is_constant(value))
      pass.set_weight(value, split(0, {{heads, heads}}, SplitUnit::kHead));
    else if (i != 0 && i != 3)
      pass.gather(value);
  }
  pass.set(node.outputs[0], *out);
  pass.set_work(node, *out);
}

// A recurrence by the heads (or channels) that its state begins with. Inputs narrower than one
// number for each of them are shared.
int64_t state_heads(const Node& node) {
  const auto* state = ints_attribute(node, "state");
  return state && !state->empty() ? (*state)[0] : 0;
}

std::optional<Layout> recurrent_layout(const LayoutPass& pass, ValueId value, int64_t heads) {
  if (!value || pass.rank(value) != 3) return std::nullopt;
  const int64_t width = pass.size(value, -1);
  if (heads < 2 || width < 2) return std::nullopt;
  if (width % heads == 0) return split(2, {{width, heads}}, SplitUnit::kHead);
  return std::nullopt;
}

void want_recurrence(LayoutPass& pass, const Node& node) {
  const int64_t heads = state_heads(node);
  if (!is_split(pass.wanted(node.outputs[0])) || heads < 2) return pass.want_whole(node);
  for (const ValueId value : node.inputs) {
    if (!value) continue;
    if (pass.graph[value].role == ValueRole::kCache) {
      pass.want(value, split(1, {{heads, heads}}, SplitUnit::kHead));
      continue;
    }
    pass.want(value, recurrent_layout(pass, value, heads).value_or(Layout{}));
  }
}

void set_recurrence(LayoutPass& pass, const Node& node) {
  const int64_t heads = state_heads(node);
  const auto out = recurrent_layout(pass, node.outputs[0], heads);
  bool any = false;
  for (const ValueId value : node.inputs) any = any || (value && is_split(pass.of(value)));
  if (!out || !any) return pass.gather_all(node);
  for (const ValueId value : node.inputs) {
    if (!value) continue;
    if (pass.of(value).kind == LayoutKind::kPartial) pass.gather(value);
    if (!pass.is_constant(value)) continue;
    const bool is_cut = pass.size(value, 0) == heads;
    pass.set_weight(value, is_cut ? split(0, {{heads, heads}}, SplitUnit::kHead) : Layout{});
  }
  pass.set(node.outputs[0], *out);
  pass.set_work(node, *out);
  if (node.outputs.size() > 1) {
    pass.set(node.outputs[1], split(1, {{heads, heads}}, SplitUnit::kHead));
  }
}

// Each channel by itself: x [B, S, C], weight [C, 1, k], state [B, C, k-1].
void want_channels(LayoutPass& pass, const Node& node) {
  const Layout& out = pass.wanted(node.outputs[0]);
  pass.want_whole_but(node, {0});
  pass.want(input(node, 0), is_split_last(pass, node.outputs[0], out) ? out : Layout{});
  const ValueId past = node.inputs.back();
  if (past && is_split(out) && pass.graph[past].role == ValueRole::kCache) {
    pass.want(past, with_axis(out, 1));
  }
}

void set_channels(LayoutPass& pass, const Node& node) {
  const Layout in = pass.of(input(node, 0));
  const bool is_cut = is_split_last(pass, input(node, 0), in);
  if (!is_cut) pass.gather_all(node);
  const Layout out = is_cut ? in : Layout{};
  for (const ValueId value : node.inputs) {
    if (value && pass.is_constant(value))
      pass.set_weight(value, is_cut ? with_axis(out, 0) : Layout{});
  }
  pass.set(node.outputs[0], out);
  pass.set_work(node, out);
  if (node.outputs.size() > 1) pass.set(node.outputs[1], is_cut ? with_axis(out, 1) : Layout{});
}

constexpr LayoutRule kAttention{want_attention, set_attention};
constexpr LayoutRule kLatent{want_latent, set_latent};
constexpr LayoutRule kRecurrence{want_recurrence, set_recurrence};
constexpr LayoutRule kChannels{want_channels, set_channels};

}  // namespace

const LayoutRule* find_attention_rule(const Node& node) {
  const std::string& op = node.op_type;
  if (op == "Attention" || op == "CrossAttention" || op == "SharedAttention" ||
      op == "GroupQueryAttention" || op == "SparseAttention" || op == "MultiHeadAttention" ||
      op == "DecoderMaskedMultiHeadAttention") {
    return &kAttention;
  }
  if (node.domain != kOurs) return nullptr;
  if (op == "LatentAttention") return &kLatent;
  if (op == "CausalConvolution") return &kChannels;
  if (op == "GatedDeltaRule" || op == "KimiDeltaRule" || op == "LightningAttention" ||
      op == "SelectiveScan" || op == "TimeMix") {
    return &kRecurrence;
  }
  return nullptr;
}

}  // namespace kcharter
