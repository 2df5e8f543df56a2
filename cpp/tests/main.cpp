#include <cstring>

#include "tests/check.hpp"

int main(int argc, char** argv) {
  using namespace zermelo::testing;
  int run = 0;
  int failed = 0;
  for (const Test& test : all_tests()) {
    if (argc > 1 && test.sentence.find(argv[1]) == std::string::npos) continue;
    const int before = failures();
    test.run();
    ++run;
    const bool passed = failures() == before;
    failed += !passed;
    std::printf("%s  %s\n", passed ? "ok  " : "FAIL", test.sentence.c_str());
  }
  std::printf("%d passed, %d failed\n", run - failed, failed);
  return failed == 0 && run > 0 ? 0 : 1;
}
