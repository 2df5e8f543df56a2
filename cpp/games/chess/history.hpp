// What a game must remember of its past: the keys that may repeat and, for the lc0 encoder, the
// last boards. It lives inside a state, has no heap, and copying it copies only what is in use.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "games/chess/position.hpp"

namespace zermelo::chess {

class History {
 public:
  static constexpr int kMaxKeys = 100;  // the fifty-move rule ends the game then
  static constexpr int kMaxBoards = 7;

  History() {}  // the arrays stay uninitialised
  History(const History& other) { copy(other); }
  History& operator=(const History& other) {
    if (this != &other) copy(other);
    return *this;
  }

  // How often the current position occurred before, and how many plies ago it last did (0: never).
  int repetitions() const { return repetitions_; }
  int last_repeat() const { return last_repeat_; }

  int num_boards() const { return num_boards_; }
  // 0 is the position before the current one; `repeated`: it had occurred before at that time.
  const PackedBoard& board(int back) const { return boards_[slot(back)]; }
  bool board_repeated(int back) const { return board_repeated_ >> slot(back) & 1; }

  // Whether boards that are missing show the oldest one (a game from a set-up position) or nothing
  // (a game from the usual start).
  bool fills_missing() const { return fills_missing_; }
  void set_fills_missing(bool fills) { fills_missing_ = fills; }

  // Behind a pawn that has just passed an enemy pawn's square, may it be taken or not; only kept
  // for encoders that show it.
  Square passed() const { return passed_; }
  void set_passed(Square square) { passed_ = static_cast<std::uint8_t>(square); }

  void clear_boards() {
    num_boards_ = 0;
    fills_missing_ = false;
  }
  void add_board(const PackedBoard& board) {
    newest_ = static_cast<std::uint8_t>((newest_ + 1) % kSlots);
    boards_[newest_] = board;
    const unsigned bit = 1u << newest_;
    board_repeated_ =
        static_cast<std::uint8_t>((board_repeated_ & ~bit) | (repetitions_ > 0 ? bit : 0u));
    if (num_boards_ < kMaxBoards) ++num_boards_;
  }

  // The position with key `left` was left by a move to a position with key `reached`. After an
  // irreversible move nothing before it can come back.
  void advance(std::uint64_t left, std::uint64_t reached, bool irreversible);

  void mirror();

  // For pickling: the bytes in use. `assign` throws if they are not of this form.
  std::string bytes() const;
  void assign(std::string_view bytes);

 private:
  static constexpr int kSlots = 8;

  int slot(int back) const { return (newest_ + kSlots - back) % kSlots; }
  void copy(const History& other);

  std::uint8_t num_keys_ = 0;
  std::uint8_t repetitions_ = 0;
  std::uint8_t last_repeat_ = 0;
  std::uint8_t num_boards_ = 0;
  std::uint8_t newest_ = 0;
  std::uint8_t board_repeated_ = 0;  // one bit per slot of boards_
  bool fills_missing_ = false;
  std::uint8_t passed_ = kNoSquare;
  std::array<std::uint64_t, kMaxKeys> keys_;  // oldest first, without the current one
  std::array<PackedBoard, kSlots> boards_;    // a ring
};

}  // namespace zermelo::chess
