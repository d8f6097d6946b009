// Data movement. Views move nothing. Gathers read the rows they fetch, not the table; scatters
// write the updates, not the tensor. Slice, Split, Concat, Transpose, Pad, Expand and Tile move
// what they read and write.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// Inputs data, indices, updates, output the updated data: `updates` is the input that is written.
template <size_t kUpdates>
Work scatter_work(const Graph& graph, const Node& node) {
  Dim updates = input_elements(graph, node, kUpdates);
  bool adds = string_attribute(node, "reduction", "none") != "none";
  Work work{.elementwise_flops = adds ? updates : Dim(Expr(0))};
  work.read_elements = {adds ? updates : Dim(Expr(0))};
  work.written_elements = {updates};
  return work;
}

Work only_writes(const Graph&, const Node&) { return {.read_elements = {Expr(0)}}; }

// Reads the k best of each row after one comparison an element.
Work top_k_work(const Graph& graph, const Node& node) {
  return {.elementwise_flops = input_elements(graph, node, 0)};
}

}  // namespace

OperatorFamily movement_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Reshape", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "Squeeze", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "Unsqueeze", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "Flatten", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "Identity", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "Dropout", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "BitCast", {.is_view = true, .is_weight_transform = true}},
      {kOnnx, "Optional", {.is_view = true}},
      {kOnnx, "OptionalGetElement", {.is_view = true}},
      {kOnnx, "SequenceAt", {.is_view = true}},
      {kOnnx, "SequenceConstruct", {.is_view = true}},
      {kOnnx, "SequenceInsert", {.is_view = true}},
      {kOnnx, "SequenceErase", {.is_view = true}},
      {kOnnx, "SequenceEmpty", {.is_view = true}},
      {kOnnx, "Shape", {.is_shape_arithmetic = true}},
      {kOnnx, "Size", {.is_shape_arithmetic = true}},
      {kOnnx, "SequenceLength", {.is_shape_arithmetic = true}},
      {kOnnx, "OptionalHasElement", {.is_shape_arithmetic = true}},
      {kOnnx, "Transpose", {.is_weight_transform = true, .work = moves_data}},
      {kOnnx, "Concat", {.work = moves_data}},
      {kOnnx, "Split", {.work = moves_data}},
      {kOnnx, "Pad", {.work = moves_data}},
      {kOnnx, "Expand", {.work = moves_data}},
      {kOnnx, "Tile", {.work = moves_data}},
      {kOnnx, "Cast", {.is_weight_transform = true, .work = moves_data}},
      {kOnnx, "CastLike", {.is_weight_transform = true, .work = moves_data}},
      {kOnnx, "DepthToSpace", {.work = moves_data}},
      {kOnnx, "SpaceToDepth", {.work = moves_data}},
      {kOnnx, "ReverseSequence", {.work = moves_data}},
      {kOnnx, "Trilu", {.work = moves_data}},
      {kOnnx, "SplitToSequence", {.work = moves_data}},
      {kOnnx, "ConcatFromSequence", {.work = moves_data}},
      {kOnnx, "Constant", {.work = moves_data}},
      {kOnnx, "Col2Im", {.work = moves_data}},
      {kOnnx, "CenterCropPad", {.work = moves_data}},
      {kOnnx, "ImageDecoder", {.work = moves_data}},
      {kOnnx, "Crop", {.work = moves_data}},
      {kOnnx, "Slice", {.work = reads_what_it_writes}},
      {kOnnx, "Gather", {.work = reads_what_it_writes}},
      {kOnnx, "GatherElements", {.work = reads_what_it_writes}},
      {kOnnx, "GatherND", {.work = reads_what_it_writes}},
      {kOnnx, "Compress", {.work = reads_what_it_writes}},
      {kOnnx, "ConstantOfShape", {.work = only_writes}},
      {kOnnx, "EyeLike", {.work = only_writes}},
      {kOnnx, "Scatter", {.work = scatter_work<2>}},
      {kOnnx, "ScatterElements", {.work = scatter_work<2>}},
      {kOnnx, "ScatterND", {.work = scatter_work<2>}},
      {kOnnx, "TensorScatter", {.work = scatter_work<1>}},
      {kOnnx, "OneHot", {.work = only_writes}},
      {kOnnx, "Range", {.work = per_output_element<1>}},
      {kOnnx, "NonZero", {.work = per_input_element<1>}},
      {kOnnx, "Unique", {.work = per_input_element<1>}},
      {kOnnx, "TopK", {.work = top_k_work}},
      {kMicrosoft, "ExpandDims", {.is_view = true}},
      {kMicrosoft, "ConcatTraining", {.work = moves_data}},
      {kMicrosoft, "DynamicSlice", {.work = moves_data}},
      {kMicrosoft, "Pad", {.work = moves_data}},
      {kMicrosoft, "Unfold", {.work = moves_data}},
      {kMicrosoft, "CropAndResize", {.work = moves_data}},
      {kMicrosoft, "Trilu", {.work = moves_data}},
      {kMicrosoft, "RemovePadding", {.work = moves_data}},
      {kMicrosoft, "RestorePadding", {.work = moves_data}},
      {kMicrosoft, "TransposeBSHToBHS", {.work = moves_data}},
      {kMicrosoft, "UnfoldTensor", {.work = moves_data}},
      {kMicrosoft, "PadAndUnflatten", {.work = moves_data}},
      {kMicrosoft, "SplitTraining", {.work = moves_data}},
      {kMicrosoft, "SampleOp", {.work = moves_data}},
      {kMicrosoft, "PassThrough", {.is_view = true}},
      {kMicrosoft, "TorchEmbedding", {.work = reads_what_it_writes}},
      {kMicrosoft, "ShrunkenGather", {.work = reads_what_it_writes}},
      {kMicrosoft, "GatherND", {.work = reads_what_it_writes}},
      {kMicrosoft, "Tokenizer", {.work = reads_what_it_writes}},
      {kMicrosoft, "Unique", {.work = per_input_element<1>}},
      {kMicrosoft, "WordConvEmbedding", {.work = per_input_element<1>}},
      {kMicrosoft, "MaxpoolWithMask", {.work = per_input_element<1>}},
      {kMicrosoftNchwc, "ReorderInput", {.work = moves_data}},
      {kMicrosoftNchwc, "ReorderOutput", {.work = moves_data}},
      {"org.pytorch.aten", "View", {.is_view = true}},
  };
  return kEntries;
}

}  // namespace kcharter
