// The 1858 actions of chess, in the order of lc0's policy: what the mover could ever play, seen
// from his side of the board (Black's ranks are turned over).
//
// First every move of a queen or knight on the empty board, by from-square and then to-square, a1,
// b1, ..., h8 (1792); then pawn promotions to queen, rook and bishop, by from- and to-square (66).
// A promotion to a knight is the plain pawn move, castling is the king's move onto his own rook.
#pragma once

#include <array>
#include <cstdint>

#include "base/types.hpp"
#include "games/chess/attacks.hpp"
#include "games/chess/position.hpp"

namespace zermelo::chess {

inline constexpr int kNumActions = 1858;
inline constexpr int kPlainActions = 1792;

namespace detail {

struct ActionTables {
  std::array<std::array<Action, 64>, 64> plain{};  // [from][to]
  std::array<std::uint8_t, kNumActions> from{};
  std::array<std::uint8_t, kNumActions> to{};
};

constexpr Bitboard queen_lines(Square from) {
  Bitboard reached = 0;
  for (const auto& step : kLines) reached |= ray(from, step[0], step[1], 7, 0);
  return reached;
}

constexpr ActionTables action_tables() {
  ActionTables tables;
  int next = 0;
  for (Square from = 0; from < 64; ++from) {
    for (Bitboard rest = queen_lines(from) | kKnightAttacks[from]; rest != 0; ++next) {
      const Square to = pop_lowest(rest);
      tables.plain[from][to] = static_cast<Action>(next);
      tables.from[next] = static_cast<std::uint8_t>(from);
      tables.to[next] = static_cast<std::uint8_t>(to);
    }
  }
  for (Square from = square_at(0, 6); from < square_at(0, 7); ++from) {
    for (Bitboard rest = kPawnAttacks[kWhite][from] | bit(from + 8); rest != 0;) {
      const Square to = pop_lowest(rest);
      for (int piece = 0; piece < 3; ++piece, ++next) {
        tables.from[next] = static_cast<std::uint8_t>(from);
        tables.to[next] = static_cast<std::uint8_t>(to);
      }
    }
  }
  return tables;
}

inline constexpr ActionTables kActions = action_tables();
inline constexpr MoveKind kPromotionOrder[] = {kPromoteQueen, kPromoteRook, kPromoteBishop};

}  // namespace detail

// Squares from the mover's side.
constexpr Action plain_action(Square from, Square to) { return detail::kActions.plain[from][to]; }

// The promotion to a queen; those to rook and bishop follow it. A pawn has three targets, on the a
// and h files two, in ascending order.
constexpr Action queen_promotion(Square from, Square to) {
  const int file = file_of(from);
  const int targets_before = file == 0 ? 0 : 3 * file - 1;
  const int target = file_of(to) - file + (file == 0 ? 0 : 1);
  return static_cast<Action>(kPlainActions + 3 * (targets_before + target));
}

// The same action on a board mirrored left to right; meaningless for castling.
constexpr Action mirrored_action(Action action) {
  const Square from = mirror(detail::kActions.from[action]);
  const Square to = mirror(detail::kActions.to[action]);
  if (action < kPlainActions) return plain_action(from, to);
  return static_cast<Action>(queen_promotion(from, to) + (action - kPlainActions) % 3);
}

// The legal move of `position` that `action` stands for.
Move move_of(const Position& position, Action action);

Action action_of(Move move, int side);

static_assert(queen_promotion(square_at(7, 6), square_at(7, 7)) == kNumActions - 3);
static_assert(plain_action(63, 62) == kPlainActions - 1);

}  // namespace zermelo::chess
