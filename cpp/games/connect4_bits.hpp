// The solver's view of a Connect Four board: bitboards by columns, and what can be read from them
// without search. Knows nothing of search or of Connect4::State beyond the conversion.
//
// A column has seven bits, bottom cell first; the seventh is always empty, so that lines do not
// wrap into the next column and that adding one to a column carries to its lowest empty cell.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "games/connect4.hpp"

namespace zermelo::connect4 {

using Bits = std::uint64_t;

inline constexpr int kColumnBits = Connect4::kRows + 1;
inline constexpr int kKeyBits = Connect4::kColumns * kColumnBits;  // 49
inline constexpr Bits kBottomRow = ((Bits{1} << kKeyBits) - 1) / 0x7F;
inline constexpr Bits kBoard = kBottomRow * 0x3F;
inline constexpr Bits kOddRows = kBottomRow * 0x15;   // first, third and fifth row from the bottom
inline constexpr Bits kEvenRows = kBottomRow * 0x2A;  // second, fourth and sixth

constexpr Bits column_cells(int column) { return Bits{0x3F} << column * kColumnBits; }

struct Board {
  Bits mine = 0;      // the mover's stones
  Bits occupied = 0;  // everybody's stones
  int ply = 0;

  Bits theirs() const { return mine ^ occupied; }
  // The cell each column offers next.
  Bits playable() const { return (occupied + kBottomRow) & kBoard; }
  Board after(Bits cell) const { return {theirs(), occupied | cell, ply + 1}; }
};

// Scores count for the mover: positive wins, negative loses; the magnitude is 22 minus the number
// of stones that the winner has at the end. By the plies played: a win with the mover's next stone
// or the one after it, a loss to the opponent's next or the one after it, and a lost, finished
// game.
constexpr int score_of_win_at_once(int ply) { return (43 - ply) / 2; }
constexpr int score_of_win_in_two(int ply) { return (41 - ply) / 2; }
constexpr int score_of_loss_at_once(int ply) { return -(42 - ply) / 2; }
constexpr int score_of_loss_in_two(int ply) { return -(40 - ply) / 2; }
constexpr int score_of_lost_game(int ply) { return -(44 - ply) / 2; }

constexpr bool has_four(Bits stones) {
  Bits lines = 0;
  for (const int step : {1, kColumnBits - 1, kColumnBits, kColumnBits + 1}) {
    const Bits pairs = stones & stones >> step;
    lines |= pairs & pairs >> 2 * step;
  }
  return lines != 0;
}

// Empty cells that complete a line of four of `stones`.
constexpr Bits winning_cells(Bits stones, Bits occupied) {
  Bits cells = stones << 1 & stones << 2 & stones << 3;
  for (const int step : {kColumnBits - 1, kColumnBits, kColumnBits + 1}) {
    const Bits two_below = stones << step & stones << 2 * step;
    const Bits two_above = stones >> step & stones >> 2 * step;
    cells |= two_below & (stones << 3 * step | stones >> step);
    cells |= two_above & (stones >> 3 * step | stones << step);
  }
  return cells & (kBoard ^ occupied);
}

// The columns as seven 7-bit numbers, each of which tells the height and the mover's stones: unique
// per position, below 2^kKeyBits.
constexpr Bits position_key(Bits mine, Bits occupied) { return mine + occupied; }

constexpr Bits mirrored_key(Bits key) {
  Bits mirrored = 0;
  for (int column = 0; column < Connect4::kColumns; ++column) {
    mirrored = mirrored << kColumnBits | (key & 0x7F);
    key >>= kColumnBits;
  }
  return mirrored;
}

// What the second player is sure of by always answering in the same column ("claimeven"), when the
// first player is to move: 1 a win, 0 a draw, -1 nothing is known.
//
// He so gets every empty cell of an even row, except that in columns of odd height the next cell,
// which is on an even row, may go to either side: these columns are even in number, so he answers
// there with another one of them. If the first player cannot make four even with all that is left
// to him, he does not win; if the second player makes four with what is sure to be his, he wins.
constexpr int claimeven(Bits first, Bits second) {
  const Bits occupied = first | second;
  const Bits empty = kBoard ^ occupied;
  const Bits contested = (occupied + kBottomRow) & kEvenRows;
  if (has_four(first | (empty & kOddRows) | contested)) return -1;
  return has_four(second | (empty & kEvenRows & ~contested)) ? 1 : 0;
}

inline Board to_board(const Connect4::State& s) {
  Board board;
  std::array<Bits, 2> stones{};
  for (int p = 0; p < 2; ++p) {
    for (Bits rest = s.stones[p]; rest != 0; rest &= rest - 1) {
      const int cell = std::countr_zero(rest);
      const int height = Connect4::kRows - 1 - cell / Connect4::kColumns;
      stones[p] |= Bits{1} << (cell % Connect4::kColumns * kColumnBits + height);
    }
  }
  board.occupied = stones[0] | stones[1];
  board.ply = std::popcount(board.occupied);
  board.mine = stones[board.ply % 2];
  return board;
}

}  // namespace zermelo::connect4
