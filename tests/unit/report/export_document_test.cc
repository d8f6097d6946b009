#include "kcharter/report/export_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kcharter/analyze/analyze.h"
#include "kcharter/base/error.h"
#include "kcharter/estimate/time.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class ExportDocument : public testing::Test {
 protected:
  ExportDocument() : device_(*find_device("h100-sxm")) {
    AnalyzeOptions options;
    options.import.mode = Mode::kDecode;
    documents_ = analyze("models/samples/decoder.onnxtxt", options);
  }

  const Document& document() const { return documents_.front(); }
  Json exported(ExportFormat format, const Bindings& set = {}) const {
    return Json::parse(export_document(to_json(document()), format, device_, set));
  }
  ModelTime time() const {
    return time_on(document().model, document().tree, document().estimate, document().values,
                   device_);
  }

  const Device& device_;
  std::vector<Document> documents_;
};

TEST_F(ExportDocument, ATraceLastsAsLongAsTheEstimateAndNestsProperly) {
  double end = 0, operators = 0;
  std::vector<Json> modules, slices;
  const Json trace = exported(ExportFormat::kPerfetto);
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    if (event["cat"] == "operator") operators += event["dur"].get<double>();
    slices.push_back(event);
    if (event["cat"] == "module") modules.push_back(event);
  }
  EXPECT_NEAR(end, time().estimate.total * 1e6, 0.5);
  EXPECT_NEAR(operators, end, 0.5);
  for (const Json& outer : modules) {
    const double begin = outer["ts"], until = begin + outer["dur"].get<double>();
    for (const Json& inner : slices) {
      const double a = inner["ts"], b = a + inner["dur"].get<double>();
      const bool apart = b <= begin + 1e-6 || a >= until - 1e-6;
      const bool within = a >= begin - 1e-6 && b <= until + 1e-6;
      const bool around = a <= begin + 1e-6 && b >= until - 1e-6;
      EXPECT_TRUE(apart || within || around) << outer << inner;
    }
  }
}

TEST_F(ExportDocument, AnAttachmentNamesEveryNodeOfTheFile) {
  std::map<std::string, double> microseconds;
  const Json attachment = exported(ExportFormat::kNetron);
  for (const Json& item : attachment["metrics"]) {
    if (item["kind"] == "node" && item["name"] == "time (µs)") {
      microseconds[item["target"]] += item["value"].get<double>();
    }
  }
  std::set<std::string> names;
  for (const Node& node : document().model.graph.nodes) names.insert(node.name);
  double total = 0;
  for (const auto& [name, value] : microseconds) {
    EXPECT_TRUE(names.contains(name)) << name;
    total += value;
  }
  EXPECT_EQ(microseconds.size(), names.size());
  EXPECT_NEAR(total, time().estimate.total * 1e6, 0.5);
}

TEST_F(ExportDocument, NodeDataHasAValueOfTheGraphForEveryKey) {
  const Json results = exported(ExportFormat::kModelExplorer)["main_graph"]["results"];
  std::set<std::string> values;
  for (const Value& value : document().model.graph.values) values.insert(value.name);
  EXPECT_EQ(results.size(), document().model.graph.nodes.size());
  for (const auto& [key, result] : results.items()) {
    EXPECT_TRUE(values.contains(key)) << key;
    EXPECT_TRUE(result["value"].is_number());
  }
}

TEST_F(ExportDocument, ASettingChangesTheNumbers) {
  EXPECT_NE(exported(ExportFormat::kNetron), exported(ExportFormat::kNetron, {{"batch_size", 64}}));
}

TEST_F(ExportDocument, RefusesWhatItCannotExport) {
  const std::string text = to_json(document());
  const auto error_of = [&](const std::string& json, const Bindings& set) -> std::string {
    try {
      export_document(json, ExportFormat::kNetron, device_, set);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of(text, {{"height", 3}}), HasSubstr("batch_size, current_length"));
  EXPECT_THAT(error_of("{}", {}), HasSubstr("no document"));
  EXPECT_THAT(error_of(text.substr(0, text.size() / 2), {}), HasSubstr("no document"));
}

}  // namespace
}  // namespace kcharter
