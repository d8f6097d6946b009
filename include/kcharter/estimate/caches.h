// Bytes of caches and states. The block in which caches of keys and values are stored may be a
// variable: kv_block_elements numbers in kv_block_bytes bytes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/quantity.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

inline constexpr std::string_view kKvBlockElements = "kv_block_elements";
inline constexpr std::string_view kKvBlockBytes = "kv_block_bytes";

// The format that all caches of keys and values have; nullopt: none, or more than one.
std::optional<ElementFormat> common_kv_format(const Graph& graph);

// `elements` of a cache, in whole blocks. `kv_blocks`: Operands::kv_blocks.
Expr cache_byte_size(const Expr& elements, const Cache& cache, bool kv_blocks);
// What is allocated for one cache, in elements and in bytes; nullopt: not known.
std::optional<Expr> allocated_elements(const Cache& cache);
std::optional<Expr> allocated_bytes(const Cache& cache, bool kv_blocks);
// Elements of the grown copy that a graph returns beside the cache it was given; 0 where there is
// none; nullopt: not known.
std::optional<Expr> copied_elements(const Graph& graph, const Cache& cache);

// The same in bytes, 0 where there is none.
Quantity copied_bytes(const Graph& graph, const Cache& cache, bool kv_blocks);
// What `elements` of a cache take; unknown where they are.
Quantity cache_quantity(const std::optional<Expr>& elements, const Cache& cache, bool kv_blocks,
                        Source source);

// By cache index: the module that owns it; the root's where none does.
std::vector<ModuleId> modules_of_caches(const Graph& graph, const ModuleTree& tree);

}  // namespace kcharter
