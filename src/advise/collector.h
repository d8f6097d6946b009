// Collector: where patterns put the sites they find. Sites at instances of one template, of one
// pattern and detail, are one finding.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "advise/wiring.h"
#include "kcharter/advise/finding.h"

namespace kcharter {

class Collector {
 public:
  explicit Collector(const Wiring& wiring) : wiring_(wiring) {}

  // `nodes` are what the finding points at, whatever the site edits; a site stands for `places`.
  void add(const PatternText& pattern, FindingSite site, std::vector<NodeId> nodes,
           std::string detail = "", bool counted = true, int64_t places = 1);

  std::vector<Finding> findings;
  std::vector<FindingSite> sites;

 private:
  struct Key {
    const PatternText* pattern;
    std::vector<NodeId> templates;
    std::string detail;
    bool counted;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  const Wiring& wiring_;
  std::map<Key, uint32_t> known_;
};

// `nodes`, in execution order, as one kernel: what they hand to each other stays in registers, what
// several of them read is read once, and all but the last launch nothing. Scalar constants are part
// of the kernel.
FindingSite fuse(const Wiring& wiring, std::vector<NodeId> nodes);
// `node` does not run at all; its readers take another value in its place.
Edit removal(NodeId node);
// The site where `nodes` do not run.
FindingSite remove(const Wiring& wiring, const std::vector<NodeId>& nodes);

}  // namespace kcharter
