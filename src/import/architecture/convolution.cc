#include "import/architecture/convolution.h"

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

std::vector<Attribute> window_attributes(const Convolution& part) {
  if (part.kernel < 1 || part.stride < 1 || part.groups < 1 || part.in % part.groups != 0) {
    throw Error("convolution '" + part.name + "': kernel, stride or groups are out of range");
  }
  int64_t before = part.pad_end_only ? 0 : part.padding;
  return {attribute("group", part.groups),
          attribute("kernel_shape", std::vector<int64_t>{part.kernel, part.kernel}),
          attribute("pads", std::vector<int64_t>{before, before, part.padding, part.padding}),
          attribute("strides", std::vector<int64_t>{part.stride, part.stride})};
}

}  // namespace

ValueId convolve(GraphBuilder& builder, ValueId x, const Convolution& part) {
  auto scope = builder.scope(part.name);
  std::vector<Attribute> attributes = window_attributes(part);
  std::vector<ValueId> inputs = {
      x, builder.parameter("weight", {part.out, part.in / part.groups, part.kernel, part.kernel})};
  if (part.bias) inputs.push_back(builder.parameter("bias", {part.out}));
  return builder.op("Conv", std::move(inputs), std::move(attributes));
}

ValueId convolve_transposed(GraphBuilder& builder, ValueId x, const Convolution& part) {
  auto scope = builder.scope(part.name);
  std::vector<Attribute> attributes = window_attributes(part);
  std::vector<ValueId> inputs = {
      x, builder.parameter("weight", {part.in, part.out / part.groups, part.kernel, part.kernel})};
  if (part.bias) inputs.push_back(builder.parameter("bias", {part.out}));
  return builder.op("ConvTranspose", std::move(inputs), std::move(attributes));
}

ValueId normalize_grid(GraphBuilder& builder, ValueId x, std::string_view name, int64_t channels,
                       int64_t groups, double epsilon) {
  auto scope = builder.scope(name);
  std::vector<ValueId> inputs = {x, builder.parameter("weight", {channels}),
                                 builder.parameter("bias", {channels})};
  return builder.op("GroupNormalization", std::move(inputs),
                    {attribute("num_groups", groups), attribute("epsilon", epsilon)});
}

ValueId normalize_points(GraphBuilder& builder, ValueId x, std::string_view name,
                         int64_t channels) {
  auto scope = builder.scope(name);
  return builder.ours(
      "LayerNormalization",
      {x, builder.parameter("weight", {channels}), builder.parameter("bias", {channels})},
      {attribute("axis", int64_t{1})});
}

ValueId upsample(GraphBuilder& builder, ValueId x, int64_t factor) {
  return builder.ours("Upsample", {x}, {attribute("factor", factor)});
}

ValueId upsample_like(GraphBuilder& builder, ValueId x, ValueId grid) {
  return builder.ours("UpsampleLike", {x, grid});
}

ValueId grid_to_tokens(GraphBuilder& builder, ValueId grid) {
  return builder.ours("GridToTokens", {grid});
}

ValueId tokens_to_grid(GraphBuilder& builder, ValueId tokens, ValueId grid) {
  return builder.ours("TokensToGrid", {tokens, grid});
}

ImageSize free_image_size(GraphBuilder& builder, int64_t size) {
  return {builder.variable("height", "Height of the image in pixels", size),
          builder.variable("width", "Width of the image in pixels", size)};
}

}  // namespace kcharter
