#include "import/architecture/quantization.h"

#include <algorithm>

namespace kcharter {
namespace {

int64_t blocks(int64_t elements, int64_t size) { return size <= 0 ? 1 : (elements + size - 1) / size; }

// GPTQ and AWQ: scales and zero points of each group and output.
void add_groups(std::vector<StoredPart>& parts, const MatrixFormat& format, const MatrixShape& shape) {
  int64_t groups = format.group_size <= 0 ? 1 : blocks(shape.in, format.group_size);
  parts.push_back({"qzeros", DType::kInt32, {groups, shape.out * format.bits / 32}, TensorPart::kZeroPoint});
  parts.push_back({"scales", format.scale_dtype, {groups, shape.out}, TensorPart::kScale});
}

std::vector<StoredPart> nf4_parts(const MatrixFormat& format, const MatrixShape& shape) {
  int64_t elements = shape.in * shape.out;
  int64_t scales = blocks(elements, 64);
  std::vector<StoredPart> parts = {{"weight", DType::kUInt8, {blocks(elements, 2), 1}, TensorPart::kPayload}};
  parts.push_back({"weight.absmax", format.nested ? DType::kUInt8 : DType::kF32, {scales}, TensorPart::kScale});
  if (format.nested) {
    parts.push_back({"weight.nested_absmax", DType::kF32, {blocks(scales, 256)}, TensorPart::kScale});
    parts.push_back({"weight.nested_quant_map", DType::kF32, {256}, TensorPart::kMetadata});
  }
  parts.push_back({"weight.quant_map", DType::kF32, {16}, TensorPart::kMetadata});
  // The state is a small JSON text whose length follows the numbers in it.
  std::string dtype = format.scale_dtype == DType::kF32 ? "float32" : format.scale_dtype == DType::kF16 ? "float16" : "bfloat16";
  std::string state = "{\"quant_type\": \"nf4\", \"blocksize\": 64, \"dtype\": \"" + dtype + "\", \"shape\": [" +
                      std::to_string(shape.out) + ", " + std::to_string(shape.in) + "]";
  if (format.nested) state += ", \"nested_blocksize\": 256, \"nested_dtype\": \"float32\", \"nested_offset\": 0.0";
  parts.push_back({"weight.quant_state.bitsandbytes__nf4", DType::kUInt8,
                   {static_cast<int64_t>(state.size()) + 1}, TensorPart::kMetadata});
  return parts;
}

// Names of modules may hold * for anything between.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

constexpr size_t kMostAlternatives = 256;

// "a(b|c)d" as "abd" and "acd", group by group; groups within groups are left as they are.
std::vector<std::string> alternatives(const std::string& expression) {
  std::vector<std::string> done, open = {expression};
  while (!open.empty() && done.size() + open.size() < kMostAlternatives) {
    std::string text = std::move(open.back());
    open.pop_back();
    size_t begin = text.find('('), end = text.find(')', begin);
    if (begin == std::string::npos || end == std::string::npos) {
      done.push_back(std::move(text));
      continue;
    }
    for (size_t from = begin + 1; from <= end;) {
      size_t to = std::min(text.find('|', from), end);
      open.push_back(text.substr(0, begin) + text.substr(from, to - from) + text.substr(end + 1));
      from = to + 1;
    }
  }
  return done;
}

// Of a regular expression only what lists of modules use: ".*" and escaped dots.
std::string simple_pattern(std::string_view expression) {
  std::string simple;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression.substr(i, 2) == ".*") simple += '*', ++i;
    else if (expression[i] != '\\' && expression[i] != '^' && expression[i] != '$') simple += expression[i];
  }
  return simple;
}

}  // namespace

void ModuleNames::add(std::string_view name, size_t meaning) {
  if (name.starts_with("re:")) {
    for (const std::string& one : alternatives(std::string(name.substr(3)))) {
      patterns_.emplace_back(simple_pattern(one), meaning);
    }
  } else if (name.find('*') != std::string_view::npos) {
    // Two lists of a checkpoint often say the same.
    std::pair<std::string, size_t> pattern(name, meaning);
    if (std::find(patterns_.begin(), patterns_.end(), pattern) != patterns_.end()) return;
    patterns_.push_back(pattern);
    if (!name.ends_with('*')) patterns_.emplace_back(pattern.first + ".*", meaning);
  } else {
    plain_.emplace(name, meaning);
  }
}

// Every run of whole names within the path may be in the list.
std::optional<size_t> ModuleNames::find(std::string_view path) const {
  for (size_t begin = 0; !plain_.empty() && begin < path.size();) {
    for (size_t end = path.find('.', begin);; end = path.find('.', end + 1)) {
      size_t length = end == std::string_view::npos ? end : end - begin;
      auto found = plain_.find(path.substr(begin, length));
      if (found != plain_.end()) return found->second;
      if (end == std::string_view::npos) break;
    }
    size_t dot = path.find('.', begin);
    if (dot == std::string_view::npos) break;
    begin = dot + 1;
  }
  for (const auto& [pattern, meaning] : patterns_) {
    if (matches(pattern, path)) return meaning;
  }
  return std::nullopt;
}

MatrixFormat format_of(const Quantization& quantization, std::string_view path) {
  if (quantization.method.empty()) return {};
  if (std::optional<size_t> own = quantization.overrides.find(path)) return quantization.formats[*own];
  return quantization.ignored.contains(path) ? MatrixFormat() : quantization.format;
}

