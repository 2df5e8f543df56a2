// English draughts (American checkers): rules, observation and step notation. It knows nothing of
// search.
//
// An action is one step of one piece: from-square * 4 + direction, a plain step or a single jump. A
// multi-jump is several actions of the SAME player, who moves again with only the jumping piece;
// the captured piece leaves the board at once. Squares and directions of actions and observations
// are in the mover's frame: the diagram itself for Black (the first player, home at the top on
// squares 1-12), the diagram turned by 180 degrees for White; so the mover's men always go down.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "games/checkers/notation.hpp"
#include "games/checkers/position.hpp"
#include "games/checkers/squares.hpp"
#include "games/game.hpp"
#include "games/text.hpp"

namespace zermelo {

struct CheckersOptions {
  int quiet_plies = 80;  // plies without a capture or a man's move that make a draw, 1 to 200
};

class Checkers {
 public:
  using State = checkers::State;

  explicit Checkers(CheckersOptions options = {}) : quiet_plies_(options.quiet_plies) {
    if (quiet_plies_ < 1 || quiet_plies_ > checkers::kMaxQuietPlies) {
      fail("checkers: quiet_plies ", quiet_plies_, " is not from 1 to ", checkers::kMaxQuietPlies);
    }
    layout_ = {.rows = 8,
               .columns = 8,
               .binary_planes = 5,
               .scalar_scales = {1.0f / static_cast<float>(quiet_plies_), 0.5f}};
  }

