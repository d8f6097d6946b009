#include "kcharter/report/device_table.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "kcharter/report/amounts.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

constexpr std::array<std::string_view, 4> kShownPeaks = {"bf16", "fp8", "int8", "fp4"};

std::string memory(const Device& device) {
  return device.memory_bytes ? bytes_text(*device.memory_bytes) : "—";
}

std::string bandwidth(double bytes_per_second) {
  return fmt::format("{:.0f} GB/s", bytes_per_second / 1e9);
}

std::string tera(double operations_per_second) {
  const double value = operations_per_second / 1e12;
  return fmt::format("{:.{}f}", value, value < 10 ? 1 : 0);
}

std::string peak(const Device& device, std::string_view type) {
  auto found = device.peaks.find(type);
  // Where no bf16 figure is known the f16 one stands for both.
  if (found == device.peaks.end() && type == "bf16") found = device.peaks.find("f16");
  return found == device.peaks.end() ? "—" : tera(found->second);
}

}  // namespace

std::string device_list(std::span<const Device> devices, size_t width) {
  TextTable table(2);
  table.add({"Device", "Name", "Memory", "Bandwidth", "bf16", "fp8", "int8", "fp4", "Grade"});
  for (const Device& device : devices) {
    std::vector<std::string> row = {device.id, device.name, memory(device),
                                    bandwidth(device.bandwidth_bytes_per_second)};
    for (const std::string_view type : kShownPeaks) row.push_back(peak(device, type));
    row.push_back(device.grade);
    table.add(std::move(row));
  }
  return table.to_string(width) +
         "\n  Peaks in TFLOP/s (TOP/s for int8), dense. Grade: A a vendor's or driver's figure,\n"
         "  B second hand, C derived.\n";
}

std::string device_details(const Device& device) {
  std::string text = fmt::format("{}: {}\n", device.id, device.name);
  TextTable table(1);
  const auto add = [&](std::string label, std::string value) {
    table.add({std::move(label), std::move(value)});
  };
  add("vendor", device.vendor);
  add("class", device.device_class);
  add("memory", memory(device));
  if (const auto usable = usable_memory_bytes(device))
    add("usable by one process", bytes_text(*usable));
  add("bandwidth", bandwidth(device.bandwidth_bytes_per_second));
  for (const auto& [type, value] : device.peaks) add("peak " + type, tera(value) + " T/s");
  if (device.link_bytes_per_second) {
    add("link " + device.link_kind, bandwidth(*device.link_bytes_per_second));
  }
  for (const auto& [kind, efficiency] : device.efficiency) {
    add("reached in " + kind,
        fmt::format("{:.0f} % compute, {:.0f} % bandwidth, {:.3g} µs a launch",
                    100 * efficiency.compute, 100 * efficiency.memory,
                    1e6 * efficiency.launch_seconds));
  }
  add("efficiencies", device.calibrated
                          ? "measured"
                          : fmt::format("of its class ({}): measured times {:.2g} to {:.2g} of "
                                        "estimates",
                                        device.efficiency_class, device.band.low, device.band.high));
  add("grade", device.grade);
  return text + table.to_string(100);
}

}  // namespace kcharter
