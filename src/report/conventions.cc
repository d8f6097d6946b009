#include "report/conventions.h"

namespace kcharter {

std::vector<std::pair<std::string, std::string>> conventions(const Document& document) {
  const bool is_decode = document.model.mode == Mode::kDecode;
  std::vector<std::pair<std::string, std::string>> all = {
      {"step", is_decode ? "One token per sequence, with current_length-1 tokens in the past."
                         : "current_length tokens per sequence, with nothing in the past."},
      {"parameters",
       "Logical parameters: shared tensors once, a packed weight by what it stands for; buffers, "
       "tables and scales are none."},
      {"kv_cache_bytes",
       "Allocated for max_length tokens; a window holds min(window, max_length)."},
      {"activation_peak_bytes",
       "The largest sum of bytes of values alive at once in the order of the nodes; views, weights "
       "and caches are not counted."},
      {"cache_copy_bytes", "Grown copies of a cache that the graph returns beside the cache."},
      {"total_bytes", "Weights, cache, state, activation peak and cache copies together."},
      {"flops",
       "2 per multiply-add of matrix products, convolutions and attention in one step; everything "
       "else is in elementwise_flops."},
      {"weight_read_bytes",
       "What one step must read: gathered rows and chosen experts only. A weight behind "
       "DequantizeLinear, Cast or Transpose is read as it is stored, by a fused kernel; "
       "--as-exported counts it dequantized by nodes of their own. Of a mixture's experts those "
       "that independent tokens are expected to meet."},
      {"kv_read_bytes",
       "What attention and recurrences read of the past; a recurrent state is read whole."},
      {"kv_write_bytes", "The tokens of this step, and recurrent states whole."},
      {"elementwise_flops",
       "One per output element; a softmax 5, a layer norm 7, an RMS norm 4, gelu 5, a reduction "
       "one per input element; moving data none."},
  };
  const EstimateOptions& policies = document.policies;
  if (policies.scores_written) {
    all.emplace_back("attention_scores",
                     "Written out: the scores of all heads and their softmax are alive together in "
                     "the activation peak; fused unless asked for.");
  }
  if (policies.weights_dequantized) {
    all.emplace_back("quantized_weights",
                     "Dequantized before they are used, one matrix at a time, in the activation "
                     "peak; in the kernel that reads them unless asked for.");
  }
  if (policies.prefill_in_chunks) {
    all.emplace_back("prefill",
                     "In chunks: the activation peak is that of prefill_chunk_length tokens; work "
                     "and bytes moved are those of the whole prefill, its weights read once.");
  }
  int number = 0;
  for (const std::string& sentence : document.model.conventions) {
    all.emplace_back("model_" + std::to_string(++number), sentence);
  }
  return all;
}

}  // namespace kcharter
