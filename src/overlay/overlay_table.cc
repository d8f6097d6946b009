#include <fmt/format.h>

#include "kcharter/overlay/overlay.h"
#include "kcharter/report/amounts.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "—";
}

std::string time_text(double microseconds) { return seconds_text(microseconds / 1e6); }

std::string heading(const Overlay& overlay) {
  std::string settings;
  for (const auto& [variable, value] : overlay.variables) settings += "  " + variable + " " + to_string(value);
  std::string text = fmt::format("Measured by {}{}{}  ·  {} a step, mean of {}\n", overlay.format,
                                 overlay.provider.empty() ? "" : "  ·  ", overlay.provider,
                                 time_text(overlay.step_microseconds), overlay.steps);
  return settings.empty() ? text : text + "It ran at" + settings + "\n";
}

std::string joined_table(const Overlay& overlay, size_t width) {
  constexpr std::string_view kLabels[] = {"Joined by name", "Joined by the name before it was renamed",
                                          "Joined by what runs before it", "Joined to the module that ran",
                                          "Not joined"};
  TextTable table(1);
  for (size_t by = 0; by < kJoinKinds; ++by) {
    if (overlay.microseconds[by] == 0 && by > 0) continue;
    table.add({std::string(kLabels[by]), time_text(overlay.microseconds[by]),
               share_text(overlay.microseconds[by], overlay.step_microseconds)});
  }
  return table.to_string(width);
}

std::string parts_table(std::string_view title, const std::vector<MeasuredPart>& parts, double whole, size_t width) {
  TextTable table(2);
  table.add({std::string(title), "Kind", "Time", ""});
  for (const MeasuredPart& part : parts) {
    table.add({part.name.empty() ? part.path : part.name, part.kind, time_text(part.microseconds),
               share_text(part.microseconds, whole)});
  }
  return parts.empty() ? "" : "\n" + table.to_string(width);
}

}  // namespace

std::string overlay_table(const Overlay& overlay, size_t width) {
  constexpr size_t kMostListed = 10;
  const double whole = overlay.step_microseconds;
  std::string text = heading(overlay) + "\n" + joined_table(overlay, width);
  text += parts_table("Module", overlay.slowest_modules, whole, width);
  text += parts_table("Operator", overlay.slowest_nodes, whole, width);
  std::vector<MeasuredPart> unjoined;
  for (const UnjoinedTime& one : overlay.unjoined) {
    if (unjoined.size() < kMostListed) unjoined.push_back({one.name, "", one.op_type, one.microseconds});
  }
  text += parts_table("Not joined", unjoined, whole, width);
  if (overlay.contradictions.empty()) return text;
  TextTable table(1);
  table.add({"Sizes that contradict the document", "by formula", "measured"});
  for (size_t i = 0; i < std::min(kMostListed, overlay.contradictions.size()); ++i) {
    const Contradiction& one = overlay.contradictions[i];
    table.add({one.name, one.expected, one.measured});
  }
  return text + "\n" + table.to_string(width);
}

}  // namespace kcharter
