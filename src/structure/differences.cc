#include "structure/differences.h"

namespace kcharter {
namespace {

constexpr size_t kMostNamed = 8;

std::string value_name(const Graph& graph, ValueId value) { return "'" + graph[value].name + "'"; }

}  // namespace

void Differences::add_varying(const std::vector<NodeId>& nodes) {
  for (NodeId node : nodes) ++varying_[node];
}

std::string Differences::node_name(NodeId id) const {
  const Node& node = level_.graph()[id];
  if (!node.name.empty()) return "'" + node.name + "' (" + node.op_type + ")";
  return std::to_string(id.index) + " (" + node.op_type + ")";
}

std::vector<std::string> Differences::sentences() const {
  std::vector<std::string> sentences;
  first_sentences(sentences);
  slot_sentences(sentences);
  output_sentences(sentences);
  size_t named = 0;
  for (auto [node, count] : varying_) {
    if (named++ == kMostNamed) {
      sentences.push_back("varying constant payload: " +
                          std::to_string(varying_.size() - kMostNamed) + " nodes more");
      break;
    }
    sentences.push_back("varying constant payload: node " + node_name(node) + " differs in " +
                        std::to_string(count) + " of the other instances");
  }
  return sentences;
}

void Differences::first_sentences(std::vector<std::string>& sentences) const {
  if (!folded_.first) return;
  const Graph& graph = level_.graph();
  if (!folded_.first->lacks.empty()) {
    sentences.push_back(lacking_sentence(*folded_.first));
  } else if (folded_.first->variants.empty()) {
    sentences.push_back("instance " + instances_[0] +
                        " reads one value where the others read several, carried ones among them");
  }
  for (auto [first, second] : folded_.first->variants) {
    sentences.push_back("instance " + instances_[0] + " lacks the carried input: it runs " +
                        graph[first].op_type + " where the others run " + graph[second].op_type);
  }
}

std::string Differences::lacking_sentence(const FirstInstance& first) const {
  const Graph& graph = level_.graph();
  std::string sentence = "instance " + instances_[0];
  if (first.lacks_carried) {
    sentence += " lacks the carried input: it does not run ";
  } else {
    sentence += " lacks " + std::to_string(first.lacks.size()) + " nodes that the others run: ";
  }
  size_t named = 0;
  for (NodeId node : first.lacks) {
    if (named == kMostNamed) {
      sentence += ", …";
      break;
    }
    if (named++ > 0) sentence += ", ";
    sentence += graph[node].op_type;
  }
  for (size_t i = 0; i < first.read_instead.size() && i < kMostNamed; ++i) {
    sentence += (i == 0 ? "; it reads " : ", ") + value_name(graph, first.read_instead[i]);
  }
  if (!first.read_instead.empty()) sentence += " instead";
  return sentence;
}

void Differences::slot_sentences(std::vector<std::string>& sentences) const {
  const Graph& graph = level_.graph();
  for (const Slot& slot : folded_.stage.slots) {
    if (slot.kind == SlotKind::kOutputs) {
      sentences.push_back("each instance reads an output of its own of node " +
                          node_name(graph[slot.first].producer));
    } else if (slot.kind == SlotKind::kLikeNodes) {
      sentences.push_back(
          "each instance reads the output of a node of its own outside, the first of " +
          node_name(graph[slot.first].producer));
    }
  }
}

// A value that only some of the instances hand to the outside.
void Differences::output_sentences(std::vector<std::string>& sentences) const {
  const Stage& stage = folded_.stage;
  size_t skipped = folded_.first ? 1 : 0;
  for (uint32_t t = 0; t < stage.period; ++t) {
    size_t places = level_[stage.begin + t].outputs.size();
    for (size_t place = 0; place < places; ++place) {
      std::vector<uint32_t> read_on;
      for (uint32_t i = 0; i + 1 < stage.repeat; ++i) {
        uint32_t begin = stage.begin + i * stage.period;
        ValueId value = level_[begin + t].outputs[place];
        uint32_t last = level_.last_use(value);
        if (last == UINT32_MAX || last >= begin + 2 * stage.period) read_on.push_back(i);
      }
      if (read_on.empty() || read_on.size() + 1 == stage.repeat) continue;
      ValueId example = level_[stage.begin + read_on[0] * stage.period + t].outputs[place];
      sentences.push_back("only some instances hand on " + value_name(level_.graph(), example) +
                          ", the first of them " + instances_[read_on[0] + skipped]);
    }
  }
}

}  // namespace kcharter
