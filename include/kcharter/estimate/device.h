// Device: what a processor can do, as data. The table is models/devices/*.json, built into the
// program; a file of the same form describes a device that is not in it.
//
//   const Device* device = find_device("h100-sxm");
//   peak_operations_per_second(*device, DType::kBF16);   // 989e12, dense
//
// Peaks are dense figures of the accumulate mode that `accumulate` names; sparse ones are never used.
// A device without measured efficiencies has those of its `efficiency_class`, a file of
// models/devices/classes: devices alike in memory, with the band that measurements of them spread over.
// `grade`: A sourced from a vendor or a driver, B second hand, C derived. Each figure's source is in
// the device's file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/model/dtype.h"

namespace kcharter {

// t = launch + max(operations / (compute * peak), bytes / (memory * bandwidth)).
struct Efficiency {
  double launch_seconds = 0;
  double memory = 1;   // fraction of the bandwidth reached
  double compute = 1;  // fraction of the dense peak reached
};

// How far measured times may lie from an estimate, as factors of it.
struct Band {
  double low = 1;
  double high = 1;
};

struct Device {
  std::string id;
  std::string name;
  std::string vendor;
  std::string device_class;
  std::string efficiency_class = "other";  // gddr, hbm, soc, apple, cpu, other
  std::string grade;
  std::optional<int64_t> memory_bytes;  // none: as much as is built in
  double usable_fraction = 1;           // what one process may use by default
  double bandwidth_bytes_per_second = 0;
  std::map<std::string, double, std::less<>> peaks;  // f32, tf32, f16, bf16, fp8, int8, fp4: operations/s
  std::string accumulate;
  std::string link_kind;
  std::optional<double> link_bytes_per_second;  // one direction
  // By kind of work: "matmul", "matmul_fp8", "matmul_int8", "attention". Its own where `calibrated`,
  // else those of the efficiency class.
  std::map<std::string, Efficiency, std::less<>> efficiency;
  bool calibrated = false;
  Band band;  // 1 and 1 where calibrated
};

// The whole table, by id.
const std::vector<Device>& device_table();
// nullptr: not in the table.
const Device* find_device(std::string_view id);
// An id of the table, or the path of a device file (a name that ends in .json). Throws Error that
// names the nearest ids.
Device load_device(const std::string& id_or_file);
// Throws Error naming `file` and the member that is missing or wrong.
Device parse_device(std::string_view json, const std::string& file);

// Memory that a model may fill, in bytes.
std::optional<int64_t> usable_memory_bytes(const Device& device);
// The dense peak for matrix work in `dtype`. A device without units for it runs the next wider type:
// fp4 → fp8 → f16, int4 → int8 → f16, bf16 ↔ f16, f32 → tf32. None: no peak is known at all.
std::optional<double> peak_operations_per_second(const Device& device, DType dtype);
// The efficiency for a kind of work, falling back on "matmul".
const Efficiency& efficiency_of(const Device& device, std::string_view kind);

}  // namespace kcharter
