#include "unit/support/tree_text.h"

namespace kcharter {
namespace {

void add_line(const Module& module, size_t depth, std::string& text) {
  size_t nodes = 0;
  for (const ModuleItem& item : module.items) nodes += static_cast<bool>(item.node);
  text.append(depth * 2, ' ');
  text += module.name;
  if (module.is_stage) {
    text += " × " + std::to_string(module.repeat) + "  " + module.path;
  }
  if (!module.kind.empty()) text += "  (" + module.kind + ")";
  if (nodes > 0) text += "  nodes " + std::to_string(nodes);
  if (!module.initializers.empty())
    text += "  tensors " + std::to_string(module.initializers.size());
  if (!module.caches.empty()) text += "  caches " + std::to_string(module.caches.size());
  text += '\n';
  for (const std::string& difference : module.differences) {
    text.append(depth * 2, ' ');
    text += "  ! " + difference + "\n";
  }
}

}  // namespace

std::string tree_text(const ModuleTree& tree) {
  std::string text;
  std::vector<std::pair<ModuleId, size_t>> waiting = {{ModuleId(0), 0}};
  while (!waiting.empty()) {
    auto [id, depth] = waiting.back();
    waiting.pop_back();
    const Module& module = tree[id];
    add_line(module, depth, text);
    for (size_t i = module.items.size(); i-- > 0;) {
      if (module.items[i].module) waiting.emplace_back(module.items[i].module, depth + 1);
    }
  }
  return text;
}

}  // namespace kcharter
