// Differences: what differs between the instances of a stage though they are folded, in sentences.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "structure/fold_level.h"

namespace kcharter {

class Differences {
 public:
  Differences(const Level& level, const FoldedStage& folded,
              const std::vector<std::string>& instances)
      : level_(level), folded_(folded), instances_(instances) {}

  // Constant nodes of the first instance whose payload differs in one other instance.
  void add_varying(const std::vector<NodeId>& nodes);
  std::vector<std::string> sentences() const;

 private:
  void first_sentences(std::vector<std::string>& sentences) const;
  std::string lacking_sentence(const FirstInstance& first) const;
  void slot_sentences(std::vector<std::string>& sentences) const;
  void output_sentences(std::vector<std::string>& sentences) const;
  std::string node_name(NodeId node) const;

  const Level& level_;
  const FoldedStage& folded_;
  const std::vector<std::string>& instances_;
  std::map<NodeId, uint32_t> varying_;  // → instances that differ
};

}  // namespace kcharter
