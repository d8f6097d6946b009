// Formulas as the program works them out, for the test that the page gives the same
// (web/test/program/parity.test.ts). A line of standard input is
//
//   {"formulas": ["2*batch_size", …], "settings": [{"batch_size": "4"}, …]}
//
// and gives a line with a list of values for each setting: decimal strings, null where there is none.
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/base/error.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

Json value_of(const std::optional<Expr>& formula, const Bindings& values) {
  try {
    return formula ? Json(to_string(formula->evaluate(values))) : Json();
  } catch (const ArithmeticError&) {
    return Json();
  }
}

Json answer(const Json& question) {
  std::vector<std::optional<Expr>> formulas;
  for (const Json& text : question.at("formulas")) {
    try {
      formulas.emplace_back(Expr::parse(text.get<std::string>()));
    } catch (const Error&) {
      formulas.emplace_back(std::nullopt);
    }
  }
  Json lists = Json::array();
  for (const Json& setting : question.at("settings")) {
    Bindings values;
    for (const auto& [name, value] : setting.items()) {
      values[name] = parse_int(value.get<std::string>());
    }
    Json list = Json::array();
    for (const auto& formula : formulas) list.push_back(value_of(formula, values));
    lists.push_back(std::move(list));
  }
  return lists;
}

}  // namespace
}  // namespace kcharter

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << kcharter::answer(nlohmann::json::parse(line)).dump() << '\n';
  }
}
