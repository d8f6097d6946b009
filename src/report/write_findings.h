// The findings of a document.
#pragma once

#include "report/write_tables.h"

namespace kcharter {

void write_findings(TableWriter& table);

}  // namespace kcharter
