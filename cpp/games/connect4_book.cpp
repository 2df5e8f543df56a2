#include "games/connect4_book.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "games/text.hpp"

namespace zermelo::connect4 {
namespace {

constexpr std::string_view kMagic = "ZC4 BOOK";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kChecksumBytes = 8;
constexpr int kScoreBias = 64;
constexpr int kBestScore = 18;  // four stones win

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return hash;
}

void append(std::string& bytes, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(number >> 8 * i & 0xFF);
}

std::uint64_t number_at(std::string_view bytes, std::size_t offset, int width) {
  std::uint64_t number = 0;
  for (int i = 0; i < width; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << 8 * i;
  }
  return number;
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw std::runtime_error("there is no file '" + path + "'");
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(std::filesystem::file_size(path)), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw std::runtime_error("'" + path + "' cannot be read");
  }
  return bytes;
}

}  // namespace

Book::Book(int max_plies, const std::vector<Entry>& entries) : max_plies_(max_plies) {
  entries_.reserve(entries.size());
  for (const Entry& entry : entries) {
    entries_.push_back(entry.key << 8 | static_cast<std::uint64_t>(entry.score + kScoreBias));
  }
  std::sort(entries_.begin(), entries_.end());
}

Book Book::load(const std::string& path) {
  const std::string bytes = read_file(path);
  const auto refuse = [&](const auto&... why) {
    fail("'", path, "' is no Connect Four book: ", why...);
  };
  if (!std::string_view(bytes).starts_with(kMagic)) refuse("it does not begin with '", kMagic, "'");
  if (bytes.size() < kHeaderBytes + kChecksumBytes) refuse("it ends within its header");
  const std::uint64_t version = number_at(bytes, 8, 4);
  if (version != kVersion) refuse("its format has version ", version, ", not ", kVersion);
  const std::size_t body = bytes.size() - kHeaderBytes - kChecksumBytes;
  const std::uint64_t count = number_at(bytes, 16, 8);
  if (body % 8 != 0 || body / 8 != count) {
    refuse("it should have ", count, " entries but has ", body, " bytes for them");
  }
  const std::string_view summed = std::string_view(bytes).substr(0, bytes.size() - kChecksumBytes);
  if (fnv1a(summed) != number_at(bytes, summed.size(), 8)) refuse("its checksum is wrong");

  Book book;
  book.max_plies_ = static_cast<int>(number_at(bytes, 12, 4));
  if (book.max_plies_ < 0 || book.max_plies_ > Connect4::kCells)
    refuse("it has ", book.max_plies_, " plies");
  book.entries_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t entry = number_at(bytes, kHeaderBytes + 8 * i, 8);
    const int score = static_cast<int>(entry & 0xFF) - kScoreBias;
    const bool ascending = i == 0 || entry >> 8 > book.entries_.back() >> 8;
    if (!ascending || entry >> 8 >> kKeyBits != 0 || std::abs(score) > kBestScore) {
      refuse("its entry ", i + 1, " is not valid");
    }
    book.entries_.push_back(entry);
  }
  return book;
}

void Book::save(const std::string& path) const {
  std::string bytes(kMagic);
  append(bytes, kVersion, 4);
  append(bytes, static_cast<std::uint64_t>(max_plies_), 4);
  append(bytes, entries_.size(), 8);
  for (const std::uint64_t entry : entries_) append(bytes, entry, 8);
  append(bytes, fnv1a(bytes), 8);

  const std::string aside = path + ".part";
  std::error_code error;
  {
    std::ofstream file(aside, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      std::filesystem::remove(aside, error);
      throw std::runtime_error("the book '" + path + "' cannot be written");
    }
  }
  std::filesystem::rename(aside, path, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    throw std::runtime_error("the book '" + path + "' cannot be written: " + error.message());
  }
}

Bits Book::canonical_key(const Board& board) {
  const Bits key = position_key(board.mine, board.occupied);
  return std::min(key, mirrored_key(key));
}

std::optional<int> Book::find(const Board& board) const {
  if (board.ply > max_plies_) return std::nullopt;
  const Bits key = canonical_key(board);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), key << 8);
  if (found == entries_.end() || *found >> 8 != key) return std::nullopt;
  return static_cast<int>(*found & 0xFF) - kScoreBias;
}

std::vector<Bits> next_positions(const std::vector<Bits>& keys) {
  std::vector<Bits> next;
  for (const Bits key : keys) {
    const Board board = board_of_key(key);
    for (Bits cells = board.playable(); cells != 0; cells &= cells - 1) {
      const Bits cell = cells & (~cells + 1);
      if (!has_four(board.mine | cell)) next.push_back(Book::canonical_key(board.after(cell)));
    }
  }
  std::sort(next.begin(), next.end());
  next.erase(std::unique(next.begin(), next.end()), next.end());
  return next;
}

Board board_of_key(Bits key) {
  Board board;
  for (int column = 0; column < Connect4::kColumns; ++column) {
    // mine + (2^height - 1), where mine < 2^height.
    const Bits stack = (key >> column * kColumnBits & 0x7F) + 1;
    const Bits top = std::bit_floor(stack);
    board.mine |= (stack ^ top) << column * kColumnBits;
    board.occupied |= (top - 1) << column * kColumnBits;
  }
  board.ply = std::popcount(board.occupied);
  return board;
}

}  // namespace zermelo::connect4
