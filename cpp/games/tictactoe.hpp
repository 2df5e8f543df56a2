// Tic-tac-toe: the smallest complete game, and the pattern that the other games follow.
// Cells and actions are numbered 0..8 from the top left, row by row; text is a1..c3 with a1 at the
// bottom left.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "base/zobrist.hpp"
#include "games/game.hpp"
#include "games/square_symmetry.hpp"
#include "games/text.hpp"

namespace zermelo {

class TicTacToe {
 public:
  struct State {
    std::array<std::uint16_t, 2> stones{};  // one bit per cell, by player
    std::uint64_t hash = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  std::string name() const { return "tictactoe"; }
  int num_actions() const { return 9; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const { return {}; }

  Outcome expand(const State& s, ActionList& actions) const {
    const Outcome result = outcome(s);
    if (result != Outcome::kOngoing) return result;
    actions.clear();
    for (unsigned free = ~(s.stones[0] | s.stones[1]) & kFull; free != 0; free &= free - 1) {
      actions.push(static_cast<Action>(std::countr_zero(free)));
    }
    return result;
  }

  Outcome outcome(const State& s) const {
    const Player last = other(player(s));
    const unsigned mine = s.stones[static_cast<int>(last)];
    for (const unsigned line : kLines) {
      if ((mine & line) == line) return win_for(last);
    }
    return (s.stones[0] | s.stones[1]) == kFull ? Outcome::kDraw : Outcome::kOngoing;
  }

  void play(State& s, Action action) const {
    const int mover = static_cast<int>(player(s));
    s.stones[mover] = static_cast<std::uint16_t>(s.stones[mover] | 1u << action);
    s.hash ^= kKeys[mover * 9 + action];
  }

  Player player(const State& s) const { return ply(s) % 2 == 0 ? Player::kFirst : Player::kSecond; }
  int ply(const State& s) const { return std::popcount(unsigned{s.stones[0]} | s.stones[1]); }
  std::uint64_t hash(const State& s) const { return s.hash; }

  void observe(const State& s, std::uint64_t* words) const {
    const int mover = static_cast<int>(player(s));
    words[0] = s.stones[mover];
    words[1] = s.stones[1 - mover];
  }

  int num_symmetries(const State&) const { return kSquareSymmetries; }
  State transform(const State& s, int symmetry) const {
    State t;
    for (int cell = 0; cell < 9; ++cell) {
      for (int p = 0; p < 2; ++p) {
        if (s.stones[p] >> cell & 1u) place(t, p, transform_cell(cell, symmetry));
      }
    }
    return t;
  }
  Action transform_action(Action action, int symmetry) const {
    return static_cast<Action>(transform_cell(action, symmetry));
  }
  int transform_cell(int cell, int symmetry) const { return square_symmetry(cell, 3, symmetry); }

  std::string action_text(const State&, Action action) const { return cell_text(action, 3, 3); }
  Action parse_action(const State& s, std::string_view text) const {
    const int cell = parse_cell(text, 3, 3);
    if (outcome(s) != Outcome::kOngoing) fail("the game is over, so '", text, "' cannot be played");
    if ((s.stones[0] | s.stones[1]) >> cell & 1u) fail("cell '", text, "' is occupied");
    return static_cast<Action>(cell);
  }

  // Nine cells from the top left, rows separated by '/': "X.O/.X./..O".
  std::string position_text(const State& s) const { return with_row_breaks(cells(s), 3); }
  State parse_position(std::string_view text) const {
    const std::string board = without_row_breaks(text, 3, 3, "XO.");
    State s;
    for (int cell = 0; cell < 9; ++cell) {
      if (board[cell] != '.') place(s, board[cell] == 'O', cell);
    }
    const int lead = std::popcount(unsigned{s.stones[0]}) - std::popcount(unsigned{s.stones[1]});
    if (lead != 0 && lead != 1)
      fail("position '", text, "': X must have as many stones as O or one more");
    if (has_line(s.stones[0]) && has_line(s.stones[1]))
      fail("position '", text, "': both players have a line");
    if (has_line(s.stones[lead == 1 ? 1 : 0]))
      fail("position '", text, "': a stone was played after the game was won");
    return s;
  }
  std::string cells(const State& s) const {
    std::string out(9, '.');
    for (int cell = 0; cell < 9; ++cell) {
      if (s.stones[0] >> cell & 1u) out[cell] = 'X';
      if (s.stones[1] >> cell & 1u) out[cell] = 'O';
    }
    return out;
  }

 private:
  static constexpr unsigned kFull = 0x1FF;
  static constexpr std::array<unsigned, 8> kLines = {0007, 0070, 0700, 0111,
                                                     0222, 0444, 0421, 0124};
  static constexpr auto kKeys = zobrist_keys<18, 0x7177>();

  static bool has_line(unsigned stones) {
    for (const unsigned line : kLines) {
      if ((stones & line) == line) return true;
    }
    return false;
  }
  static void place(State& s, int player, int cell) {
    s.stones[player] = static_cast<std::uint16_t>(s.stones[player] | 1u << cell);
    s.hash ^= kKeys[player * 9 + cell];
  }

  ObservationLayout layout_{.rows = 3, .columns = 3, .binary_planes = 2};
};

static_assert(Game<TicTacToe>);

}  // namespace zermelo
