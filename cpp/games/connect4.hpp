// Connect Four on the usual board of 7 columns and 6 rows.
// Cells are numbered 0..41 from the top left, row by row; an action is a column 0..6, its text the
// column counted from 1. This file knows the rules only: perfect play is in connect4_solver.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "base/zobrist.hpp"
#include "games/game.hpp"
#include "games/text.hpp"

namespace zermelo {

class Connect4 {
 public:
  static constexpr int kRows = 6;
  static constexpr int kColumns = 7;
  static constexpr int kCells = kRows * kColumns;

  struct State {
    std::array<std::uint64_t, 2> stones{};  // one bit per cell, by player
    std::uint64_t hash = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  std::string name() const { return "connect4"; }
  int num_actions() const { return kColumns; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const { return {}; }

  Outcome expand(const State& s, ActionList& actions) const {
    const Outcome result = outcome(s);
    if (result != Outcome::kOngoing) return result;
    actions.clear();
    for (std::uint64_t open = ~occupied(s) & kTopRow; open != 0; open &= open - 1) {
      actions.push(static_cast<Action>(std::countr_zero(open)));
    }
    return result;
  }

  Outcome outcome(const State& s) const {
    const Player last = other(player(s));
    if (has_four(s.stones[static_cast<int>(last)])) return win_for(last);
    return occupied(s) == kFull ? Outcome::kDraw : Outcome::kOngoing;
  }

  void play(State& s, Action action) const {
    // The lowest empty cell of a column has the highest number.
    const std::uint64_t empty = ~occupied(s) & kColumn << action;
    place(s, static_cast<int>(player(s)), std::bit_width(empty) - 1);
  }

  Player player(const State& s) const { return ply(s) % 2 == 0 ? Player::kFirst : Player::kSecond; }
  int ply(const State& s) const { return std::popcount(occupied(s)); }
  std::uint64_t hash(const State& s) const { return s.hash; }

  void observe(const State& s, std::uint64_t* words) const {
    const int mover = static_cast<int>(player(s));
    words[0] = s.stones[mover];
    words[1] = s.stones[1 - mover];
  }

  // Symmetry 1 mirrors left and right.
  int num_symmetries(const State&) const { return 2; }
  State transform(const State& s, int symmetry) const {
    if (symmetry == 0) return s;
    State t;
    for (int p = 0; p < 2; ++p) {
      for (std::uint64_t rest = s.stones[p]; rest != 0; rest &= rest - 1) {
        place(t, p, transform_cell(std::countr_zero(rest), symmetry));
      }
    }
    return t;
  }
  Action transform_action(Action action, int symmetry) const {
    return symmetry == 0 ? action : static_cast<Action>(kColumns - 1 - action);
  }
  int transform_cell(int cell, int symmetry) const {
    if (symmetry == 0) return cell;
    const int column = cell % kColumns;
    return cell - column + (kColumns - 1 - column);
  }

  std::string action_text(const State&, Action action) const { return std::to_string(action + 1); }
  Action parse_action(const State& s, std::string_view text) const {
    if (text.size() != 1 || text[0] < '1' || text[0] > '7') {
      fail("'", text, "' is not a column from 1 to 7");
    }
    const int column = text[0] - '1';
    if (outcome(s) != Outcome::kOngoing) fail("the game is over, so '", text, "' cannot be played");
    if (occupied(s) >> column & 1u) fail("column ", text, " is full");
    return static_cast<Action>(column);
  }

  // Six rows from the top, separated by '/': "......./......./......./......./...O.../...X...".
  std::string position_text(const State& s) const { return with_row_breaks(cells(s), kColumns); }
  // Takes rows, or the columns played since the empty board: "4453"; "" is the empty board.
  State parse_position(std::string_view text) const {
    const bool moves = text.find_first_not_of("0123456789") == std::string_view::npos;
    return moves ? parse_moves(text) : parse_rows(text);
  }
  std::string cells(const State& s) const {
    std::string out(kCells, '.');
    for (int cell = 0; cell < kCells; ++cell) {
      if (s.stones[0] >> cell & 1u) out[cell] = 'X';
      if (s.stones[1] >> cell & 1u) out[cell] = 'O';
    }
    return out;
  }

  static constexpr std::uint64_t occupied(const State& s) { return s.stones[0] | s.stones[1]; }

  // Lines start at their topmost or leftmost cell and run right, down or down to either side.
  static constexpr bool has_four(std::uint64_t stones) {
    const auto line = [stones](int step, std::uint64_t starts) {
      const std::uint64_t pairs = stones & stones >> step;
      return pairs & pairs >> 2 * step & starts;
    };
    constexpr std::uint64_t left = kColumn * 0x0F;   // columns from which a line to the right fits
    constexpr std::uint64_t right = kColumn * 0x78;  // and to the left
    return (line(1, left) | line(kColumns, kFull) | line(kColumns + 1, left) |
            line(kColumns - 1, right)) != 0;
  }

 private:
  static constexpr std::uint64_t kFull = (std::uint64_t{1} << kCells) - 1;
  static constexpr std::uint64_t kTopRow = (std::uint64_t{1} << kColumns) - 1;
  static constexpr std::uint64_t kColumn = kFull / kTopRow;  // the cells of column 0
  static constexpr auto kKeys = zobrist_keys<2 * kCells, 0xC4>();

  static void place(State& s, int player, int cell) {
    s.stones[player] |= std::uint64_t{1} << cell;
    s.hash ^= kKeys[player * kCells + cell];
  }

  State parse_moves(std::string_view text) const {
    State s;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const int column = text[i] - '1';
      const auto where = [&] {
        return "position '" + std::string(text) + "': move " + std::to_string(i + 1);
      };
      if (column < 0 || column >= kColumns)
        fail(where(), ", '", text[i], "', is not a column from 1 to 7");
      if (outcome(s) != Outcome::kOngoing) fail(where(), " comes after the end of the game");
      if (occupied(s) >> column & 1u) fail(where(), " goes to column ", text[i], ", which is full");
      play(s, static_cast<Action>(column));
    }
    return s;
  }

