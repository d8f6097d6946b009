// The `parallel` member of a document.

#include "report/document_members.h"
#include "report/summary.h"

namespace kcharter {
namespace {

constexpr std::string_view kAssumptions[] = {
    "Whole sequences are spread over replicas, one micro-batch at a time over pipeline stages; "
    "tokens "
    "of one sequence are on one replica.",
    "Matrices are split by columns where the parts can be used as they are, else by rows, followed "
    "by "
    "an all-reduce; norms, routers, position tables and what no rule splits are whole on each "
    "device.",
    "A latent that all heads share is whole on each device; heads of keys and values that are "
    "fewer "
    "than the devices are held by several.",
    "Routing is balanced: each device of an expert group computes an even share of the tokens.",
    "Ring algorithms: an all-reduce sends 2(p-1)/p of a value, an all-gather and an all-to-all "
    "(p-1)/p.",
    "Tensors that no operator of this step reads lie like those that are named and sized alike, on "
    "the "
    "last stage.",
};

void write_weights(const ParallelEstimate& parallel, JsonWriter& json) {
  json.begin_array();
  for (const WeightSplit& split : parallel.weights) {
    json.line().begin_object().key("by");
    split.by.empty() ? json.null() : json.text(split.by);
    json.key("of");
    split.of.empty() ? json.null() : json.text(split.of);
    json.key("units").integer(split.units).key("bytes").integer(split.bytes);
    json.key("tensors").integer(split.tensors).key("example").text(split.example).end_object();
  }
  json.end_array();
}

void write_communication(const Document& document, JsonWriter& json) {
  json.begin_array();
  for (const Communication& all : document.estimate.parallel.communication) {
    json.line().begin_object().key("operation").text(name(all.operation)).key("bytes");
    write_spelled(all.bytes, value_of(all.bytes, document.values), json);
    json.key("calls");
    write_spelled(all.calls, value_of(all.calls, document.values), json);
    json.end_object();
  }
  json.end_array();
}

void write_conditions(const ParallelEstimate& parallel, JsonWriter& json) {
  json.begin_array();
  for (const SplitCondition& condition : parallel.conditions) {
    json.line().begin_object().key("code").text(condition.code);
    json.key("subject").text(condition.subject).key("message").text(condition.message);
    json.key("formula").text(condition.violation.to_string()).end_object();
  }
  json.end_array();
}

}  // namespace

void write_parallel(const Document& document, JsonWriter& json) {
  const ParallelEstimate& parallel = document.estimate.parallel;
  json.begin_object().key("devices").text(parallel.devices.to_string());
  json.key("layers").integer(parallel.layers).line().key("summary");
  write_entries(summarize_device(document), json);
  json.line().key("communication");
  write_communication(document, json);
  json.line().key("weights");
  write_weights(parallel, json);
  json.line().key("conditions");
  write_conditions(parallel, json);
  json.line().key("assumptions").begin_array();
  for (const std::string_view sentence : kAssumptions) json.line().text(sentence);
  json.end_array().end_object();
}

}  // namespace kcharter
