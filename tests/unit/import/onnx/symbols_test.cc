#include "import/onnx/symbols.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

TEST(Symbols, WhatNamesSuggest) {
  for (const char* name : {"batch", "batch_size", "batch _size", "N", "bs"}) {
    EXPECT_EQ(hint_of(name), SymbolHint::kBatch) << name;
  }
  for (const char* name :
       {"past_sequence_length", "past_seq_len", "past", "past_decoder_sequence_length"}) {
    EXPECT_EQ(hint_of(name), SymbolHint::kPast) << name;
  }
  for (const char* name :
       {"past_sequence_length + 1", "past_seq_len+seq_len", "past_seq_len_plus_seq_len",
        "total_sequence_length", "attention_mask_sequence_length", "total_seq"}) {
    EXPECT_EQ(hint_of(name), SymbolHint::kTotal) << name;
  }
  for (const char* name : {"sequence_length", "seq_len", "seq", "decoder_sequence_length"}) {
    EXPECT_EQ(hint_of(name), SymbolHint::kSequence) << name;
  }
  EXPECT_EQ(hint_of("batch_size x num_heads"), SymbolHint::kBatchTimesHeads);
  EXPECT_EQ(hint_of("encoder_sequence_length_out"), SymbolHint::kEncoder);
  for (const char* name :
       {"image_batch_size", "height", "unk__314", "p2o.DynamicDimension.0", "s34"}) {
    EXPECT_EQ(hint_of(name), SymbolHint::kNone) << name;
  }
  EXPECT_EQ(hint_of("None"), SymbolHint::kUnknown);
}

TEST(Symbols, BecomeNamesOfVariables) {
  std::set<std::string> taken = {"batch_size"};
  EXPECT_EQ(variable_name("height", taken), "height");
  EXPECT_EQ(variable_name("height", taken), "height_2");
  EXPECT_EQ(variable_name("p2o.DynamicDimension.0", taken), "p2o_DynamicDimension_0");
  EXPECT_EQ(variable_name("encoder_sequence_length / 2", taken), "encoder_sequence_length_div_2");
  EXPECT_EQ(variable_name("batch_size", taken), "batch_size_2");
  EXPECT_EQ(variable_name("3x", taken), "dim_3x");
  EXPECT_EQ(variable_name("min", taken), "dim_min");
  EXPECT_EQ(variable_name("\xc3\xa4", taken), "dim__");
}

}  // namespace
}  // namespace kcharter