  State parse_rows(std::string_view text) const {
    const std::string board = without_row_breaks(text, kRows, kColumns, "XO.");
    State s;
    for (int cell = 0; cell < kCells; ++cell) {
      if (board[cell] == '.') continue;
      const int below = cell + kColumns;
      if (below < kCells && board[below] == '.') {
        fail("position '", text, "': the stone in column ", cell % kColumns + 1, ", row ",
             cell / kColumns + 1, " from the top has nothing below it");
      }
      place(s, board[cell] == 'O', cell);
    }
    const int lead = std::popcount(s.stones[0]) - std::popcount(s.stones[1]);
    if (lead != 0 && lead != 1)
      fail("position '", text, "': X must have as many stones as O or one more");
    if (has_four(s.stones[0]) && has_four(s.stones[1]))
      fail("position '", text, "': both players have four in a row");
    if (!ended_with_last_stone(s)) {
      fail("position '", text, "': a stone was played after the game was won");
    }
    return s;
  }

  // Whether nobody has four, or the player who moved last can have made it with one top stone.
  bool ended_with_last_stone(const State& s) const {
    const int last = 1 - static_cast<int>(player(s));
    if (has_four(s.stones[1 - last])) return false;
    if (!has_four(s.stones[last])) return true;
    for (int column = 0; column < kColumns; ++column) {
      const std::uint64_t stack = occupied(s) & kColumn << column;
      const std::uint64_t top = stack & (~stack + 1);
      if ((s.stones[last] & top) != 0 && !has_four(s.stones[last] ^ top)) return true;
    }
    return false;
  }

  ObservationLayout layout_{.rows = kRows, .columns = kColumns, .binary_planes = 2};
};

static_assert(Game<Connect4>);

}  // namespace zermelo
