// The viewer as web/ builds it: the files of web/dist, by name.
#pragma once

#include <span>

#include "kcharter/base/embedded_file.h"

namespace kcharter {

std::span<const EmbeddedFile> embedded_site();

}  // namespace kcharter