  std::string name() const {
    return quiet_plies_ == 80 ? "checkers" : "checkers?quiet_plies=" + std::to_string(quiet_plies_);
  }
  int num_actions() const { return 32 * checkers::kDirections; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const {
    State s;
    for (int square = 0; square < 12; ++square) {
      checkers::toggle(s, 0, false, square);
      checkers::toggle(s, 1, false, 31 - square);
    }
    return s;
  }

  // By direction, then by square.
  Outcome expand(const State& s, ActionList& actions) const {
    const Steps steps = legal(s);
    const Outcome result = outcome(s, steps);
    if (result != Outcome::kOngoing) return result;
    actions.clear();
    for (int direction = 0; direction < checkers::kDirections; ++direction) {
      for (Bits rest = steps.from[direction]; rest != 0; rest &= rest - 1) {
        actions.push(
            static_cast<Action>(std::countr_zero(rest) * checkers::kDirections + direction));
      }
    }
    return result;
  }
  Outcome outcome(const State& s) const { return outcome(s, legal(s)); }

  void play(State& s, Action action) const {
    const int me = static_cast<int>(s.mover);
    const int from = from_square(s, action);
    const int direction = board_direction(s, action);
    const bool king = s.kings[me] >> from & 1u;
    const std::uint64_t before = s.hash;
    int to = checkers::kNeighbour[from][direction];
    const bool jump = s.pieces(1 - me) >> to & 1u;
    if (jump) {
      checkers::toggle(s, 1 - me, s.kings[1 - me] >> to & 1u, to);
      to = checkers::kNeighbour[to][direction];
    }
    const bool crowned = !king && checkers::row_of(to) == (me == 0 ? 7 : 0);
    checkers::toggle(s, me, king, from);
    checkers::toggle(s, me, king || crowned, to);
    ++s.ply;
    const bool goes_on = jump && !crowned && can_jump(s, to);
    checkers::set_jumper(s, goes_on ? to : -1);
    if (!goes_on) checkers::change_mover(s);
    if (jump || !king) {
      checkers::forget(s);
    } else {
      checkers::remember(s, before);
    }
  }

  Player player(const State& s) const { return s.mover; }
  int ply(const State& s) const { return s.ply; }
  std::uint64_t hash(const State& s) const {
    return s.hash ^ checkers::kQuietKeys[s.quiet] ^ checkers::kRepetitionKeys[s.repetitions];
  }
  bool repeated_within(const State& s, int plies) const {
    const int oldest = std::max(0, s.quiet - plies);
    for (int i = s.quiet - 4; i >= oldest; i -= 2) {
      if (s.history[i] == s.hash) return true;
    }
    return false;
  }

  // Binary planes: my men, my kings, their men, their kings, the piece that must go on jumping.
  // Scalars: quiet plies of those that make a draw; earlier occurrences of the position, halved.
  void observe(const State& s, std::uint64_t* words) const {
    const View view = view_of(s);
    words[0] = checkers::spread(view.men);
    words[1] = checkers::spread(view.mine & ~view.men);
    words[2] = checkers::spread(view.their_men);
    words[3] = checkers::spread(view.theirs & ~view.their_men);
    words[4] = checkers::spread(view.jumper);
    words[5] = 0;
    set_scalar(layout_, words, 0, s.quiet);
    set_scalar(layout_, words, 1, s.repetitions);
  }

  int num_symmetries(const State&) const { return 1; }
  State transform(const State& s, int) const { return s; }
  Action transform_action(Action action, int) const { return action; }
  int transform_cell(int cell, int) const { return cell; }

  // One step in PDN's numbers: "11-15", and "22x15" for a jump.
  std::string action_text(const State& s, Action action) const {
    const int from = from_square(s, action);
    const int to = to_square(s, action);
    const bool jump = checkers::kNeighbour[from][board_direction(s, action)] != to;
    return std::to_string(from + 1) + (jump ? 'x' : '-') + std::to_string(to + 1);
  }
  // Either sign may stand between the numbers.
  Action parse_action(const State& s, std::string_view text) const {
    const std::size_t sign = text.find_first_of("-x");
    const bool one_step = sign != text.npos && text.find_first_of("-x", sign + 1) == text.npos;
    if (sign != text.npos && !one_step) fail("'", text, "' must be played one jump at a time");
    const int from = checkers::parse_number(text.substr(0, sign), 1, 32) - 1;
    const int to = one_step ? checkers::parse_number(text.substr(sign + 1), 1, 32) - 1 : -1;
    if (from < 0 || to < 0) fail("'", text, "' is not a step such as 11-15 or 22x15");
    ActionList actions;
    if (expand(s, actions) != Outcome::kOngoing) {
      fail("the game is over, so '", text, "' cannot be played");
    }
    for (const Action action : actions) {
      if (from_square(s, action) == from && to_square(s, action) == to) return action;
    }
    if (s.jumper >= 0) fail("'", text, "' is not legal: ", s.jumper + 1, " must go on jumping");
    if (legal(s).jump) fail("'", text, "' is not legal: a jump is possible and must be made");
    fail("'", text, "' is not legal");
  }

  // See games/checkers/notation.hpp for the form.
  std::string position_text(const State& s) const { return checkers::position_text(s); }
  State parse_position(std::string_view text) const {
    State s = checkers::parse_position(text, quiet_plies_);
    const bool mine = s.jumper >= 0 && s.pieces(static_cast<int>(s.mover)) >> s.jumper & 1u;
    if (s.jumper >= 0 && !(mine && can_jump(s, s.jumper))) {
      fail("position '", text, "': square ", s.jumper + 1,
           " holds no piece of the mover that can jump");
    }
    return s;
  }
  // A game cut off here by material, a king for a man and a half: ahead by more than that wins.
  Outcome adjudicate(const State& s) const {
    const auto worth = [&](int player) {
      return 2 * std::popcount(s.men[player]) + 3 * std::popcount(s.kings[player]);
    };
    const int ahead = worth(0) - worth(1);
    if (std::abs(ahead) <= 3) return Outcome::kDraw;
    return win_for(ahead > 0 ? Player::kFirst : Player::kSecond);
  }

  // White at the bottom, square 1 in the top row: b and w are men, B and W kings.
  std::string cells(const State& s) const {
    std::string out(64, '.');
    for (int square = 0; square < 32; ++square) {
      char& cell = out[checkers::row_of(square) * 8 + checkers::column_of(square)];
      for (int p = 0; p < 2; ++p) {
        if (s.men[p] >> square & 1u) cell = "bw"[p];
        if (s.kings[p] >> square & 1u) cell = "BW"[p];
      }
    }
    return out;
  }

  // Paths of `depth` whole moves: a multi-jump is one move, two ways to jump are two moves. Within
  // a multi-jump its rest is the first move.
  std::uint64_t perft(const State& s, int depth) const {
    if (depth == 0) return 1;
    ActionList actions;
    if (expand(s, actions) != Outcome::kOngoing) return 0;
    if (depth == 1 && !legal(s).jump) return actions.size();
    std::uint64_t paths = 0;
    for (const Action action : actions) {
      State next = s;
      play(next, action);
      paths += perft(next, next.jumper >= 0 ? depth : depth - 1);
    }
    return paths;
  }

 private:
  using Bits = checkers::Bits;

  // The boards in the mover's frame.
  struct View {
    Bits men, mine, their_men, theirs, jumper;
  };
  // The legal actions: the squares, in the mover's frame, from which each direction is open.
  struct Steps {
    std::array<Bits, checkers::kDirections> from{};
    bool jump = false;
    bool any() const { return (from[0] | from[1] | from[2] | from[3]) != 0; }
  };

  static View view_of(const State& s) {
    const int me = static_cast<int>(s.mover);
    const Bits jumper = s.jumper >= 0 ? Bits{1} << s.jumper : 0;
    const View view = {s.men[me], s.pieces(me), s.men[1 - me], s.pieces(1 - me), jumper};
    if (me == 0) return view;
    return {checkers::turned(view.men), checkers::turned(view.mine),
            checkers::turned(view.their_men), checkers::turned(view.theirs),
            checkers::turned(view.jumper)};
  }

  // Squares of `movers` with a square of `target` in the direction.
  template <int Direction>
  static Bits next_to(Bits movers, Bits target) {
    return checkers::shifted<checkers::opposite(Direction)>(target) & movers;
  }
  template <int Direction>
  static Bits jumps(Bits movers, Bits theirs, Bits empty) {
    return next_to<Direction>(movers, next_to<Direction>(theirs, empty));
  }

  static Steps legal(const State& s) {
    const View view = view_of(s);
    const Bits empty = ~(view.mine | view.theirs);
    const Bits all = view.jumper != 0 ? view.jumper : view.mine;
    const Bits kings = all & ~view.men;
    Steps steps;
    steps.from = {jumps<0>(all, view.theirs, empty), jumps<1>(all, view.theirs, empty),
                  jumps<2>(kings, view.theirs, empty), jumps<3>(kings, view.theirs, empty)};
    steps.jump = steps.any();
    if (steps.jump) return steps;
    steps.from = {next_to<0>(all, empty), next_to<1>(all, empty), next_to<2>(kings, empty),
                  next_to<3>(kings, empty)};
    return steps;
  }

  // A player who cannot move loses, even where a draw rule would come into force.
  Outcome outcome(const State& s, const Steps& steps) const {
    if (!steps.any()) return win_for(other(s.mover));
    const bool draw = s.repetitions >= 2 || s.quiet >= quiet_plies_;
    return draw ? Outcome::kDraw : Outcome::kOngoing;
  }

  // Whether the mover's piece on `square` of the diagram has a jump.
  static bool can_jump(const State& s, int square) {
    const int me = static_cast<int>(s.mover);
    const bool king = s.kings[me] >> square & 1u;
    const int first = king || me == 0 ? 0 : 2;
    const int last = king || me == 1 ? 3 : 1;
    for (int direction = first; direction <= last; ++direction) {
      const int over = checkers::kNeighbour[square][direction];
      if (over < 0 || !(s.pieces(1 - me) >> over & 1u)) continue;
      const int to = checkers::kNeighbour[over][direction];
      if (to >= 0 && s.empty() >> to & 1u) return true;
    }
    return false;
  }

  // An action in terms of the diagram.
  static int from_square(const State& s, Action action) {
    const int square = action / checkers::kDirections;
    return s.mover == Player::kFirst ? square : 31 - square;
  }
  static int board_direction(const State& s, Action action) {
    const int direction = action % checkers::kDirections;
    return s.mover == Player::kFirst ? direction : checkers::opposite(direction);
  }
  static int to_square(const State& s, Action action) {
    const int direction = board_direction(s, action);
    const int next = checkers::kNeighbour[from_square(s, action)][direction];
    const bool jump = s.pieces(1 - static_cast<int>(s.mover)) >> next & 1u;
    return jump ? checkers::kNeighbour[next][direction] : next;
  }

  int quiet_plies_;
  ObservationLayout layout_;
};

static_assert(RepeatingGame<Checkers>);

}  // namespace zermelo
