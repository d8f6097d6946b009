#include "import/onnx/scopes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kcharter {
namespace {

// Of all module paths together: a hostile file makes them long and many.
constexpr size_t kMaxSegments = 4'000'000;

std::string_view metadata(const NodeView& node, std::string_view key) {
  for (const KeyValue& entry : node.metadata) {
    if (entry.first == key) return entry.second;
  }
  return {};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "transformers.models.llama.LlamaMLP" → "LlamaMLP".
std::string last_part(std::string_view dotted) {
  return std::string(dotted.substr(dotted.rfind('.') + 1));
}

// A module that its parent runs by itself repeats the parent's path: "layer2.1" under "layer2".
void drop_repeated_prefixes(std::vector<std::string>& segments) {
  std::string parent;
  for (std::string& segment : segments) {
    const std::string full = segment;
    if (!parent.empty() && segment.size() > parent.size() + 1 && segment.starts_with(parent) &&
        segment[parent.size()] == '.') {
      segment.erase(0, parent.size() + 1);
    }
    parent = full;
  }
}

// onnxruntime-genai puts the norm after the last layer into a layer that does not exist.
void drop_layer_of_final_norm(std::vector<std::string>& segments) {
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    if (segments[i].starts_with("layers.") && segments[i + 1].starts_with("final_norm")) {
      segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
}

}  // namespace

std::vector<std::string> parse_python_list(std::string_view text) {
  std::vector<std::string> parts;
  if (!text.starts_with('[') || !text.ends_with(']')) return parts;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    const char quote = text[i];
    if (quote != '\'' && quote != '"') continue;
    std::string part;
    for (++i; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      part += text[i];
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<std::string> segments_of_name(std::string_view name) {
  std::vector<std::string> segments;
  for (const std::string_view part : split(name, '/')) {
    if (!part.empty()) segments.emplace_back(part);
  }
  if (!segments.empty() && !name.ends_with('/')) segments.pop_back();
  drop_layer_of_final_norm(segments);
  drop_repeated_prefixes(segments);
  return segments;
}

ScopeTable::ScopeTable(std::vector<Scope>& scopes) : scopes_(scopes) {
  if (scopes_.empty()) scopes_.emplace_back();
}

ScopeId ScopeTable::intern(Scope scope) {
  if (segments_ + scope.segments.size() > kMaxSegments) return ScopeId(0);
  const std::string key = fmt::format("{}\x1e{}\x1e{}", static_cast<int>(scope.source),
                                      scope.class_name, fmt::join(scope.segments, "\x1f"));
  const auto [found, added] = interned_.try_emplace(key, static_cast<uint32_t>(scopes_.size()));
  if (added) {
    segments_ += scope.segments.size();
    scopes_.push_back(std::move(scope));
  }
  return ScopeId(found->second);
}

namespace {
constexpr size_t kMostClasses = 64;  // deeper than any model
}

ScopeId ScopeTable::of_metadata(std::string_view scopes, std::string_view classes, bool absolute) {
  std::vector<std::string> parts = parse_python_list(scopes);
  std::vector<std::string> names = parse_python_list(classes);
  if (absolute && !parts.empty()) parts.pop_back();  // the operator
  Scope scope{.segments = {}, .source = ScopeSource::kMetadata, .class_name = ""};
  ScopeId id = intern(scope);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (absolute) {
      scope.segments.clear();
      for (const std::string_view part : split(parts[i], '.')) {
        if (!part.empty()) scope.segments.emplace_back(part);
      }
    } else if (!parts[i].empty()) {
      scope.segments.push_back(parts[i]);
    }
    scope.class_name = i < names.size() ? std::string(last_part(names[i])) : std::string();
    // The modules around are scopes too, so that their classes are known.
    if (i + 1 == parts.size() || parts.size() <= kMostClasses) id = intern(scope);
  }
  return id;
}

// ": LlamaForCausalLM/model: LlamaModel/model.layers.0: LlamaDecoderLayer/linear:
// aten.linear.default"
ScopeId ScopeTable::of_namespace(std::string_view text) {
  Scope scope{.segments = {}, .source = ScopeSource::kMetadata, .class_name = ""};
  for (const std::string_view part : split(text, '/')) {
    const size_t colon = part.find(": ");
    if (colon == std::string_view::npos) return ScopeId(0);
    const std::string_view class_name = part.substr(colon + 2);
    if (class_name.starts_with("aten.") || class_name.ends_with(".default")) break;
    scope.class_name = last_part(class_name);
    if (colon > 0) scope.segments.emplace_back(part.substr(0, colon));
  }
  drop_repeated_prefixes(scope.segments);
  return intern(std::move(scope));
}

ScopeId ScopeTable::of_node(const NodeView& node, ScopeId outer, bool in_body) {
  const std::string_view torch = metadata(node, "pkg.torch.onnx.name_scopes");
  const std::string_view script = metadata(node, "pkg.onnxscript.name_scopes");
  const std::string_view space = metadata(node, "namespace");
  const std::string_view text = !torch.empty() ? torch : (!script.empty() ? script : space);
  const size_t slash = node.name.rfind('/');
  if (text.empty() && slash == std::string_view::npos) return outer;
  const auto [found, added] = text.empty()
                                  ? by_name_[outer.index].try_emplace(node.name.substr(0, slash))
                                  : by_metadata_.try_emplace(text);
  // torch keeps nothing but the operator inside torch.cond.
  const auto finish = [&](ScopeId id) {
    const bool lost = in_body && !torch.empty() && scopes_[id.index].segments.empty();
    return lost ? outer : id;
  };
  if (!added) return finish(found->second);

  ScopeId id;
  if (!torch.empty()) {
    id = of_metadata(torch, metadata(node, "pkg.torch.onnx.class_hierarchy"), true);
  } else if (!script.empty()) {
    id = of_metadata(script, metadata(node, "pkg.onnxscript.class_hierarchy"), false);
  } else if (!space.empty()) {
    id = of_namespace(space);
  } else {
    Scope scope = scopes_[outer.index];
    const std::vector<std::string> segments = segments_of_name(node.name);
    if (outer.index == 0) scope.source = ScopeSource::kNodeName;
    if (!segments.empty()) scope.class_name.clear();
    scope.segments.insert(scope.segments.end(), segments.begin(), segments.end());
    id = intern(std::move(scope));
  }
  found->second = id;
  return finish(id);
}

ScopeId ScopeTable::of_function(const NodeView& call, std::string_view function, ScopeId outer,
                                bool in_body) {
  const ScopeId around = of_node(call, outer, in_body);
  // torch's own operators come as functions too; they are no modules.
  if (call.domain.starts_with("pkg.onnxscript.torch_lib")) return around;
  Scope scope = scopes_[around.index];
  // torch calls the function LayerNorm by "/norm/LayerNorm": the path is that of the module. Else
  // the call itself is the module.
  const size_t slash = call.name.rfind('/');
  const bool is_path = slash != std::string_view::npos;
  const std::string_view last = is_path ? call.name.substr(slash + 1) : call.name;
  if (!is_path || !last.starts_with(function)) {
    scope.segments.emplace_back(last.empty() ? function : last);
  }
  scope.source = ScopeSource::kFunction;
  scope.class_name = function;
  return intern(std::move(scope));
}

}  // namespace kcharter
