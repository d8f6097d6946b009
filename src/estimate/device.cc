#include "kcharter/estimate/device.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "estimate/embedded_devices.h"
#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"

namespace kcharter {
namespace {

using nlohmann::json;

double positive(const json& object, const char* member) {
  const double value = object.at(member).get<double>();
  if (!(value > 0)) throw Error(std::string("'") + member + "' must be positive");
  return value;
}

double fraction(const json& object, const char* member) {
  const double value = positive(object, member);
  if (value > 1) throw Error(std::string("'") + member + "' is a fraction: at most 1");
  return value;
}

Efficiency parse_efficiency(const json& object) {
  const double launch = object.at("launch_seconds").get<double>();
  if (!(launch >= 0)) throw Error("'launch_seconds' must not be negative");
  return {launch, fraction(object, "memory"), fraction(object, "compute")};
}

void read_memory(const json& memory, Device& device) {
  if (memory.contains("bytes")) {
    device.memory_bytes = memory.at("bytes").get<int64_t>();
    if (*device.memory_bytes <= 0) throw Error("'memory.bytes' must be positive");
  }
  if (memory.contains("usable_fraction"))
    device.usable_fraction = fraction(memory, "usable_fraction");
}

using Efficiencies = std::map<std::string, Efficiency, std::less<>>;

Efficiencies parse_efficiencies(const json& object) {
  Efficiencies efficiencies;
  for (const auto& [kind, member] : object.items()) {
    if (kind != "source") efficiencies[kind] = parse_efficiency(member);
  }
  if (!efficiencies.contains("matmul")) throw Error("'efficiency.matmul' is missing");
  return efficiencies;
}

// A file of models/devices/classes.
struct EfficiencyClass {
  Efficiencies efficiency;
  Band band;
};

bool is_class(const json& root) { return root.value("schema", "") == "kcharter.device_class"; }

const std::map<std::string, EfficiencyClass, std::less<>>& class_table() {
  static const auto table = [] {
    std::map<std::string, EfficiencyClass, std::less<>> classes;
    for (const EmbeddedFile& file : embedded_devices()) {
      const json root = json::parse(file.bytes);
      if (!is_class(root)) continue;
      classes[root.at("id").get<std::string>()] = {
          parse_efficiencies(root.at("efficiency")),
          {positive(root.at("band"), "low"), positive(root.at("band"), "high")}};
    }
    return classes;
  }();
  return table;
}

void read_efficiency(const json& root, Device& device) {
  device.efficiency_class = root.value("efficiency_class", device.efficiency_class);
  const auto found = class_table().find(device.efficiency_class);
  if (found == class_table().end()) {
    throw Error("'efficiency_class' is '" + device.efficiency_class +
                "', not one of apple, cpu, gddr, hbm, other, soc");
  }
  device.calibrated = root.contains("efficiency");
  device.efficiency =
      device.calibrated ? parse_efficiencies(root.at("efficiency")) : found->second.efficiency;
  if (!device.calibrated) device.band = found->second.band;
}

Device read_device(const json& root) {
  if (root.value("schema", "") != "kcharter.device") {
    throw Error("not a device: 'schema' is not \"kcharter.device\"");
  }
  Device device;
  device.id = root.at("id").get<std::string>();
  device.name = root.at("name").get<std::string>();
  device.vendor = root.value("vendor", "");
  device.device_class = root.value("class", "");
  device.grade = root.value("grade", "C");
  read_memory(root.at("memory"), device);
  device.bandwidth_bytes_per_second = positive(root, "bandwidth_bytes_per_second");
  for (const auto& [type, peak] : root.at("dense_operations_per_second").items()) {
    device.peaks[type] = peak.get<double>();
  }
  device.accumulate = root.value("accumulate", "");
  if (root.contains("link")) {
    const json& link = root.at("link");
    device.link_kind = link.value("kind", "");
    if (link.contains("bytes_per_second")) {
      device.link_bytes_per_second = positive(link, "bytes_per_second");
    }
  }
  read_efficiency(root, device);
  return device;
}

// How many characters two ids have in common at the front: enough to suggest the nearest ones.
size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

std::string nearest_ids(std::string_view wanted) {
  std::vector<std::string_view> ids;
  for (const Device& device : device_table()) ids.push_back(device.id);
  std::stable_sort(ids.begin(), ids.end(), [&](std::string_view a, std::string_view b) {
    return common_prefix(a, wanted) > common_prefix(b, wanted);
  });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, ids.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(ids[i]);
  }
  return text;
}

// The types that can do the work of `dtype`, best first.
std::vector<std::string_view> peak_names(DType dtype) {
  switch (dtype) {
    case DType::kF4E2M1:
      return {"fp4", "fp8", "f16", "bf16", "f32"};
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF6E2M3:
    case DType::kF6E3M2:
      return {"fp8", "f16", "bf16", "f32"};
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt4:
    case DType::kUInt4:
    case DType::kInt2:
    case DType::kUInt2:
      return {"int8", "f16", "bf16", "f32"};
    case DType::kBF16:
      return {"bf16", "f16", "f32"};
    case DType::kF16:
      return {"f16", "bf16", "f32"};
    default:
      return {"tf32", "f32", "f16", "bf16"};
  }
}

}  // namespace

Device parse_device(std::string_view text, const std::string& file) {
  try {
    return read_device(json::parse(text));
  } catch (Error& error) {
    throw error.in(file);
  } catch (const json::exception& error) {
    throw Error(file + ": " + error.what());
  }
}

const std::vector<Device>& device_table() {
  static const std::vector<Device> table = [] {
    std::vector<Device> devices;
    for (const EmbeddedFile& file : embedded_devices()) {
      if (is_class(json::parse(file.bytes))) continue;
      devices.push_back(parse_device(file.bytes, std::string(file.name)));
    }
    std::sort(devices.begin(), devices.end(),
              [](const Device& a, const Device& b) { return a.id < b.id; });
    return devices;
  }();
  return table;
}

const Device* find_device(std::string_view id) {
  for (const Device& device : device_table()) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

Device load_device(const std::string& id_or_file) {
  if (id_or_file.ends_with(".json")) {
    const MappedFile file{std::filesystem::path(id_or_file)};
    const auto bytes = file.bytes();
    return parse_device({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, id_or_file);
  }
  if (const Device* device = find_device(id_or_file)) return *device;
  throw UsageError("no device '" + id_or_file + "'; near it are " + nearest_ids(id_or_file) +
                   ". `kcharter devices` lists all; a file NAME.json can be given instead");
}

std::optional<int64_t> usable_memory_bytes(const Device& device) {
  if (!device.memory_bytes) return std::nullopt;
  if (device.usable_fraction == 1) return device.memory_bytes;
  return static_cast<int64_t>(static_cast<double>(*device.memory_bytes) * device.usable_fraction);
}

std::optional<double> peak_operations_per_second(const Device& device, DType dtype) {
  for (const std::string_view name : peak_names(dtype)) {
    if (const auto found = device.peaks.find(name); found != device.peaks.end()) {
      return found->second;
    }
  }
  if (!device.peaks.empty()) return device.peaks.begin()->second;
  return std::nullopt;
}

const Efficiency& efficiency_of(const Device& device, std::string_view kind) {
  const auto found = device.efficiency.find(kind);
  return found != device.efficiency.end() ? found->second : device.efficiency.at("matmul");
}

}  // namespace kcharter
