// The eight symmetries of a square board, numbered the same way for every game that uses them.
#pragma once

namespace zermelo {

inline constexpr int kSquareSymmetries = 8;

// Where `cell` of a size x size board goes. Bit 0 mirrors left-right, bit 1 top-bottom, then bit 2
// transposes; so 0 is the identity.
constexpr int square_symmetry(int cell, int size, int symmetry) {
  int row = cell / size;
  int column = cell % size;
  if (symmetry & 1) column = size - 1 - column;
  if (symmetry & 2) row = size - 1 - row;
  return symmetry & 4 ? column * size + row : row * size + column;
}

}  // namespace zermelo
