// Zobrist keys made at compile time. `Seed` keeps the tables of different games apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"

namespace zermelo {

template <std::size_t Size, std::uint64_t Seed>
constexpr std::array<std::uint64_t, Size> zobrist_keys() {
  std::array<std::uint64_t, Size> keys{};
  std::uint64_t state = Seed * 0xD1342543DE82EF95ull + 1;
  for (auto& key : keys) key = mix64(state += 0x9E3779B97F4A7C15ull);
  return keys;
}

}  // namespace zermelo
