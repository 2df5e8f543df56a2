// What fuzzing found, and what it begins with: tests/data/fuzz/<target>. Every file, cut short and
// with bytes changed too.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/random.hpp"
#include "fuzz/targets.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A target ends the process if it finds a fault.
int try_corpus(const fuzz::Target& target) {
  int files = 0;
  Random random(7);
  const auto folder = std::filesystem::path(ZERMELO_CORPUS) / target.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::vector<std::uint8_t> whole = bytes_of(entry.path());
    CHECK(!whole.empty());
    target.run(whole);
    for (int round = 0; round < 20 && !whole.empty(); ++round) {
      std::vector<std::uint8_t> bytes = whole;
      for (std::uint64_t left = random.below(4); left > 0; --left) {
        bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.below(256));
      }
      if (random.below(3) == 0) bytes.resize(random.below(bytes.size()));
      target.run(bytes);
    }
    ++files;
  }
  return files;
}

}  // namespace

TEST("what fuzzing found does no harm any more") {
  for (const fuzz::Target& target : fuzz::kTargets) CHECK(try_corpus(target) > 0);
}
