// Error: there is no document. One exception type with a chain of context, outermost first:
//
//   model.onnx: node 'MatMul_12' (MatMul): inner dimensions differ: 64 and 128
//
//   try { parse(node); } catch (Error& error) { throw error.in("node 'MatMul_12' (MatMul)"); }
//
// A message names file, part, fact and both values, and what to do. A reservation that still leaves
// a document is a Diagnostic (diagnostic.h).
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace kcharter {

class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}

  // Puts `context` in front of the message; returns *this so that it can be thrown again.
  Error& in(std::string_view context) {
    message_.insert(0, std::string(context) + ": ");
    return *this;
  }

  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// The command line was used wrongly (exit status 2): a mode the model does not have, an option that
// contradicts another.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace kcharter
