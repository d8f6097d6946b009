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
  if (op == "MoE" || op == "QMoE") return kExperts;
  if (has(op, "Normalization") || has(op, "LayerNorm") || has(op, "GroupNorm")) return kNorm;
  if (has(op, "Conv")) return kConvolution;
  if (has(op, "Pool")) return kPooling;
  if (has(op, "MatMul") || op == "Gemm" || op == "Einsum") return kLinear;
  if (has(op, "Gather") || has(op, "Embed")) {
    return reads_parameter(graph, node) ? kEmbedding : kNone;
  }
  if (op == "Softmax") return kAttention;
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
    case kAttention:
      return "attention";
  }
  return "";
}

Contents::Contents(const Graph& graph, const Outline& outline)
    : graph_(graph), outline_(outline), module_words_(outline.modules.size(), kNone) {
  for (size_t m = outline.modules.size(); m-- > 0;) {
    int linears = 0;
    Word most = kNone;
    bool activation = false;
    for (const ModuleItem& item : outline.modules[m].items) {
      Word word = item_word(item);
      linears += word == kLinear;
      activation = activation || word == kActivation;
      most = std::max(most, word);
    }
    module_words_[m] = most == kLinear && linears > 1 && activation ? kMlp : most;
  }
}

Contents::Word Contents::item_word(const ModuleItem& item) const {
  return item.module ? module_words_[item.module.index] : word_of(graph_, graph_[item.node]);
}

// One word for neighbours of one kind; linear layers around an attention are a part of it, those
// with an activation between them are an mlp.
std::vector<Contents::Word> Contents::merged(std::vector<Word> words) {
  std::vector<Word> result;
  for (size_t i = 0; i < words.size();) {
    size_t end = i;
    bool attention = false, activation = false;
    int linears = 0;
    auto is_part = [](Word word) {
      return word == kLinear || word == kActivation || word == kAttention || word == kMlp;
    };
    while (end < words.size() && is_part(words[end])) {
      // What follows the projection behind an attention is the next part.
      if (attention && activation) break;
      attention = attention || words[end] == kAttention;
      activation = activation || words[end] == kActivation;
      linears += words[end] == kLinear;
      ++end;
    }
    Word word = words[i];
    if (end > i) {
      word = attention ? kAttention : activation && linears > 1 ? kMlp : words[i];
      if (!attention && std::find(words.begin() + static_cast<std::ptrdiff_t>(i),
                                  words.begin() + static_cast<std::ptrdiff_t>(end),
                                  kMlp) != words.begin() + static_cast<std::ptrdiff_t>(end)) {
        word = kMlp;
      }
      i = end;
    } else {
      ++i;
    }
    if (result.empty() || result.back() != word) result.push_back(word);
  }
  return result;
}

std::string Contents::of_items(const std::vector<ModuleItem>& items) const {
  constexpr size_t kMostWords = 6;
  std::vector<Word> words;
  for (const ModuleItem& item : items) {
    Word word = item_word(item);
    if (word != kNone) words.push_back(word);
  }
  words = merged(std::move(words));
  std::string result;
  for (size_t i = 0; i < words.size() && i < kMostWords; ++i) {
    if (i > 0) result += " + ";
    result += text(words[i]);
  }
  if (words.size() > kMostWords) result += " + …";
  return result;
}

std::string Contents::of_module(uint32_t module) const {
  const OutlineModule& own = outline_.modules[module];
  // A list of numbered modules is what its stages are.
  bool is_list = std::all_of(own.items.begin(), own.items.end(), [&](const ModuleItem& item) {
    return item.module && is_index(outline_.modules[item.module.index].name);
  });
  if (is_list) return "";
  if (own.items.size() == 1) return std::string(text(module_words_[module]));
  return of_items(own.items);
}

}  // namespace kcharter
