// A Chrome trace (JSON, "complete" events in microseconds), which Perfetto opens: one track,
// modules as slices around the slices of their nodes, in the order of execution, one after the
// other as the estimate adds them up.
#include <cmath>

#include "report/export_formats.h"
#include "report/json_writer.h"

namespace kcharter {
namespace {

// With more, the instances of a fold are one slice each of all of them, and it says so.
constexpr double kMostSlices = 400'000;
constexpr Metric kCosts[] = {
    Metric::kFlops,        Metric::kWeightReadBytes,     Metric::kKvReadBytes,
    Metric::kKvWriteBytes, Metric::kActivationReadBytes, Metric::kActivationWriteBytes};

class Trace {
 public:
  explicit Trace(const PricedDocument& document) : document_(document) {
    std::vector<double> times;  // that each module runs; parents stand before their children
    double slices = 0;
    for (const PricedModule& module : document.modules) {
      const double above = module.parent ? times[*module.parent] : 1;
      times.push_back(above * static_cast<double>(module.repeat));
      slices += times.back() * static_cast<double>(1 + module.items.size());
    }
    unrolled_ = slices <= kMostSlices;
  }

  std::string write(const Device& device) {
    json_.begin_object().key("displayTimeUnit").text("ns").key("traceEvents").begin_array();
    metadata("process_name", document_.name + ", " + document_.mode + " on " + device.name);
    metadata("thread_name", "estimate of one step");
    run();
    return json_.end_array().end_object().take() + "\n";
  }

 private:
  // A module that is being walked; no recursion, since a document may nest as deep as it likes.
  struct Frame {
    size_t module;
    int64_t instance;
    size_t item;
    double begin;
  };

  void metadata(std::string_view what, const std::string& name) {
    json_.line().begin_object().key("ph").text("M").key("pid").integer(1).key("tid").integer(1);
    json_.key("name").text(what).key("args").begin_object().key("name").text(name);
    json_.end_object().end_object();
  }

  int64_t runs_of(const PricedModule& module) const { return unrolled_ ? module.repeat : 1; }

  void run() {
    std::vector<Frame> open = {{0, 0, 0, 0}};
    while (!open.empty()) {
      Frame& frame = open.back();
      const PricedModule& module = document_.modules[frame.module];
      if (frame.item < module.items.size()) {
        const auto [is_module, id] = module.items[frame.item++];
        if (is_module) {
          const bool is_child = document_.modules[id].parent == frame.module;
          if (is_child) open.push_back({id, 0, 0, now_});
        } else {
          write_node(document_.nodes[id]);
        }
        continue;
      }
      write_module(module, frame);
      frame = {frame.module, frame.instance + 1, 0, now_};
      if (frame.instance >= runs_of(module)) open.pop_back();
    }
  }

  JsonWriter& slice(const std::string& name, std::string_view category, double begin, double end) {
    json_.line().begin_object().key("ph").text("X").key("pid").integer(1).key("tid").integer(1);
    json_.key("name").text(name).key("cat").text(category);
    json_.key("ts").real(std::round(begin * 1e9) / 1e3);
    json_.key("dur").real(std::round(end * 1e9) / 1e3 - std::round(begin * 1e9) / 1e3);
    return json_.key("args").begin_object();
  }

  void write_module(const PricedModule& module, const Frame& frame) {
    if (now_ <= frame.begin) return;
    const auto instance = static_cast<size_t>(frame.instance);
    const bool is_named = instance < module.instances.size() && unrolled_;
    std::string name = is_named ? module.instances[instance] : module.name;
    if (name.empty()) name = module.parent ? module.path : document_.name;
    if (!unrolled_ && module.repeat > 1) name += " × " + std::to_string(module.repeat);
    slice(name, "module", frame.begin, now_).key("path").text(module.path);
    json_.end_object().end_object();
  }

  void write_node(const PricedNode& node) {
    const double count = unrolled_ ? static_cast<double>(node.multiplicity) : 1;
    const double seconds = node.time.total / count;
    if (seconds <= 0) return;  // a view, or folded at load
    slice(node.op_type, "operator", now_, now_ + seconds).key("node").text(node.name);
    json_.key("bound by").text(name(node.time.by));
    for (const Metric metric : kCosts) {
      const std::optional<Int>& cost = node.costs[static_cast<size_t>(metric)];
      if (cost == Int{0}) continue;
      json_.key(name(metric));
      cost ? json_.integer(*cost / static_cast<Int>(count)) : json_.text("unknown");
    }
    json_.end_object().end_object();
    now_ += seconds;
  }

  const PricedDocument& document_;
  JsonWriter json_;
  bool unrolled_ = true;
  double now_ = 0;  // seconds
};

}  // namespace

std::string perfetto_trace(const PricedDocument& document, const Device& device) {
  return Trace(document).write(device);
}

}  // namespace kcharter
