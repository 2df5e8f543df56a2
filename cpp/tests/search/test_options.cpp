// The table of the search's options: defaults, ranges, and sentences about mistakes.
#include <set>
#include <string>

#include "search/options.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::string refusal(const std::string& name, const OptionValue& value) {
  return testing::thrown([&] {
    SearchOptions options;
    set_option(options, find_option(search_option_table(), name), value);
  });
}

}  // namespace

TEST("an unknown option names the nearest one") {
  CHECK_EQUAL(refusal("c_pucct", 1.0),
              std::string("there is no option 'c_pucct'; the nearest is 'c_puct'"));
  CHECK_EQUAL(refusal("leaves", 1.0).find("there is no option 'leaves'"), 0u);
}

TEST("a value out of range is refused with what is allowed") {
  CHECK_EQUAL(refusal("c_puct", -1.0),
              std::string("option 'c_puct' cannot be -1: it takes a number from 0 to 100"));
  CHECK_EQUAL(refusal("threads", 0.0),
              std::string("option 'threads' cannot be 0: it takes a whole number from 1 to 256"));
  CHECK(!refusal("threads", 1.5).empty());
  CHECK(!refusal("c_puct", std::string("much")).empty());
  CHECK(!refusal("c_puct", std::string("nan")).empty());
  CHECK_EQUAL(refusal("fpu", std::string("none")),
              std::string("option 'fpu' cannot be 'none': it takes one of zero parent reduced loss "
                          "imputed"));
  CHECK_EQUAL(refusal("solver", std::string("maybe")),
              std::string("option 'solver' cannot be 'maybe': it takes on or off"));
}

TEST("text sets an option as a file or a flag would") {
  SearchOptions options;
  const auto set = [&](const std::string& name, const std::string& text) {
    set_option(options, find_option(search_option_table(), name), text);
  };
  set("c_puct", "2.25");
  set("fpu", "reduced");
  set("solver", "off");
  set("threads", "3");
  CHECK_EQUAL(options.c_puct, 2.25);
  CHECK(static_cast<Fpu>(options.fpu) == Fpu::kReduced);
  CHECK(!options.solver);
  CHECK_EQUAL(options.threads, 3);
}

TEST("every option can be read and set to its own default") {
  std::set<std::string_view> names;
  for (const auto& row : search_option_table()) {
    CHECK(names.insert(row.name).second);
    CHECK(!row.doc.empty());
    CHECK(!row.technique.empty());
    SearchOptions options;
    const OptionValue value = get_option(options, row);
    CHECK_EQUAL(testing::thrown([&] { set_option(options, row, value); }), std::string());
    CHECK(get_option(options, row) == value);
  }
}

TEST("the root's first-play rule is that of the tree unless it is set") {
  SearchOptions options;
  options.fpu = static_cast<std::int64_t>(Fpu::kParent);
  CHECK(options.fpu_at(true) == Fpu::kParent);
  options.fpu_root = static_cast<std::int64_t>(Fpu::kLoss);
  CHECK(options.fpu_at(true) == Fpu::kLoss);
  CHECK(options.fpu_at(false) == Fpu::kParent);
}
