// Devices as a terminal shows them: all in a table, or one in full.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kcharter/estimate/device.h"

namespace kcharter {

std::string device_list(std::span<const Device> devices, size_t width);
std::string device_details(const Device& device);

}  // namespace kcharter
