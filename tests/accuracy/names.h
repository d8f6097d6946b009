// Measurements name devices, models and formats in the words of those who measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "accuracy/csv.h"
#include "kcharter/estimate/device.h"
#include "kcharter/import/import_model.h"

namespace kcharter::accuracy {

// nullopt: not in the table. A part of a device ("1 GCD") has its part of every figure.
std::optional<Device> device_called(std::string_view label);

// The folder or file of the model's configuration: of models/configs, else of the truth's configs.
std::optional<std::filesystem::path> config_of(std::string_view model,
                                               const std::filesystem::path& configs,
                                               const std::filesystem::path& truth);

// "Q4_K_M", "fp8 blocks + bf16 head", "EXL2 4.0 bpw", "q4 g64": how the weights are stored. Throws
// Error on words it does not know.
WeightFormats stored_as(std::string_view words);

}  // namespace kcharter::accuracy
