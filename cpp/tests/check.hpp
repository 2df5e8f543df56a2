// A test harness of one page: TEST(sentence) { CHECK(...); } and a main that runs them all.
// `core_tests WORD` runs the tests whose sentence contains WORD.
#pragma once

#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace zermelo::testing {

struct Test {
  std::string sentence;
  std::function<void()> run;
};

inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(std::string sentence, std::function<void()> run) {
    all_tests().push_back({std::move(sentence), std::move(run)});
  }
};

inline void report(const char* file, int line, const std::string& what) {
  ++failures();
  std::printf("%s:%d: %s\n", file, line, what.c_str());
}

template <class A, class B>
void check_equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  std::ostringstream message;
  message << text << ": " << a << " != " << b;
  report(file, line, message.str());
}

// The message of the std::exception that `run` throws, or "" when it does not.
inline std::string thrown(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace zermelo::testing

#define ZERMELO_JOIN2(a, b) a##b
#define ZERMELO_JOIN(a, b) ZERMELO_JOIN2(a, b)
#define TEST(sentence) ZERMELO_TEST(sentence, ZERMELO_JOIN(test_, __LINE__))
#define ZERMELO_TEST(sentence, name)                                                   \
  static void name();                                                                  \
  static const ::zermelo::testing::Registration ZERMELO_JOIN(name, _)(sentence, name); \
  static void name()
#define CHECK(condition) \
  if (!(condition)) ::zermelo::testing::report(__FILE__, __LINE__, "CHECK(" #condition ")")
#define CHECK_EQUAL(a, b) \
  ::zermelo::testing::check_equal((a), (b), #a " == " #b, __FILE__, __LINE__)
