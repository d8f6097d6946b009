// The table of operators, one family a file: src/ops/<family>.cc holds its entries and the work
// functions only they use. A new family is one line in kFamilies (operator.cc) and one here.
#pragma once

#include <span>
#include <string_view>

#include "kcharter/model/domains.h"
#include "kcharter/ops/operator.h"

namespace kcharter {

struct OperatorEntry {
  std::string_view domain;
  std::string_view op_type;
  OperatorInfo info;
};
using OperatorFamily = std::span<const OperatorEntry>;

OperatorFamily arithmetic_operators();
OperatorFamily linear_algebra_operators();
OperatorFamily convolution_operators();
OperatorFamily pooling_operators();
OperatorFamily normalization_operators();
OperatorFamily attention_operators();
OperatorFamily quantization_operators();
OperatorFamily expert_operators();
OperatorFamily movement_operators();
OperatorFamily reduction_operators();
OperatorFamily recurrent_operators();
OperatorFamily classical_operators();
OperatorFamily training_operators();
OperatorFamily kcharter_basic_operators();
OperatorFamily kcharter_attention_operators();
OperatorFamily kcharter_compressed_operators();
OperatorFamily kcharter_expert_operators();
OperatorFamily kcharter_quantized_operators();
OperatorFamily kcharter_recurrent_operators();

}  // namespace kcharter
