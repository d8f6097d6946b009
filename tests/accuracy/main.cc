// kcharter_accuracy CONFIGS TRUTH: prints the accuracy report as Markdown. Exit status 1: a gate is
// not met.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>

#include "accuracy/report.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: kcharter_accuracy CONFIGS TRUTH\n";
    return 2;
  }
  try {
    const kcharter::accuracy::Accuracy accuracy =
        kcharter::accuracy::measure_accuracy(argv[1], argv[2]);
    std::cout << kcharter::accuracy::report(accuracy);
    const bool passed = std::all_of(accuracy.gates.begin(), accuracy.gates.end(),
                                    [](const auto& gate) { return gate.passed(); });
    return passed ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "kcharter_accuracy: " << error.what() << '\n';
    return 1;
  }
}
