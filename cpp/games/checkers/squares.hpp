// The 32 dark squares of a draughts board: neighbours, shifts of bitboards, spreading to 8x8 cells.
// It knows no pieces and no rules.
//
// Square s is number s + 1 of PDN: four to a row from the top left, Black's home at the top. Rows
// are counted from the top from 0; even rows use columns 1, 3, 5, 7 and odd rows 0, 2, 4, 6.
// Turning the board by 180 degrees takes square s to 31 - s and direction d to 3 - d.
#pragma once

#include <array>
#include <cstdint>

namespace zermelo::checkers {

using Bits = std::uint32_t;  // bit s is square s

// Directions as the diagram shows them: 0 down-left, 1 down-right, 2 up-left, 3 up-right.
inline constexpr int kDirections = 4;
constexpr int opposite(int direction) { return 3 - direction; }

constexpr int row_of(int square) { return square / 4; }
constexpr int column_of(int square) { return square % 4 * 2 + (row_of(square) % 2 == 0 ? 1 : 0); }

// kNeighbour[square][direction], -1 beyond the edge.
inline constexpr auto kNeighbour = [] {
  std::array<std::array<std::int8_t, kDirections>, 32> table{};
  for (int square = 0; square < 32; ++square) {
    for (int direction = 0; direction < kDirections; ++direction) {
      const int row = row_of(square) + (direction < 2 ? 1 : -1);
      const int column = column_of(square) + (direction % 2 == 0 ? -1 : 1);
      const bool on_board = row >= 0 && row < 8 && column >= 0 && column < 8;
      table[square][direction] = static_cast<std::int8_t>(on_board ? row * 4 + column / 2 : -1);
    }
  }
  return table;
}();

// All squares of `bits` one step further; those that leave the board are dropped.
template <int Direction>
constexpr Bits shifted(Bits bits) {
  constexpr Bits kEvenRows = 0x0F0F0F0F;
  constexpr Bits kOddRows = 0xF0F0F0F0;
  constexpr Bits kRightEdge = 0x08080808;  // column 7, even rows
  constexpr Bits kLeftEdge = 0x10101010;   // column 0, odd rows
  if constexpr (Direction == 0)
    return (bits & kEvenRows) << 4 | (bits & kOddRows & ~kLeftEdge) << 3;
  if constexpr (Direction == 1)
    return (bits & kEvenRows & ~kRightEdge) << 5 | (bits & kOddRows) << 4;
  if constexpr (Direction == 2)
    return (bits & kEvenRows) >> 4 | (bits & kOddRows & ~kLeftEdge) >> 5;
  if constexpr (Direction == 3)
    return (bits & kEvenRows & ~kRightEdge) >> 3 | (bits & kOddRows) >> 4;
}

// The board turned by 180 degrees: the order of the bits reversed.
constexpr Bits turned(Bits bits) {
  bits = (bits >> 1 & 0x55555555) | (bits & 0x55555555) << 1;
  bits = (bits >> 2 & 0x33333333) | (bits & 0x33333333) << 2;
  bits = (bits >> 4 & 0x0F0F0F0F) | (bits & 0x0F0F0F0F) << 4;
  return __builtin_bswap32(bits);
}

// One bit per cell of the 8x8 board, cell row * 8 + column.
constexpr std::uint64_t spread(Bits bits) {
  std::uint64_t cells = bits;
  cells = (cells | cells << 16) & 0x0000FFFF0000FFFFull;
  cells = (cells | cells << 8) & 0x00FF00FF00FF00FFull;
  cells = (cells | cells << 4) & 0x0F0F0F0F0F0F0F0Full;
  cells = (cells | cells << 2) & 0x3333333333333333ull;
  cells = (cells | cells << 1) & 0x5555555555555555ull;
  constexpr std::uint64_t kEvenRows = 0x00FF00FF00FF00FFull;
  return (cells & kEvenRows) << 1 | (cells & ~kEvenRows);
}

}  // namespace zermelo::checkers
