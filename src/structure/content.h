// content: what a part of a model contains, in words: "norm + attention + mlp".
#pragma once

#include <string>
#include <vector>

#include "structure/outline.h"

namespace kcharter {

// The kind of a module whose exporter gave it no class: one word where it does one thing, the words
// of its parts in order otherwise. Empty where nothing in it is worth a word.
class Contents {
 public:
  Contents(const Graph& graph, const Outline& outline);
  std::string of_module(uint32_t module) const;
  std::string of_items(const std::vector<ModuleItem>& items) const;

 private:
  enum Word : uint8_t {
    kNone,
    kActivation,
    kPooling,
    kEmbedding,
    kNorm,
    kLinear,
    kMlp,
    kConvolution,
    kRecurrence,
    kSoftmax,
    kExperts,
    kAttention
  };
  static Word word_of(const Graph& graph, const Node& node);
  static std::string_view text(Word word);
  static std::string text(std::vector<Word> words);
  std::vector<Word> words_of(const std::vector<ModuleItem>& items) const;
  static std::vector<Word> merged(std::vector<Word> words);
  static void place_softmax(std::vector<Word>& words);

  const Graph& graph_;
  const Outline& outline_;
  // What a module contributes to the one around it: its words where they are few, else the most
  // telling of them.
  std::vector<std::vector<Word>> module_words_;
};

}  // namespace kcharter
