// How a serving engine allocates the caches of a model.
//
// By default a cache takes what its data needs: min(window, max_length) positions of a sliding
// window, states in their own type. An engine rounds to pages, keeps more of a window, pads slots,
// widens states; the same model takes different bytes in each.
//
//   allocate_as({.name = "llama.cpp", .options = {{"ubatch", "2048"}}}, model);
//
// batch_size is the number of sequences the engine serves at once (slots, running requests), and
// max_length what each of them may hold. Each rule cites the engine's own file beside its code.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kcharter/model/model.h"

namespace kcharter {

struct EngineRequest {
  std::string name;                            // "vllm"
  std::map<std::string, std::string> options;  // "block_size" → "16"
  std::optional<ElementFormat> kv_format;      // asked for by the user; none: the engine's default
};

struct EngineOption {
  std::string_view key;      // as the engine calls it where it has a name for it
  std::string_view fallback;
  std::string_view meaning;  // with its unit
};

struct Engine {
  std::string_view name;
  std::span<const EngineOption> options;
};

std::span<const Engine> engines();  // by name

// Changes Graph::caches: shapes as allocated, formats, padding as caches of its own; adds to
// Model::conventions what was assumed. Values of the graph, and so what a step reads and writes,
// stay. Throws UsageError: unknown engine or option, a value that is none of its own.
void allocate_as(const EngineRequest& request, Model& model);

}  // namespace kcharter
