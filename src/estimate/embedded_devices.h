// The device files of models/devices, as they are built into the program.
#pragma once

#include <span>

#include "kcharter/base/embedded_file.h"

namespace kcharter {

std::span<const EmbeddedFile> embedded_devices();

}  // namespace kcharter
