#include "report/generation_figures.h"

#include <fmt/format.h>

#include "kcharter/report/amounts.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

// nullopt: a formula has no value at these lengths.
std::optional<Generation> generation_of(const Document& prefill, const Document& decode,
                                        const OnDevice& asked) {
  try {
    return generation_on({prefill.model, prefill.tree, prefill.estimate},
                         {decode.model, decode.tree, decode.estimate}, decode.values,
                         *asked.request, *asked.device);
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

int64_t batch_of(const Document& document) {
  return to_int64(document.values.find(kBatchSize)->second);
}

std::string money_text(double amount) { return fmt::format("{:.{}g}", amount, 3); }

void write_times(const GenerationTime& time, const Document& document, const OnDevice& asked,
                 JsonWriter& json) {
  json.begin_object().key("first_token_seconds").real(time.first_token);
  json.key("seconds_per_token").real(time.per_token).key("sequence_seconds").real(time.sequence);
  json.key("tokens_per_second").real(time.tokens_per_second);
  if (asked.price_per_hour) {
    json.key("cost_per_sequence");
    json.real(cost_of_sequence(time, batch_of(document), *asked.price_per_hour));
  }
  json.end_object();
}

}  // namespace

bool is_pair(const Document& prefill, const Document& decode) {
  return prefill.model.mode == Mode::kPrefill && decode.model.mode == Mode::kDecode &&
         prefill.model.name == decode.model.name;
}

std::string generation_section(const Document& prefill, const Document& decode,
                               const OnDevice& asked, size_t width) {
  const auto answer = generation_of(prefill, decode, asked);
  TextTable table(1);
  table.add({fmt::format("{} tokens after {}", grouped_digits(asked.request->tokens),
                         grouped_digits(asked.request->prompt)),
             "estimate", "from", "to", "never below"});
  const auto row = [&](const char* label, auto text) {
    std::vector<std::string> cells = {label};
    if (!answer) cells.emplace_back("unknown");
    if (answer) {
      for (const GenerationTime* time :
           {&answer->estimate, &answer->low, &answer->high, &answer->bound}) {
        cells.push_back((answer->complete ? "" : "≥ ") + text(*time));
      }
    }
    table.add(std::move(cells));
  };
  row("Time to first token", [](const GenerationTime& t) { return seconds_text(t.first_token); });
  row("Time per output token", [](const GenerationTime& t) { return seconds_text(t.per_token); });
  row("Time of a sequence", [](const GenerationTime& t) { return seconds_text(t.sequence); });
  if (asked.price_per_hour) {
    row("Cost of a sequence", [&](const GenerationTime& t) {
      return money_text(cost_of_sequence(t, batch_of(decode), *asked.price_per_hour));
    });
  }
  if (answer && answer->complete) {
    const GenerationTime& fast = answer->low;
    const auto rate = [](const GenerationTime& t) {
      return count_text(static_cast<Int>(t.tokens_per_second + 0.5));
    };
    table.add({"Tokens per second", rate(answer->estimate), rate(answer->high), rate(fast),
               "≤ " + rate(answer->bound)});
  }
  return "\n" + table.to_string(width);
}

void write_generation(const Document& prefill, const Document& decode, const OnDevice& asked,
                      JsonWriter& json) {
  const auto answer = generation_of(prefill, decode, asked);
  json.begin_object().key("prompt").integer(asked.request->prompt);
  json.key("output_tokens").integer(asked.request->tokens);
  json.key("price_per_hour");
  asked.price_per_hour ? json.real(*asked.price_per_hour) : json.null();
  json.key("complete").boolean(answer && answer->complete);
  const auto part = [&](const char* name, GenerationTime Generation::*time) {
    json.key(name);
    answer ? write_times((*answer).*time, decode, asked, json) : void(json.null());
  };
  part("estimate", &Generation::estimate);
  part("low", &Generation::low);
  part("high", &Generation::high);
  part("bound", &Generation::bound);
  json.end_object();
}

}  // namespace kcharter