std::vector<StoredPart> stored_parts(const MatrixFormat& format, const MatrixShape& shape) {
  int64_t in = shape.in, out = shape.out;
  int64_t groups = blocks(in, format.group_size);
  bool deepseek4 = format.names == PartNames::kDeepseek4, compressed = format.names == PartNames::kCompressed;
  std::vector<StoredPart> parts;
  switch (format.storage) {
    case StorageFormat::kPlain: return {};
    case StorageFormat::kFp8Block: {
      int64_t shards = std::max<int64_t>(1, format.row_shards);
      int64_t rows = shards * blocks(blocks(out, shards), format.block_rows);
      return {{"weight", DType::kF8E4M3FN, {out, in}, TensorPart::kPayload},
              {deepseek4 ? "scale" : compressed ? "weight_scale" : "weight_scale_inv",
               deepseek4 ? DType::kF8E8M0 : compressed ? format.scale_dtype : DType::kF32,
               {rows, blocks(in, format.block_columns)}, TensorPart::kScale}};
    }
    case StorageFormat::kFp8Tensor:
      parts = {{"weight", DType::kF8E4M3FN, {out, in}, TensorPart::kPayload},
               {"weight_scale", DType::kF32, {}, TensorPart::kScale}};
      break;
    case StorageFormat::kFp8Channel:
      parts = {{"weight", DType::kF8E4M3FN, {out, in}, TensorPart::kPayload},
               {"weight_scale", format.scale_dtype, {out, 1}, TensorPart::kScale}};
      break;
    case StorageFormat::kInt8Channel:
      parts = {{"weight", DType::kInt8, {out, in}, TensorPart::kPayload},
               {"weight_scale", format.scale_dtype, {out, 1}, TensorPart::kScale}};
      break;
    case StorageFormat::kNvfp4:
      if (compressed) {
        parts = {{"weight_packed", DType::kUInt8, {out, in / 2}, TensorPart::kPayload},
                 {"weight_scale", DType::kF8E4M3FN, {out, blocks(in, 16)}, TensorPart::kScale},
                 {"weight_global_scale", DType::kF32, {1}, TensorPart::kScale}};
        if (format.input_scale) parts.push_back({"input_global_scale", DType::kF32, {1}, TensorPart::kScale});
        return parts;
      }
      parts = {{"weight", DType::kUInt8, {out, in / 2}, TensorPart::kPayload},
               {"weight_scale", DType::kF8E4M3FN, {out, blocks(in, 16)}, TensorPart::kScale},
               {"weight_scale_2", DType::kF32, {}, TensorPart::kScale}};
      break;
    case StorageFormat::kMxfp4:
      if (deepseek4) {
        return {{"weight", DType::kInt8, {out, in / 2}, TensorPart::kPayload},
                {"scale", DType::kF8E8M0, {out, blocks(in, 32)}, TensorPart::kScale}};
      }
      return {{compressed ? "weight_packed" : "weight", DType::kUInt8, {out, in / 2}, TensorPart::kPayload},
              {"weight_scale", DType::kUInt8, {out, blocks(in, 32)}, TensorPart::kScale}};
    case StorageFormat::kMxfp8:
      return {{"weight", DType::kF8E4M3FN, {out, in}, TensorPart::kPayload},
              {"weight_scale", DType::kUInt8, {out, blocks(in, 32)}, TensorPart::kScale}};
    case StorageFormat::kGptq:
      parts = {{"qweight", DType::kInt32, {in * format.bits / 32, out}, TensorPart::kPayload}};
      add_groups(parts, format, shape);
      if (format.group_index) parts.push_back({"g_idx", DType::kInt32, {in}, TensorPart::kMetadata});
      return parts;
    case StorageFormat::kAwq:
      parts = {{"qweight", DType::kInt32, {in, out * format.bits / 32}, TensorPart::kPayload}};
      add_groups(parts, format, shape);
      return parts;
    case StorageFormat::kPacked:
      parts = {{"weight_packed", DType::kInt32, {out, blocks(in * format.bits, 32)}, TensorPart::kPayload},
               {"weight_scale", format.scale_dtype, {out, groups}, TensorPart::kScale}};
      if (!format.symmetric) {
        parts.push_back({"weight_zero_point", DType::kInt32, {blocks(out * format.bits, 32), groups},
                         TensorPart::kZeroPoint});
      }
      parts.push_back({"weight_shape", DType::kInt64, {2}, TensorPart::kMetadata});
      return parts;
    case StorageFormat::kNf4: return nf4_parts(format, shape);
    case StorageFormat::kLlmInt8:
      return {{"weight", DType::kInt8, {out, in}, TensorPart::kPayload},
              {"SCB", DType::kF32, {out}, TensorPart::kScale},
              {"weight_format", DType::kUInt8, {}, TensorPart::kMetadata}};
    case StorageFormat::kMlx:
      return {{"weight", DType::kUInt32, {out, in * format.bits / 32}, TensorPart::kPayload},
              {"scales", format.scale_dtype, {out, groups}, TensorPart::kScale},
              {"biases", format.scale_dtype, {out, groups}, TensorPart::kZeroPoint}};
  }
  if (format.input_scale) parts.push_back({"input_scale", DType::kF32, {}, TensorPart::kScale});
  return parts;
}

}  // namespace kcharter
