#include "kcharter/overlay/overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kcharter/analyze/analyze.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Overlay join(const std::string& document, const std::string& profile) {
  return overlay(document, profile, "profile.json");
}

// 32 equal layers folded into one stage.
const std::string& llama() {
  static const std::string document = [] {
    AnalyzeOptions options;
    options.import.mode = Mode::kDecode;
    return to_json(analyze("models/configs/llama-3-8b", options).front());
  }();
  return document;
}

json kernel(const std::string& name, const std::string& op_type, int start, int duration) {
  return {{"cat", "Node"}, {"ph", "X"}, {"tid", 1}, {"ts", start}, {"dur", duration}, {"name", name + "_kernel_time"},
          {"args", {{"op_name", op_type}, {"provider", "CPUExecutionProvider"}}}};
}

json run(int start, int duration) {
  return {{"cat", "Session"}, {"ph", "X"}, {"tid", 1}, {"ts", start}, {"dur", duration}, {"name", "model_run"}};
}

std::string first_matmul_of_a_layer() {
  const json document = json::parse(llama());
  for (const json& node : document["nodes"]) {
    if (node["op_type"] == "MatMul" && node["multiplicity"] == 32) return node["name"];
  }
  return "";
}

std::string in_layer(std::string name, int layer) {
  return name.replace(name.find("layers.0"), 8, "layers." + std::to_string(layer));
}

TEST(Overlay, EveryInstanceOfAFoldedNodeIsFound) {
  const std::string name = first_matmul_of_a_layer();
  json events = json::array({run(0, 1000)});
  for (int layer = 0; layer < 32; ++layer) events.push_back(kernel(in_layer(name, layer), "MatMul", layer * 20, 10));
  events.push_back(kernel("/elsewhere/Foo", "Foo", 900, 80));
  const Overlay measured = join(llama(), events.dump());
  EXPECT_DOUBLE_EQ(measured.step_microseconds, 400);
  EXPECT_DOUBLE_EQ(measured.share(JoinedBy::kName), 0.8);
  EXPECT_DOUBLE_EQ(measured.modules.front(), 320);
  ASSERT_EQ(measured.unjoined.size(), 1u);
  EXPECT_EQ(measured.unjoined.front().name, "/elsewhere/Foo");
  EXPECT_THAT(validate_document(measured.document), testing::IsEmpty());
  EXPECT_EQ(json::parse(measured.document)["measured"]["nodes"].size(), 1u);
}

TEST(Overlay, TheFirstRunIsWarmUpAndBodiesCountOnce) {
  const std::string name = first_matmul_of_a_layer();
  const json events = {run(0, 100), kernel(name, "MatMul", 10, 90), run(200, 100), kernel(name, "MatMul", 210, 30),
                       kernel(in_layer(name, 1), "MatMul", 220, 10), run(400, 100), kernel(name, "MatMul", 410, 50)};
  const Overlay measured = join(llama(), events.dump());
  EXPECT_EQ(measured.steps, 2);
  EXPECT_DOUBLE_EQ(measured.step_microseconds, (30 + 50) / 2.0);  // the 10 lie within the 30
}

TEST(Overlay, TracesAreJoinedByModule) {
  const auto event = [](const char* category, const std::string& name, int start, int duration, json args) {
    return json{{"ph", "X"}, {"cat", category}, {"name", name}, {"pid", 1}, {"tid", 1}, {"ts", start},
                {"dur", duration}, {"args", std::move(args)}};
  };
  json gpu = event("kernel", "gemm", 500, 40, {{"correlation", 7}});
  gpu["tid"] = 99;
  const json trace = {{"traceEvents",
                       {event("user_annotation", "model.layers.5.mlp", 0, 100, json::object()),
                        event("cpu_op", "aten::mm", 10, 50, json::object()),
                        event("cuda_runtime", "cudaLaunchKernel", 20, 5, {{"correlation", 7}}), gpu}}};
  const Overlay measured = join(llama(), trace.dump());
  EXPECT_DOUBLE_EQ(measured.step_microseconds, 40);
  EXPECT_DOUBLE_EQ(measured.share(JoinedBy::kModule), 1);
  ASSERT_FALSE(measured.slowest_modules.empty());
  EXPECT_DOUBLE_EQ(measured.modules.front(), 40);
}

TEST(Overlay, WhatIsNoProfileIsRefused) {
  const auto refused = [&](const std::string& text, const char* reason) {
    EXPECT_THAT([&] { join(llama(), text); }, testing::ThrowsMessage<Error>(HasSubstr(reason))) << text;
  };
  refused("", "is no profile");
  refused("{}", "is no profile");
  refused("[1, \"a\", {}]", "no operator was measured");
  refused(std::string(100000, '['), "is no profile");
  EXPECT_THAT([&] { join("{}", "[]"); }, testing::ThrowsMessage<Error>(HasSubstr("is not a document")));
}

TEST(Overlay, AProfileCutShortIsRead) {
  std::string text = json::array({run(0, 9), kernel(first_matmul_of_a_layer(), "MatMul", 1, 5)}).dump();
  text.pop_back();
  EXPECT_DOUBLE_EQ(join(llama(), text + ",\n").step_microseconds, 5);
}

}  // namespace
}  // namespace kcharter
