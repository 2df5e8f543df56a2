#include "games/chess/encode.hpp"

#include <algorithm>

namespace zermelo::chess {

namespace {

constexpr int kPlanesPerBoard = 13;
constexpr int kBoards = History::kMaxBoards + 1;

Bitboard seen_by(int side, Bitboard squares) {
  return side == kWhite ? squares : flip_ranks(squares);
}

std::uint8_t rule50_byte(const Position& p) {
  return static_cast<std::uint8_t>(std::min(p.rule50, 255));
}

// Twelve words.
void write_pieces(const Position& p, std::uint64_t* words) {
  for (const int owner : {int{p.side}, 1 - p.side}) {
    for (int piece = 0; piece < kPieces; ++piece) {
      *words++ = seen_by(p.side, p.of(owner, static_cast<Piece>(piece)));
    }
  }
}

void write_pieces(const PackedBoard& board, int viewer, std::uint64_t* words) {
  for (const int owner : {viewer, 1 - viewer}) {
    for (int piece = 0; piece < kPieces; ++piece) {
      *words++ = seen_by(viewer, unpack(board, owner, static_cast<Piece>(piece)));
    }
  }
}

}  // namespace

ObservationLayout compact_layout() {
  return {.rows = 8, .columns = 8, .binary_planes = 14, .scalar_scales = {1.0f, 1.0f, 0.01f}};
}

void encode_compact(const Position& p, const History& history, std::uint64_t* words) {
  write_pieces(p, words);
  words[12] = p.en_passant == kNoSquare ? 0 : seen_by(p.side, bit(p.en_passant));
  words[13] = seen_by(p.side, p.castling);
  words[14] = std::uint64_t{history.repetitions() >= 1} |
              std::uint64_t{history.repetitions() >= 2} << 8 | std::uint64_t{rule50_byte(p)} << 16;
}

ObservationLayout lc0_layout() {
  return {.rows = 8,
          .columns = 8,
          .binary_planes = kBoards * kPlanesPerBoard,
          .scalar_scales = std::vector<float>(8, 1.0f)};
}

void encode_lc0(const Position& p, const History& history, std::uint64_t* words) {
  std::fill_n(words, kBoards * kPlanesPerBoard, 0);
  write_pieces(p, words);
  if (history.repetitions() >= 1) words[12] = ~std::uint64_t{0};
  const int known = history.num_boards();
  for (int back = 0; back < History::kMaxBoards; ++back) {
    if (back >= known && !history.fills_missing()) break;
    std::uint64_t* planes = words + (back + 1) * kPlanesPerBoard;
    if (back < known) {
      write_pieces(history.board(back), p.side, planes);
      if (history.board_repeated(back)) planes[12] = ~std::uint64_t{0};
    } else {
      // Copies of the oldest board, which had no past: nothing was repeated then.
      std::copy_n(planes - kPlanesPerBoard, kPlanesPerBoard - 1, planes);
    }
  }
  const Bitboard king = p.of(p.side, kKing);
  const Bitboard their_king = p.of(1 - p.side, kKing);
  const Bitboard mine = p.castling & back_rank(p.side);
  const Bitboard theirs = p.castling & back_rank(1 - p.side);
  const std::uint8_t scalars[8] = {
      (mine & (king - 1)) != 0,
      (mine & ~(king - 1)) != 0,
      (theirs & (their_king - 1)) != 0,
      (theirs & ~(their_king - 1)) != 0,
      p.side == kBlack,
      rule50_byte(p),
      0,
      1,
  };
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= std::uint64_t{scalars[i]} << (8 * i);
  words[kBoards * kPlanesPerBoard] = word;
}

}  // namespace zermelo::chess
