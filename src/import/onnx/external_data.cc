#include "import/onnx/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace kcharter {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> parse_size(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

struct ExternalEntry {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  std::string problem;
  std::string_view unknown_key;
};

ExternalEntry read_entry(const TensorView& tensor) {
  ExternalEntry entry;
  std::map<std::string_view, std::string_view> values;
  for (const auto& [key, value] : tensor.external_data) {
    if (!values.emplace(key, value).second) {
      entry.problem = fmt::format("key '{}' is given twice", key);
    }
    if (key != "location" && key != "offset" && key != "length" && key != "checksum" &&
        key != "basepath") {
      entry.unknown_key = key;
    }
  }
  if (!entry.problem.empty()) return entry;
  entry.location = values["location"];
  if (entry.location.empty()) entry.problem = "no location is given";
  for (const std::string_view key : {"offset", "length"}) {
    if (!values.contains(key)) continue;
    const std::optional<uint64_t> number = parse_size(values[key]);
    if (!number) {
      entry.problem = fmt::format("{} '{}' is not a size", key, values[key]);
    } else if (key == "offset") {
      entry.offset = *number;
    } else {
      entry.length = number;
    }
  }
  return entry;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

ExternalFiles::ExternalFiles(fs::path model_file, std::vector<std::string>& files,
                             Diagnostics& diagnostics)
    : model_file_(std::move(model_file)),
      folder_(model_file_.has_parent_path() ? model_file_.parent_path() : fs::path(".")),
      files_(files),
      diagnostics_(diagnostics) {}

// What keeps `location` from being used; sets `size` where nothing does.
std::string ExternalFiles::problem_of(const std::string& location, uint64_t& size) const {
  if (location.find('\0') != std::string::npos) return "its name holds a zero byte";
  const fs::path relative = fs::path(location).lexically_normal();
  if (relative.is_absolute()) return "an absolute path is not followed";
  if (relative.empty() || *relative.begin() == "..") return "it lies outside the model's folder";

  const fs::path path = folder_ / relative;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return "there is no such file beside the model";
  if (status.type() != fs::file_type::regular) return "it is not a regular file";
  // A link may lead to another place of the folder, or, as in a download cache in which the model
  // is a link too, to the place where the model itself lies.
  const fs::path real = fs::canonical(path, error);
  if (error) return "its link cannot be followed";
  const fs::path real_folder = fs::canonical(folder_, error);
  const fs::path real_model = fs::canonical(model_file_, error);
  if (!is_inside(real, real_folder) && !is_inside(real, real_model.parent_path())) {
    return "its link leads outside the model's folder";
  }
  size = fs::file_size(path, error);
  if (error) return "its size cannot be read";
  return "";
}

const ExternalFiles::File& ExternalFiles::look_at(const std::string& location) {
  const auto [found, added] = seen_.try_emplace(location);
  File& file = found->second;
  if (added) {
    file.problem = problem_of(location, file.size);
    if (file.problem.empty()) {
      file.index = static_cast<int32_t>(files_.size());
      files_.push_back(fs::path(location).lexically_normal().generic_string());
    }
  }
  return file;
}

TensorLocation ExternalFiles::locate(const TensorView& tensor, uint64_t bytes) {
  const std::string subject = fmt::format("initializer '{}'", tensor.name);
  const auto warn = [&](std::string_view what) {
    diagnostics_.add(Severity::kWarning, "external-data-not-found", subject,
                     fmt::format("{}; sizes come from the dimensions", what));
    return TensorLocation{};
  };
  const ExternalEntry entry = read_entry(tensor);
  if (!entry.unknown_key.empty()) {
    diagnostics_.add(Severity::kNote, "external-data-unknown-key", subject,
                     fmt::format("external data has an unknown key '{}'", entry.unknown_key));
  }
  if (!entry.problem.empty()) return warn(fmt::format("external data: {}", entry.problem));
  const File& file = look_at(entry.location);
  if (!file.problem.empty()) {
    return warn(fmt::format("external data '{}': {}", entry.location, file.problem));
  }
  const uint64_t length = entry.length.value_or(bytes);
  if (entry.offset > file.size || length > file.size - entry.offset) {
    return warn(fmt::format("external data '{}': {} bytes at {} reach behind its end at {}",
                            entry.location, length, entry.offset, file.size));
  }
  if (length != bytes) {
    diagnostics_.add(
        Severity::kWarning, "tensor-size-differs", subject,
        fmt::format("the dimensions call for {} bytes, external data has {}", bytes, length));
  }
  return {.file = file.index, .offset = entry.offset, .length = length};
}

}  // namespace kcharter
