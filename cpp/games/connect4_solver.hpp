// Perfect play in Connect Four: the exact score of any position.
//
// Scores count for the player to move: positive wins, negative loses, 0 draws; the magnitude is 22
// minus the number of stones that the winner has at the end, so quicker wins score higher.
// Of a finished game it is the loser's score, because the loser is to move.
// Thread rule: one call at a time; a second thread that calls meanwhile gets an error, not a wrong
// score. Only nodes() may be read at any time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "games/connect4.hpp"
#include "games/connect4_bits.hpp"
#include "games/connect4_book.hpp"
#include "games/connect4_table.hpp"

namespace zermelo {

class Connect4Solver {
 public:
  static constexpr int kDefaultTableMib = 64;
  static constexpr int kMaxBookPlies = 12;
  static constexpr std::uint64_t kNodesBetweenChecks = 16384;  // one or two milliseconds

  // Asked every kNodesBetweenChecks nodes, in the solver's thread; "true" ends the call with
  // Stopped.
  using StopCheck = std::function<bool()>;
  struct Stopped : std::runtime_error {
    Stopped() : std::runtime_error("the solver was stopped") {}
  };
  using Scores = std::array<std::optional<int>, Connect4::kColumns>;

  explicit Connect4Solver(int table_mib = kDefaultTableMib) : table_(table_mib) {}

  int solve(const Connect4::State& state, const StopCheck& stop = {});
  // Only who wins: 1, 0 or -1. Quicker than the score.
  int solve_weak(const Connect4::State& state, const StopCheck& stop = {});
  // The score of every column for the player to move; none for full columns and finished games.
  Scores analyse(const Connect4::State& state, const StopCheck& stop = {});

  // Positions visited since construction or reset().
  std::uint64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
  // Forgets everything but the book.
  void reset();

  // Scores all positions of up to `max_plies` plies and writes them to a file, which load_book
  // reads. Also takes the book into use.
  void build_book(int max_plies, const std::string& path, const StopCheck& stop = {});
  void load_book(const std::string& path);
  const connect4::Book& book() const { return book_; }

 private:
  struct Move {
    connect4::Bits cell;
    connect4::Bits wins;  // empty cells that complete four for the mover after this move
    int order;            // the higher, the earlier it is tried
  };
  using Moves = std::array<Move, Connect4::kColumns>;

  int score(const connect4::Board& board, const StopCheck& stop);
  int score_between(const connect4::Board& board, int lower, int upper, const StopCheck& stop);
  int search(const connect4::Board& board, connect4::Bits their_wins, int alpha);
  std::optional<int> known_above(const connect4::Board& board, std::span<const Move> moves,
                                 int alpha) const;
  int order_moves(const connect4::Board& board, connect4::Bits cells, Moves& moves) const;
  void count_node();

  class Turn;  // held by every public call that changes the solver

  connect4::Table table_;
  connect4::Book book_;
  const StopCheck* stop_ = nullptr;  // of the running call
  std::atomic<std::uint64_t> nodes_ = 0;
  std::atomic<bool> busy_ = false;
};

}  // namespace zermelo
