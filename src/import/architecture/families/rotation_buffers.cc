#include "import/architecture/families/rotation_buffers.h"

#include <charconv>

#include "import/architecture/decoder.h"

namespace kcharter {
namespace {

constexpr int kMajor = 4, kFirstMinorWithout = 32;

// "4.31.0.dev0"; what is no version is not old.
bool is_before_32(const std::string& version) {
  const char* end = version.data() + version.size();
  int major = 0, minor = 0;
  auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.') return false;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return false;
  return major == kMajor && minor < kFirstMinorWithout;
}

}  // namespace

void store_frequencies(GraphBuilder& builder, int64_t layers, int64_t head_dim) {
  for (int64_t i = 0; i < layers; ++i) {
    auto layer = builder.scope("model.layers", i);
    builder.buffer("self_attn.rotary_emb.inv_freq", {head_dim / 2}, DType::kF32);
  }
}

void store_frequencies_of_old_llama(GraphBuilder& builder, const ModelConfig& config) {
  if (!is_before_32(config.text("transformers_version"))) return;
  store_frequencies(builder, layers_of(config), attention_of(config).head_dim);
}

}  // namespace kcharter
