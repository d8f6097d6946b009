// The experts of a layer come as thousands of tensors that differ in an index of their name alone
// and that one node reads. A document shows such tensors as one row that stands for all.
#pragma once

#include <vector>

#include "kcharter/report/document.h"

namespace kcharter {

// By InitializerId: the first tensor of its kind, for templates; itself for all others.
std::vector<InitializerId> first_of_alike_tensors(const Document& document);

}  // namespace kcharter
