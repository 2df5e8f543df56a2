#include "games/chess/history.hpp"

#include <algorithm>
#include <cstring>

#include "games/text.hpp"

namespace zermelo::chess {

void History::copy(const History& other) {
  num_keys_ = other.num_keys_;
  repetitions_ = other.repetitions_;
  last_repeat_ = other.last_repeat_;
  num_boards_ = other.num_boards_;
  newest_ = other.newest_;
  board_repeated_ = other.board_repeated_;
  fills_missing_ = other.fills_missing_;
  passed_ = other.passed_;
  std::copy_n(other.keys_.begin(), num_keys_, keys_.begin());
  for (int back = 0; back < num_boards_; ++back) boards_[slot(back)] = other.boards_[slot(back)];
}

void History::advance(std::uint64_t left, std::uint64_t reached, bool irreversible) {
  repetitions_ = 0;
  last_repeat_ = 0;
  if (irreversible) {
    num_keys_ = 0;
    return;
  }
  if (num_keys_ == kMaxKeys) {  // only where moves are played on after a draw
    std::copy(keys_.begin() + 1, keys_.end(), keys_.begin());
    --num_keys_;
  }
  keys_[num_keys_++] = left;
  // The same side moves every second ply; two plies cannot restore a position.
  for (int back = 4; back <= num_keys_; back += 2) {
    if (keys_[num_keys_ - back] != reached) continue;
    if (repetitions_++ == 0) last_repeat_ = static_cast<std::uint8_t>(back);
  }
}

void History::mirror() {
  for (int i = 0; i < num_keys_; ++i) keys_[i] = mirror_key(keys_[i]);
  if (passed_ != kNoSquare) set_passed(chess::mirror(passed_));
  for (int back = 0; back < num_boards_; ++back) {
    boards_[slot(back)] = mirrored(boards_[slot(back)]);
  }
}

std::string History::bytes() const {
  std::string out;
  for (const std::uint8_t value : {num_keys_, repetitions_, last_repeat_, num_boards_}) {
    out += static_cast<char>(value);
  }
  out += static_cast<char>(fills_missing_);
  out += static_cast<char>(passed_);
  for (int i = 0; i < num_keys_; ++i) {
    out.append(reinterpret_cast<const char*>(&keys_[i]), sizeof(keys_[i]));
  }
  for (int back = num_boards_ - 1; back >= 0; --back) {
    out += static_cast<char>(board_repeated(back));
    out.append(reinterpret_cast<const char*>(&board(back)), sizeof(PackedBoard));
  }
  return out;
}

void History::assign(std::string_view bytes) {
  constexpr std::size_t kHeader = 6;
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : std::uint8_t{255};
  };
  const std::size_t keys = byte(0);
  const std::size_t boards = byte(3);
  if (keys > kMaxKeys || boards > kMaxBoards ||
      bytes.size() != kHeader + keys * sizeof(std::uint64_t) + boards * (1 + sizeof(PackedBoard))) {
    fail("these ", bytes.size(), " bytes are not the history of a chess game");
  }
  *this = History();
  const char* next = bytes.data() + kHeader;
  for (; num_keys_ < keys; ++num_keys_, next += sizeof(std::uint64_t)) {
    std::memcpy(&keys_[num_keys_], next, sizeof(std::uint64_t));
  }
  for (std::size_t i = 0; i < boards; ++i) {
    PackedBoard board;
    std::memcpy(&board, next + 1, sizeof(board));
    repetitions_ = *next != 0;
    add_board(board);
    next += 1 + sizeof(board);
  }
  repetitions_ = byte(1);
  last_repeat_ = byte(2);
  fills_missing_ = byte(4) != 0;
  set_passed(byte(5));
}

}  // namespace zermelo::chess
