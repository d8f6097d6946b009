#include "structure/content.h"

#include <algorithm>

#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool reads_parameter(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return input && graph[input].initializer &&
           graph[graph[input].initializer].role == TensorRole::kParameter;
  });
}

// The mean of squares: what is left of a norm that was exported part by part.
bool is_mean_of_squares(const Graph& graph, const Node& node) {
  if (node.op_type != "ReduceMean" || node.inputs.empty() || !node.inputs[0]) return false;
  NodeId made = graph[node.inputs[0]].producer;
  return made && (graph[made].op_type == "Pow" || graph[made].op_type == "Mul");
}

bool is_activation(std::string_view op) {
  for (std::string_view name :
       {"Relu", "Gelu", "FastGelu", "QuickGelu", "BiasGelu", "Sigmoid", "Silu", "Swish", "Tanh",
        "Erf", "HardSwish", "LeakyRelu", "Elu", "Mish"}) {
    if (op == name) return true;
  }
  return false;
}

}  // namespace

Contents::Word Contents::word_of(const Graph& graph, const Node& node) {
  std::string_view op = node.op_type;
  const OperatorInfo* info = find_operator(node.domain, op);
  if ((info && info->is_attention) || has(op, "Attention")) return kAttention;
  if (info && info->is_recurrent) return kRecurrence;
  if (op == "MoE" || op == "QMoE" || op == "TopK") return kExperts;
  if (op == "EmbedLayerNormalization") return kEmbedding;
  if (has(op, "Normalization") || has(op, "LayerNorm") || has(op, "GroupNorm")) return kNorm;
  if (is_mean_of_squares(graph, node)) return kNorm;
  if (has(op, "Conv")) return kConvolution;
  if (has(op, "Pool")) return kPooling;
  if (has(op, "MatMul") || op == "Gemm" || op == "Einsum") return kLinear;
  if (has(op, "Gather") || has(op, "Embed")) {
    return reads_parameter(graph, node) ? kEmbedding : kNone;
  }
  if (op == "Softmax") return kSoftmax;
  return is_activation(op) ? kActivation : kNone;
}

std::string_view Contents::text(Word word) {
  switch (word) {
    case kNone:
      return "";
    case kActivation:
      return "activation";
    case kEmbedding:
      return "embedding";
    case kNorm:
      return "norm";
    case kLinear:
      return "linear";
    case kMlp:
      return "mlp";
    case kConvolution:
      return "convolution";
    case kPooling:
      return "pooling";
    case kRecurrence:
      return "recurrence";
    case kExperts:
      return "experts";
    case kSoftmax:
    case kAttention:
      return "attention";
  }
  return "";
}

Contents::Contents(const Graph& graph, const Outline& outline)
    : graph_(graph), outline_(outline), module_words_(outline.modules.size()) {
  constexpr size_t kFew = 2;
  for (size_t m = outline.modules.size(); m-- > 0;) {
    const std::vector<ModuleItem>& items = outline.modules[m].items;
    std::vector<Word> words = merged(words_of(items));
    bool is_chain = items.size() == 1 && items[0].module;
    if (words.size() > kFew && !is_chain) words = {*std::max_element(words.begin(), words.end())};
    module_words_[m] = std::move(words);
  }
}

std::vector<Contents::Word> Contents::words_of(const std::vector<ModuleItem>& items) const {
  std::vector<Word> words;
  for (const ModuleItem& item : items) {
    if (item.module) {
      const std::vector<Word>& inner = module_words_[item.module.index];
      words.insert(words.end(), inner.begin(), inner.end());
    } else if (Word word = word_of(graph_, graph_[item.node]); word != kNone) {
      words.push_back(word);
    }
  }
  return words;
}

namespace {

// [begin, end) of `words` becomes one word.
template <typename Word>
void replace(std::vector<Word>& words, size_t begin, size_t end, Word word) {
  words[begin] = word;
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
              words.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace

// A softmax ranks experts, or weighs what the product behind it adds up; else it is but an output.
void Contents::place_softmax(std::vector<Word>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != kSoftmax) continue;
    auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
    auto end = words.begin() + static_cast<std::ptrdiff_t>(std::min(i + 3, words.size()));
    bool ranks = std::find(begin, end, kExperts) != end;
    bool weighs = std::find(begin, end, kLinear) != end;
    words[i] = ranks ? kExperts : weighs ? kAttention : kNone;
  }
  std::erase(words, kNone);
}

// The projections around an attention are a part of it, and so are norms between them (of queries
// and keys). Linear layers with an activation between them are an mlp. Neighbours of one kind are
// one.
std::vector<Contents::Word> Contents::merged(std::vector<Word> words) {
  place_softmax(words);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != kAttention) continue;
    size_t begin = i, end = i + 1;
    while (begin > 0 && (words[begin - 1] == kLinear || words[begin - 1] == kAttention ||
                         (words[begin - 1] == kNorm && begin > 1 && words[begin - 2] == kLinear))) {
      --begin;
    }
    while (end < words.size() && (words[end] == kLinear || words[end] == kAttention)) ++end;
    // Without a norm between them, the first layer of an mlp follows the projection at once.
    if (end < words.size() && words[end] == kActivation && words[end - 1] == kLinear) --end;
    replace(words, begin, end, kAttention);
    i = begin;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    size_t end = i;
    int linears = 0;
    bool activation = false, mlp = false;
    for (; end < words.size(); ++end) {
      if (words[end] != kLinear && words[end] != kActivation && words[end] != kMlp) break;
      linears += words[end] == kLinear;
      activation = activation || words[end] == kActivation;
      mlp = mlp || words[end] == kMlp;
    }
    if (end > i && (mlp || (activation && linears > 1))) replace(words, i, end, kMlp);
  }
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// Activations are named only where there is nothing else.
std::string Contents::text(std::vector<Word> words) {
  constexpr size_t kMostWords = 6;
  bool only =
      std::all_of(words.begin(), words.end(), [](Word word) { return word == kActivation; });
  if (!only) std::erase(words, kActivation);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string result;
  for (size_t i = 0; i < words.size() && i < kMostWords; ++i) {
    if (i > 0) result += " + ";
    result += text(words[i]);
  }
  if (words.size() > kMostWords) result += " + …";
  return result;
}

std::string Contents::of_items(const std::vector<ModuleItem>& items) const {
  return text(merged(words_of(items)));
}

std::string Contents::of_module(uint32_t module) const {
  const OutlineModule& own = outline_.modules[module];
  // A list of numbered modules is what its stages are.
  bool is_list = std::all_of(own.items.begin(), own.items.end(), [&](const ModuleItem& item) {
    return item.module && is_index(outline_.modules[item.module.index].name);
  });
  if (is_list) return "";
  const OutlineModule* inner = &own;
  while (inner->items.size() == 1 && inner->items[0].module) {
    inner = &outline_.modules[inner->items[0].module.index];
  }
  return of_items(inner->items);
}

}  // namespace kcharter
