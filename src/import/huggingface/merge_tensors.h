// merge_tensors: the tensors found in files take the place of those the architecture expects.
#pragma once

#include <string>
#include <vector>

#include "import/safetensors/read_header.h"
#include "kcharter/model/model.h"

namespace kcharter {

struct FoundTensor {
  SafetensorsTensor tensor;
  int32_t file = -1;      // index into Model::files
  bool present = true;    // false: its shard is missing, only the name is known
};

// Names that differ by the name of the base model ("model.", "transformer." …) are matched. Tensors
// that the architecture does not have are kept, without a node that reads them; tensors it has and no
// file holds stay as expected. Both are named in diagnostics.
void merge_tensors(Model& model, const std::vector<FoundTensor>& found);

}  // namespace kcharter
