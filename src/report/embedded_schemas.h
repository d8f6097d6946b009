// The schemas that documents are checked against: schemas/*.json, by name.
#pragma once

#include <span>

#include "kcharter/base/embedded_file.h"

namespace kcharter {

std::span<const EmbeddedFile> embedded_schemas();

}  // namespace kcharter
