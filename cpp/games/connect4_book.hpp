// An opening book of Connect Four: the exact scores of all positions of up to some number of plies,
// and its file. It is a cache: the solver can always make it again.
//
// The file, all numbers little-endian:
//   bytes 0-7     the letters "ZC4 BOOK"
//   8-11          version of the format, 1
//   12-15         max_plies
//   16-23         number of entries
//   24-...        the entries, 8 bytes each, ascending: key * 256 + score + 64, where the key is
//                 the smaller of the position's key and its mirror image's (connect4_bits.hpp)
//   last 8 bytes  FNV-1a checksum (64 bits) of all bytes before
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "games/connect4_bits.hpp"

namespace zermelo::connect4 {

class Book {
 public:
  struct Entry {
    Bits key;
    int score;
  };

  Book() = default;
  Book(int max_plies, const std::vector<Entry>& entries);

  // Both throw with one sentence that names the file. A file is written aside and then renamed.
  static Book load(const std::string& path);
  void save(const std::string& path) const;

  static Bits canonical_key(const Board& board);

  std::optional<int> find(const Board& board) const;
  int max_plies() const { return max_plies_; }
  std::size_t size() const { return entries_.size(); }

 private:
  int max_plies_ = -1;                  // an empty book
  std::vector<std::uint64_t> entries_;  // as in the file
};

// Keys of all unfinished positions of `ply` plies, one per mirrored pair, ascending, given those of
// the ply before; and the position of a key.
std::vector<Bits> next_positions(const std::vector<Bits>& keys);
Board board_of_key(Bits key);

}  // namespace zermelo::connect4
