#include "import/architecture/components.h"

#include "kcharter/base/error.h"

namespace kcharter {

namespace {

ValueId multiply(GraphBuilder& builder, ValueId x, const Linear& part, const std::vector<ValueId>& weight,
                 bool quantized) {
  std::vector<ValueId> inputs = {x};
  inputs.insert(inputs.end(), weight.begin(), weight.end());
  ValueId result = quantized ? builder.ours("QuantizedMatMul", std::move(inputs),
                                            {attribute("in", part.in), attribute("out", part.out)})
                             : builder.op("MatMul", std::move(inputs));
  if (part.bias) result = builder.op("Add", {result, builder.parameter("bias", {part.out})});
  return result;
}

}  // namespace

ValueId linear(GraphBuilder& builder, ValueId x, const Linear& part) {
  auto scope = builder.scope(part.name);
  GraphBuilder::Matrix weight = builder.matrix(part.in, part.out, part.stored_in_out);
  return multiply(builder, x, part, weight.parts, weight.quantized);
}

ValueId tied_linear(GraphBuilder& builder, ValueId x, const Linear& part,
                    const std::vector<ValueId>& table) {
  auto scope = builder.scope(part.name);
  if (table.size() > 1) return multiply(builder, x, part, table, true);
  return multiply(builder, x, part, {builder.alias("weight", table[0], {part.in, part.out})}, false);
}

ValueId normalize(GraphBuilder& builder, ValueId x, std::string_view name, int64_t size,
                  const Norm& norm) {
  if (norm.kind == NormKind::kNone || name.empty()) return x;
  auto scope = builder.scope(name);
  std::vector<ValueId> inputs = {x};
  if (norm.weight) inputs.push_back(builder.parameter("weight", {size}, {}, norm.dtype));
  std::vector<Attribute> attributes = {attribute("axis", int64_t{-1}),
                                       attribute("epsilon", norm.epsilon)};
  if (!norm.weight) {  // ONNX's operators want a scale
    return builder.ours(norm.kind == NormKind::kRms ? "RMSNormalization" : "LayerNormalization",
                        inputs, std::move(attributes));
  }
  if (norm.kind == NormKind::kRms) {
    return builder.op("RMSNormalization", inputs, std::move(attributes));
  }
  if (norm.bias) inputs.push_back(builder.parameter("bias", {size}, {}, norm.dtype));
  return builder.op("LayerNormalization", inputs, std::move(attributes));
}

Embedded embed(GraphBuilder& builder, std::string_view name, int64_t rows, int64_t size, ValueId ids) {
  auto scope = builder.scope(name);
  if (builder.options().quantization.embeddings) {
    GraphBuilder::Matrix table = builder.matrix(size, rows);
    if (table.quantized) {
      std::vector<ValueId> inputs = {ids};
      inputs.insert(inputs.end(), table.parts.begin(), table.parts.end());
      ValueId found = builder.ours("QuantizedGather", std::move(inputs), {attribute("rows", rows), attribute("size", size)});
      return {found, table.parts};
    }
    return {builder.op("Gather", {table.parts[0], ids}, {attribute("axis", int64_t{0})}), table.parts};
  }
  ValueId table = builder.parameter("weight", {rows, size});
  return {builder.op("Gather", {table, ids}, {attribute("axis", int64_t{0})}), {table}};
}

ValueId scale(GraphBuilder& builder, ValueId x, double factor) {
  if (factor == 1.0) return x;
  return builder.ours("Scale", {x}, {attribute("factor", factor)});
}

ValueId activate(GraphBuilder& builder, ValueId x, std::string_view function) {
  if (function == "silu" || function == "swish") return builder.op("Swish", {x});
  if (function == "gelu" || function == "gelu_python") return builder.op("Gelu", {x});
  if (function == "gelu_new" || function == "gelu_fast" || function == "gelu_pytorch_tanh" ||
      function == "gelu_tanh" || function == "gelu_accurate") {
    return builder.op("Gelu", {x}, {attribute("approximate", std::string("tanh"))});
  }
  if (function == "relu") return builder.op("Relu", {x});
  if (function == "tanh") return builder.op("Tanh", {x});
  if (function == "sigmoid") return builder.op("Sigmoid", {x});
  if (function == "relu2") {
    ValueId positive = builder.op("Relu", {x});
    return builder.op("Mul", {positive, positive});
  }
  if (function == "quick_gelu") {
    return builder.op("Mul", {x, builder.op("Sigmoid", {scale(builder, x, 1.702)})});
  }
  throw Error("activation '" + std::string(function) + "' is not known");
}

ValueId FeedForward::operator()(GraphBuilder& builder, ValueId x, int64_t /*layer*/) const {
  auto scope = builder.scope(name, class_name);
  auto matrix = [&](const std::string& part, int64_t in, int64_t out, bool bias) {
    return Linear{part, in, out, bias, stored_in_out};
  };
  ValueId inner;
  if (fused) {
    ValueId both = linear(builder, x, matrix(up, hidden_size, 2 * intermediate_size, up_bias));
    std::vector<ValueId> halves = builder.split(both, {intermediate_size, intermediate_size});
    inner = builder.op("Mul", {activate(builder, halves[0], activation), halves[1]});
  } else if (!gate.empty()) {
    ValueId gated = linear(builder, x, matrix(gate, hidden_size, intermediate_size, up_bias));
    ValueId raised = linear(builder, x, matrix(up, hidden_size, intermediate_size, up_bias));
    inner = builder.op("Mul", {activate(builder, gated, activation), raised});
  } else {
    ValueId raised = linear(builder, x, matrix(up, hidden_size, intermediate_size, up_bias));
    inner = activate(builder, raised, activation);
  }
  return linear(builder, inner, matrix(down, intermediate_size, hidden_size, down_bias));
}

}  // namespace kcharter
