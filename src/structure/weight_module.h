// weight_module: which module a tensor's name says it belongs to.
//
//   "model.layers.0.self_attn.q_proj.weight"                  model, layers, 0, self_attn, q_proj
//   "model.layers.0.attn.qkv_proj.MatMul.weight_Q4"           model, layers, 0, attn, qkv_proj
//   "/model/layers.0/mlp/Constant_output_0"                   model, layers.0, mlp
//   "model/conv2d_9/Conv2D_weights_fused_bn:0"                model, conv2d_9
//   "onnx::MatMul_731", "446", "weight"                       nothing
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

// Empty: the name says nothing. `reader_op` is the operator that reads the tensor, "" if none: the
// onnxruntime-genai builder names the operator between module and tensor.
std::vector<std::string> weight_module(std::string_view name, std::string_view reader_op);

// Which module the name of a value says that it was made in.
//
//   "/encoder/layer.0/attention/self/Reshape_3_output_0"   encoder, layer.0, attention, self;
//   certain "v_model.layers.0.mlp.CastLike_55"                     model, layers, 0, mlp
//   "model.layers.0.mlp.add", "446"                        model, layers, 0, mlp; nothing
struct ValueModule {
  std::vector<std::string> segments;
  bool is_certain = false;  // a path even if no other name repeats it
};
ValueModule value_module(std::string_view name);

}  // namespace kcharter
