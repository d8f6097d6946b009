// Events of a profile → nodes and modules of a document.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kcharter/overlay/overlay.h"
#include "overlay/document_index.h"
#include "overlay/profile.h"

namespace kcharter {

// Where one event belongs. kModule has no node.
struct Joined {
  JoinedBy by = JoinedBy::kNothing;
  uint32_t node = DocumentIndex::kNone;
  uint32_t module = DocumentIndex::kNone;
};

class Joiner {
 public:
  Joiner(const DocumentIndex& document, const Profile& profile);

  // One for each event of the step.
  std::vector<Joined> join(const std::vector<ProfileEvent>& step) const;

 private:
  Joined by_name(const ProfileEvent& event) const;
  // "_inlfunc_LayerNorm_token_3_Mul_25": the next of the nodes that end in "/Mul_25" to run.
  Joined by_function(const ProfileEvent& event, std::unordered_map<std::string, size_t>& seen) const;
  Joined by_module(const ProfileEvent& event) const;
  std::optional<uint32_t> module_called(const std::string& name) const;
  void number_nameless(const Profile& profile, const std::vector<uint32_t>& running);
  uint32_t main_part(const ProfileEvent& event, uint32_t node, const std::vector<bool>& has_event) const;
  uint32_t beside(uint32_t node, const std::vector<bool>& has_event) const;
  Joined at_node(JoinedBy by, uint32_t node) const;

  const DocumentIndex& document_;
  // "Cast_3", where nodes without a name are called after operator and place in the file.
  std::unordered_map<std::string, uint32_t> nameless_;
  // Nodes as they run, by the last part of their names.
  std::unordered_map<std::string, std::vector<uint32_t>> nodes_ending_in_;
  mutable std::unordered_map<std::string, std::vector<uint32_t>> modules_of_class_;
};

}  // namespace kcharter
