// What one document comes to on one device: time of a step, what limits it, whether it fits, and
// what these rest on.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kcharter/estimate/device.h"
#include "kcharter/estimate/fit.h"
#include "kcharter/estimate/time.h"
#include "kcharter/report/document.h"
#include "report/json_writer.h"

namespace kcharter {

struct DeviceFigures {
  std::optional<ModelTime> time;  // none: a formula has no value at these settings
  std::optional<Fit> fit;
  std::optional<int64_t> largest_batch;
  double tokens_per_second = 0;  // of all sequences together
};

DeviceFigures device_figures(const Document& document, const Device& device);

// "3.20 GiB left"; "unknown" also where what is known fits and something is not.
std::string fit_text(const std::optional<Fit>& fit);

// What a verdict on time takes for granted, in a sentence each: peaks, traffic, attention, types,
// experts, communication, where the efficiencies are from.
std::vector<std::string> time_assumptions(const Document& document, const Device& device);

// The same as lines under a table, wrapped to the width.
std::string assumptions_text(const Document& document, const Device& device, size_t width);

// A section of the terminal table, a column per document.
std::string device_section(std::span<const Document> documents, const Device& device, size_t width);
void write_device(const Document& document, const Device& device, JsonWriter& json);

}  // namespace kcharter
