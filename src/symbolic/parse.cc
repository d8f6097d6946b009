// The reader of formulas: recursive descent over the grammar of schemas/README.md.

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

constexpr size_t kMaxLength = 1 << 20;
constexpr int kMaxNesting = 2 * static_cast<int>(kMaxDepth);

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expr whole() {
    if (text_.size() > kMaxLength) fail("is longer than " + std::to_string(kMaxLength));
    Expr result = sum();
    if (position_ < text_.size()) fail("an operator or the end is expected");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("formula '" + std::string(text_.substr(0, 64)) + (text_.size() > 64 ? "…'" : "'") +
                ", position " + std::to_string(position_) + ": " + what);
  }

  char peek() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++position_;
    return true;
  }

  // Terms are collected once at the end: adding them one by one takes quadratic time.
  Expr sum() {
    std::vector<Term> terms;
    bool negative = false;
    do {
      const Expr part = product();
      for (Term& term : terms_of(part)) {
        if (negative) term.coefficient = checked_sub(0, term.coefficient);
        terms.push_back(std::move(term));
      }
      if (terms.size() > Expr::kMaxTerms * 16) fail("has too many terms");
      const char next = peek();
      if (next != '+' && next != '-') break;
      negative = next == '-';
      ++position_;
    } while (true);
    return sum_of(std::move(terms));
  }

  Expr product() {
    Expr result = factor();
    while (take('*')) result *= factor();
    return result;
  }

  Expr factor() {
    bool negative = false;
    while (take('-')) negative = !negative;
    const char next = peek();
    Expr result;
    if (next >= '0' && next <= '9') {
      // With its sign, since the most negative number has no positive counterpart.
      return number(negative);
    } else if (next == '(') {
      result = parenthesized();
    } else {
      result = name_or_call();
    }
    return negative ? Expr(0) - result : result;
  }

  Expr number(bool negative) {
    const size_t start = position_;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
      ++position_;
    }
    return parse_int((negative ? "-" : "") + std::string(text_.substr(start, position_ - start)));
  }

  Expr parenthesized() {
    std::vector<Expr> inside = list();
    if (inside.size() != 1) fail("a list of formulas stands without a function");
    return inside[0];
  }

  // "(" formula {"," formula} ")"
  std::vector<Expr> list() {
    if (++nesting_ > kMaxNesting) fail("nests deeper than " + std::to_string(kMaxNesting));
    std::vector<Expr> formulas;
    ++position_;
    do {
      formulas.push_back(sum());
    } while (take(','));
    if (!take(')')) fail("')' is expected");
    --nesting_;
    return formulas;
  }

  Expr name_or_call() {
    const size_t start = position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      const bool belongs = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                           (c >= '0' && c <= '9' && position_ > start);
      if (!belongs) break;
      ++position_;
    }
    if (position_ == start) fail("a number, a name or '(' is expected");
    const std::string_view name = text_.substr(start, position_ - start);
    if (peek() != '(') return Expr::variable(name);
    return call(name, list());
  }

  Expr call(std::string_view name, const std::vector<Expr>& arguments) {
    if (name == "min") return min(arguments);
    if (name == "max") return max(arguments);
    if (name == "expected_distinct") {
      expect_arguments(name, arguments, 3);
      return expected_distinct(arguments[0], arguments[1], arguments[2]);
    }
    if (name != "floor_div" && name != "ceil_div" && name != "mod") {
      fail("there is no function '" + std::string(name) + "'");
    }
    expect_arguments(name, arguments, 2);
    if (name == "floor_div") return floor_div(arguments[0], arguments[1]);
    return name == "mod" ? mod(arguments[0], arguments[1]) : ceil_div(arguments[0], arguments[1]);
  }

  void expect_arguments(std::string_view name, const std::vector<Expr>& arguments, size_t count) {
    if (arguments.size() == count) return;
    fail("'" + std::string(name) + "' takes " + std::to_string(count) + " arguments, not " +
         std::to_string(arguments.size()));
  }

  std::string_view text_;
  size_t position_ = 0;
  int nesting_ = 0;
};

}  // namespace

Expr Expr::parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace kcharter
