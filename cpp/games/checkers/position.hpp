// A position of checkers with its incremental hash and the history that repetition asks for. It
// knows where pieces stand, not how they move.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/types.hpp"
#include "base/zobrist.hpp"
#include "games/checkers/squares.hpp"

namespace zermelo::checkers {

inline constexpr int kMaxQuietPlies = 200;

// Everything but the history. Boards are seen as the diagram shows them, whoever moves.
struct Position {
  std::array<Bits, 2> men{};    // by player
  std::array<Bits, 2> kings{};  // by player
  Player mover = Player::kFirst;
  std::int8_t jumper = -1;       // the square whose piece must go on jumping, or -1
  std::uint8_t quiet = 0;        // plies since the last capture or move of a man
  std::uint8_t repetitions = 0;  // how often this position stood here before: 0, 1 or 2
  std::uint16_t ply = 0;         // steps and single jumps, so several to a multi-jump
  std::uint64_t hash = 0;        // of pieces, mover and jumper

  Bits pieces(int player) const { return men[player] | kings[player]; }
  Bits empty() const { return ~(pieces(0) | pieces(1)); }
};

struct State : Position {
  // Hashes of the last `quiet` positions, oldest first; 0 where a position's text did not tell.
  std::array<std::uint64_t, kMaxQuietPlies> history;

  State() {}  // no history yet: the array stays as it is
  // The search copies a state per simulation; most have a short history.
  State(const State& from) : Position(from) { copy_history(from); }
  State& operator=(const State& from) {
    Position::operator=(from);
    copy_history(from);
    return *this;
  }

  // Equal for the observation, the legal actions and the counters of the draw rules; the ply and
  // the older history do not matter.
  friend bool operator==(const State& a, const State& b) {
    return a.men == b.men && a.kings == b.kings && a.mover == b.mover && a.jumper == b.jumper &&
           a.quiet == b.quiet && a.repetitions == b.repetitions;
  }

 private:
  void copy_history(const State& from) {
    std::copy_n(from.history.begin(), from.quiet, history.begin());
  }
};

inline constexpr auto kPieceKeys = zobrist_keys<4 * 32, 0xC4EC>();
inline constexpr auto kJumperKeys = zobrist_keys<32, 0xC4ED>();
inline constexpr auto kQuietKeys = zobrist_keys<kMaxQuietPlies + 1, 0xC4EE>();
inline constexpr auto kRepetitionKeys = zobrist_keys<3, 0xC4EF>();
inline constexpr std::uint64_t kMoverKey = zobrist_keys<1, 0xC4F0>()[0];

// Puts a piece on the square, or takes that piece away.
inline void toggle(State& s, int player, bool king, int square) {
  (king ? s.kings : s.men)[player] ^= Bits{1} << square;
  s.hash ^= kPieceKeys[(player * 2 + king) * 32 + square];
}

inline void set_jumper(State& s, int square) {
  if (s.jumper >= 0) s.hash ^= kJumperKeys[s.jumper];
  if (square >= 0) s.hash ^= kJumperKeys[square];
  s.jumper = static_cast<std::int8_t>(square);
}

inline void change_mover(State& s) {
  s.mover = other(s.mover);
  s.hash ^= kMoverKey;
}

// Notes that a quiet ply led from the position with hash `before` to this one.
inline void remember(State& s, std::uint64_t before) {
  s.history[s.quiet++] = before;
  s.repetitions = 0;
  // Both sides must leave and come back, so a position returns after four plies at the earliest.
  for (int i = s.quiet - 4; i >= 0 && s.repetitions < 2; i -= 2) {
    if (s.history[i] == s.hash) ++s.repetitions;
  }
}

inline void forget(State& s) {
  s.quiet = 0;
  s.repetitions = 0;
}

}  // namespace zermelo::checkers
