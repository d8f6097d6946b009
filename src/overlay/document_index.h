// A document by the names that a runtime uses: those of every instance of every node and value, the
// paths of every instance of every module, and its nodes in the order in which they run.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

using Json = nlohmann::json;

struct IndexedNode {
  std::string name, op_type;
  uint32_t module = 0;
  std::vector<uint32_t> inputs;     // values; kNone: an absent one
  std::vector<uint32_t> outputs;    // values; kNone: an output nobody wants
  std::vector<uint32_t> producers;  // nodes whose outputs it reads
  std::vector<uint32_t> consumers;  // nodes that read an output
  bool runs = true;
};

class DocumentIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Names of all instances together, and nodes in running order.
  static constexpr size_t kMostNames = 4'000'000;

  // Throws Error: no document of this version.
  explicit DocumentIndex(std::string_view text);

  const Json& json() const { return json_; }
  const std::vector<IndexedNode>& nodes() const { return nodes_; }
  size_t module_count() const { return parents_.size(); }
  uint32_t parent(uint32_t module) const { return parents_[module]; }  // kNone: the root

  const std::string& path(uint32_t module) const { return paths_[module]; }
  const std::string& kind(uint32_t module) const { return kinds_[module]; }

  std::optional<uint32_t> node_called(std::string_view name) const;
  std::optional<uint32_t> maker_of(std::string_view value) const;
  // "model.layers.7.mlp": the module of the instance that stands for it.
  std::optional<uint32_t> module_at(std::string_view path) const;
  // Node by node as they run, every instance.
  std::vector<uint32_t> running_order() const;
  // Modules of a class in the order in which they run, every instance.
  std::vector<uint32_t> modules_of_class(std::string_view class_name) const;
  // The shape's formulas; nullopt where one is not known.
  std::optional<std::vector<Expr>> shape_of(uint32_t value) const;

 private:
  using Names = std::unordered_map<std::string, uint32_t>;
  void read_modules();
  void read_nodes();
  void read_values();
  // `path` with the innermost instance named in it replaced by its stage's first one.
  std::optional<std::string> in_first_instance(const std::string& path) const;
  void add_names(const Json& entry, uint32_t index, Names& into);

  Json json_;
  std::vector<IndexedNode> nodes_;
  std::vector<uint32_t> parents_;
  std::vector<int64_t> repeats_;
  std::vector<std::string> paths_;
  std::vector<std::string> kinds_;
  std::vector<std::vector<std::pair<bool, uint32_t>>> items_;  // (is a module, its number)
  Names node_names_, value_makers_, module_paths_;
  // First instance's path of a stage, by the paths of all its instances.
  std::unordered_map<std::string, std::string> instance_paths_;
  size_t names_ = 0;
};

}  // namespace kcharter
