// What is fuzzed: everything in the core that reads what a person or a file gave. A target takes
// any bytes; it refuses them by Refused or uses what it read. Whatever else happens is a fault: a
// report of a sanitizer, another exception, or `must`.
//
// The bytes that once did harm stand in tests/data/fuzz/<target>; the tests try them every time.
// Knows no libFuzzer (libfuzzer.cpp does), so that the tests can call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "games/checkers.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "games/hex.hpp"
#include "games/othello.hpp"
#include "games/tictactoe.hpp"

namespace zermelo::fuzz {

using Bytes = std::span<const std::uint8_t>;

// A line for the position, then one for each action; the first byte is the game, as in every
// target.
void texts(Bytes bytes);
// selfplay.bin without its checksum, and a few moves of what was loaded.
void saved_games(Bytes bytes);
// A shard's columns: recorded games and the samples that are said to be theirs.
void samples(Bytes bytes);
// A processor network of these numbers, evaluated on observations of these bits.
void sparse_network(Bytes bytes);
// A file of Connect Four's opening book without its checksum.
void connect4_book(Bytes bytes);

struct Target {
  const char* name;
  void (*run)(Bytes);
};
inline constexpr Target kTargets[] = {
    {"texts", texts},
    {"saved_games", saved_games},
    {"samples", samples},
    {"sparse_network", sparse_network},
    {"connect4_book", connect4_book},
};

inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Numbers from the front of the bytes; zeros when there are no more.
class Reader {
 public:
  explicit Reader(Bytes bytes) : left_(bytes) {}

  template <class T>
  T number() {
    T value = {};
    const std::size_t size = std::min(sizeof(value), left_.size());
    std::memcpy(&value, left_.data(), size);
    left_ = left_.subspan(size);
    return value;
  }
  std::string_view rest() const {
    return {reinterpret_cast<const char*>(left_.data()), left_.size()};
  }

 private:
  Bytes left_;
};

// Calls `see` with the game of a number.
template <class See>
void with_game(std::uint8_t number, const See& see) {
  switch (number % 8) {
    case 0:
      return see(TicTacToe());
    case 1:
      return see(Connect4());
    case 2:
      return see(Othello(OthelloOptions{.size = 6}));
    case 3:
      return see(Hex(HexOptions{.size = 5, .swap = true}));
    case 4:
      return see(Checkers());
    case 5:
      return see(Chess(ChessOptions{.chess960 = true}));
    default:
      return see(Chess());
  }
}

}  // namespace zermelo::fuzz
