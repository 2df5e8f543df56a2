// Chess, the complete game: FIDE rules with threefold repetition, the fifty-move rule and dead
// material as immediate draws; Chess960 as an option. It joins the parts beside it (position,
// moves, actions, history, encoders, text) to what the Game concept asks for. White is the first
// player.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "games/chess/actions.hpp"
#include "games/chess/encode.hpp"
#include "games/chess/history.hpp"
#include "games/chess/position.hpp"
#include "games/game.hpp"

namespace zermelo {

struct ChessOptions {
  // Castling by Chess960's rules and text; the usual start position is still the initial one.
  bool chess960 = false;
  chess::Encoder encoder = chess::Encoder::kCompact;
  // Positions without castling rights have their left-right mirror image as a symmetry.
  bool mirror = false;
};

class Chess {
 public:
  // Equal when position, clocks and the number of earlier occurrences are: as far as hash() sees.
  struct State {
    chess::Position position;
    chess::History history;
    friend bool operator==(const State& a, const State& b) {
      return a.position == b.position && a.history.repetitions() == b.history.repetitions();
    }
  };

  explicit Chess(ChessOptions options = {});

  const ChessOptions& options() const { return options_; }
  std::string name() const;  // chess?encoder=lc0&chess960=on&mirror=on, defaults left out
  int num_actions() const { return chess::kNumActions; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const { return initial_; }
  Outcome expand(const State& state, ActionList& actions) const;
  Outcome outcome(const State& state) const;
  void play(State& state, Action action) const;

  Player player(const State& state) const {
    return state.position.side == chess::kWhite ? Player::kFirst : Player::kSecond;
  }
  int ply(const State& state) const { return state.position.ply; }
  // The position's key with the rule-50 counter and the repetitions mixed in.
  std::uint64_t hash(const State& state) const;
  // hash() for an evaluation that few quiet plies hardly change: below 40 all count as none.
  std::uint64_t clockless_hash(const State& state) const;
  // The older boards that the encoder shows (lc0's), which hash() leaves out; 0 where it shows
  // none.
  std::uint64_t history_hash(const State& state) const;
  void observe(const State& state, std::uint64_t* words) const;

  int num_symmetries(const State& state) const {
    return options_.mirror && state.position.castling == 0 ? 2 : 1;
  }
  State transform(const State& state, int symmetry) const;
  Action transform_action(Action action, int symmetry) const {
    return symmetry == 0 ? action : chess::mirrored_action(action);
  }
  int transform_cell(int cell, int symmetry) const {
    return symmetry == 0 ? cell : chess::mirror(cell);
  }

  // UCI: e2e4, e7e8q; castling is e1g1, in Chess960 e1h1 (king takes rook). Both are understood
  // unless the former is also a plain king move.
  std::string action_text(const State& state, Action action) const;
  Action parse_action(const State& state, std::string_view text) const;
  // FEN. Read also: "startpos", and after either " moves e2e4 e7e5 ...", which gives the state its
  // history. Those moves must be legal but may go on after a draw, as games without a claim do.
  std::string position_text(const State& state) const;
  State parse_position(std::string_view text) const;
  std::string cells(const State& state) const;
  // The Chess960 start position of that number, 0 to 959; 518 is the usual one.
  State chess960_start(int number) const;

  // Whether the position already stood on the board during the last `plies` plies.
  bool repeated_within(const State& state, int plies) const {
    const int last = state.history.last_repeat();
    return last != 0 && last <= plies;
  }

  // A game cut off here by material: ahead by a minor piece or more wins.
  Outcome adjudicate(const State& state) const;

  // Standard perft: draw rules do not stop it.
  std::uint64_t perft(const State& state, int depth) const;

  // The moves of the position, in expand()'s order, also where the game is drawn by rule.
  void legal_moves(const State& state, ActionList& actions) const;

  // A state as bytes with its history, for pickling; restoring checks them.
  std::string state_bytes(const State& state) const;
  State state_from_bytes(std::string_view bytes) const;

 private:
  bool drawn_at_sight(const State& state) const;
  Outcome outcome_of(const State& state, bool has_moves) const;
  // The action that `text` names, or it throws; the draw rules are not asked.
  Action find_action(const State& state, std::string_view text) const;
  State from_fen(std::string_view text) const;

  ChessOptions options_;
  ObservationLayout layout_;
  State initial_;
};

static_assert(RepeatingGame<Chess>);

}  // namespace zermelo
