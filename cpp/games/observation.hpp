// What a network sees of a position, packed: the layout, and the expansion to float32 planes.
//
// A packed observation is `words()` 64-bit words:
//   binary planes   words_per_plane() words each; bit (row * columns + column) % 64 of word cell /
//   64 scalar planes   one byte each, eight to a word, low byte first; the plane is byte * scale
//   everywhere dense planes    float32 cells, two to a word, low half first (games written in
//   Python only)
// Expanded, the planes stand in that order: [planes][rows][columns], always from the mover's side.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace zermelo {

struct ObservationLayout {
  int rows = 0;
  int columns = 0;
  int binary_planes = 0;
  std::vector<float> scalar_scales = {};  // one per scalar plane
  int dense_planes = 0;

  int cells() const { return rows * columns; }
  int scalar_planes() const { return static_cast<int>(scalar_scales.size()); }
  int planes() const { return binary_planes + scalar_planes() + dense_planes; }
  int words_per_plane() const { return (cells() + 63) / 64; }
  int binary_words() const { return binary_planes * words_per_plane(); }
  int scalar_words() const { return (scalar_planes() + 7) / 8; }
  int words() const { return binary_words() + scalar_words() + (dense_planes * cells() + 1) / 2; }
  int floats() const { return planes() * cells(); }

  bool operator==(const ObservationLayout&) const = default;
};

namespace detail {
// The eight bits of a byte as floats, lowest first.
struct ByteFloats {
  alignas(32) float of[256][8];
  constexpr ByteFloats() : of() {
    for (int byte = 0; byte < 256; ++byte) {
      for (int bit = 0; bit < 8; ++bit) of[byte][bit] = static_cast<float>(byte >> bit & 1);
    }
  }
};
inline constexpr ByteFloats kByteFloats;
}  // namespace detail

// Writes `layout.floats()` floats. `words` holds `layout.words()` words.
inline void expand_observation(const ObservationLayout& layout, const std::uint64_t* words,
                               float* out) {
  const int cells = layout.cells();
  const int per_plane = layout.words_per_plane();
  for (int plane = 0; plane < layout.binary_planes; ++plane, out += cells) {
    const std::uint64_t* bits = words + plane * per_plane;
    const auto byte_at = [bits](int cell) { return bits[cell >> 6] >> (cell & 63) & 0xFF; };
    int cell = 0;
    for (; cell + 8 <= cells; cell += 8) {
      std::memcpy(out + cell, detail::kByteFloats.of[byte_at(cell)], 8 * sizeof(float));
    }
    if (cell < cells) {
      std::memcpy(out + cell, detail::kByteFloats.of[byte_at(cell)],
                  static_cast<std::size_t>(cells - cell) * sizeof(float));
    }
  }
  words += layout.binary_words();
  for (int plane = 0; plane < layout.scalar_planes(); ++plane, out += cells) {
    const auto byte = static_cast<std::uint8_t>(words[plane / 8] >> (plane % 8 * 8));
    const float value = static_cast<float>(byte) * layout.scalar_scales[plane];
    for (int cell = 0; cell < cells; ++cell) out[cell] = value;
  }
  words += layout.scalar_words();
  std::memcpy(out, words, sizeof(float) * layout.dense_planes * cells);
}

// The opposite of `expand_observation`: a binary cell is set if its float is not 0, a scalar plane
// is read at its first cell.
inline void pack_observation(const ObservationLayout& layout, const float* planes,
                             std::uint64_t* words) {
  const int cells = layout.cells();
  std::memset(words, 0, sizeof(std::uint64_t) * static_cast<std::size_t>(layout.words()));
  for (int plane = 0; plane < layout.binary_planes; ++plane, planes += cells) {
    std::uint64_t* bits = words + plane * layout.words_per_plane();
    for (int cell = 0; cell < cells; ++cell) {
      bits[cell / 64] |= std::uint64_t{planes[cell] != 0} << (cell % 64);
    }
  }
  words += layout.binary_words();
  for (int plane = 0; plane < layout.scalar_planes(); ++plane, planes += cells) {
    const float byte = std::round(*planes / layout.scalar_scales[plane]);
    const auto kept = static_cast<std::uint64_t>(byte > 0 ? (byte < 255 ? byte : 255) : 0);
    words[plane / 8] |= kept << (plane % 8 * 8);
  }
  words += layout.scalar_words();
  std::memcpy(words, planes, sizeof(float) * layout.dense_planes * cells);
}

// Moves every cell of the planes to `map[cell]`; scalar planes stay.
inline void permute_observation(const ObservationLayout& layout, const std::uint64_t* words,
                                const std::vector<int>& map, std::uint64_t* out) {
  std::memset(out, 0, sizeof(std::uint64_t) * static_cast<std::size_t>(layout.words()));
  const int per_plane = layout.words_per_plane();
  for (int plane = 0; plane < layout.binary_planes; ++plane) {
    for (int word = 0; word < per_plane; ++word) {
      for (std::uint64_t rest = words[plane * per_plane + word]; rest != 0; rest &= rest - 1) {
        const int cell = map[word * 64 + std::countr_zero(rest)];
        out[plane * per_plane + cell / 64] |= std::uint64_t{1} << (cell % 64);
      }
    }
  }
  words += layout.binary_words();
  out += layout.binary_words();
  std::memcpy(out, words, sizeof(std::uint64_t) * static_cast<std::size_t>(layout.scalar_words()));
  const auto* from = reinterpret_cast<const unsigned char*>(words + layout.scalar_words());
  auto* to = reinterpret_cast<unsigned char*>(out + layout.scalar_words());
  const int cells = layout.cells();
  for (int i = 0; i < layout.dense_planes * cells; ++i) {
    const int target = i / cells * cells + map[i % cells];
    std::memcpy(to + sizeof(float) * target, from + sizeof(float) * i, sizeof(float));
  }
}

// Sets scalar plane `index` of a packed observation whose scalar words are zero so far.
inline void set_scalar(const ObservationLayout& layout, std::uint64_t* words, int index,
                       std::uint8_t value) {
  words[layout.binary_words() + index / 8] |= std::uint64_t{value} << (index % 8 * 8);
}

}  // namespace zermelo
