#include "games/chess/encode.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "games/text.hpp"

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

constexpr int kTurnedPlanes = kBoards * kPlanesPerBoard + 5;

// Reflections that are made in this order; the last is at the diagonal from a8 to h1.
struct Turn {
  bool files = false;
  bool ranks = false;
  bool diagonal = false;
};

Bitboard at_diagonal(Bitboard b) {
  const auto swap = [&b](Bitboard mask, int shift) {
    const Bitboard t = mask & (b ^ (b << shift));
    b ^= t ^ (t >> shift);
  };
  swap(0xAA00AA00AA00AA00ull, 9);
  swap(0xCCCC0000CCCC0000ull, 18);
  swap(0xF0F0F0F000000000ull, 36);
  return b;
}

Bitboard turned(Bitboard b, Turn turn) {
  if (turn.files) b = mirror_files(b);
  if (turn.ranks) b = flip_ranks(b);
  return turn.diagonal ? at_diagonal(b) : b;
}

Turn turn_of(const Position& p) {
  constexpr Bitboard kQueenSide = 0x0F0F0F0F0F0F0F0Full;
  constexpr Bitboard kUpperHalf = 0xFFFFFFFF00000000ull;
  constexpr Bitboard kAboveDiagonal = 0xE0C08000ull;
  constexpr Bitboard kDiagonal = 0x10204080ull;
  Turn turn;
  if (p.castling != 0) return turn;
  const Bitboard king = seen_by(p.side, p.of(p.side, kKing));
  turn.files = (king & kQueenSide) != 0;
  if (p.pieces[kPawn] != 0) return turn;
  turn.ranks = (king & kUpperHalf) != 0;
  const Bitboard corner = turned(king, turn);
  turn.diagonal = (corner & kAboveDiagonal) != 0;
  if ((corner & kDiagonal) == 0) return turn;
  for (const Bitboard men : {p.occupied(), p.sides[p.side], p.pieces[kKing], p.pieces[kQueen],
                             p.pieces[kRook], p.pieces[kKnight], p.pieces[kBishop]}) {
    const Bitboard seen = turned(seen_by(p.side, men), turn);
    if (seen == at_diagonal(seen)) continue;
    turn.diagonal = seen > at_diagonal(seen);
    break;
  }
  return turn;
}

void write_pieces(const PackedBoard& board, int viewer, std::uint64_t* words) {
  for (const int owner : {viewer, 1 - viewer}) {
    for (int piece = 0; piece < kPieces; ++piece) {
      *words++ = seen_by(viewer, unpack(board, owner, static_cast<Piece>(piece)));
    }
  }
}

constexpr std::pair<std::string_view, Encoder> kNames[] = {
    {"compact", Encoder::kCompact},
    {"lc0", Encoder::kLc0},
    {"lc0_3", Encoder::kTurned},
    {"lc0_4", Encoder::kTurnedHundredths},
    {"lc0_5", Encoder::kTurnedRepeats},
    {"lc0_132", Encoder::kTurnedArmageddon},
    {"lc0_133", Encoder::kTurnedRepeatsArmageddon},
};

}  // namespace

Encoder parse_encoder(std::string_view name) {
  for (const auto& [known, encoder] : kNames) {
    if (known == name) return encoder;
  }
  fail("the chess encoder '", name,
       "' is none of compact, lc0, lc0_3, lc0_4, lc0_5, lc0_132, lc0_133");
}

std::string_view encoder_name(Encoder encoder) {
  return kNames[static_cast<std::size_t>(encoder)].first;
}

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

namespace {

// Eight boards of 13 planes.
void write_boards(const Position& p, const History& history, std::uint64_t* words) {
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
}

}  // namespace

void encode_lc0(const Position& p, const History& history, std::uint64_t* words) {
  write_boards(p, history, words);
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

ObservationLayout turned_layout(Encoder encoder) {
  std::vector<float> scales(6, 1.0f);
  if (encoder != Encoder::kTurned) scales[0] = 0.01f;
  return {.rows = 8, .columns = 8, .binary_planes = kTurnedPlanes, .scalar_scales = scales};
}

void encode_turned(Encoder encoder, const Position& p, const History& history,
                   std::uint64_t* words) {
  write_boards(p, history, words);
  const Bitboard castling = seen_by(p.side, p.castling);
  const Bitboard king = p.of(p.side, kKing);
  const Bitboard their_king = p.of(1 - p.side, kKing);
  const Bitboard mine = p.castling & back_rank(p.side);
  const Bitboard theirs = p.castling & back_rank(1 - p.side);
  const Bitboard queen_side = seen_by(p.side, (mine & (king - 1)) | (theirs & (their_king - 1)));
  std::uint64_t* after = words + kBoards * kPlanesPerBoard;
  const Square passed = history.passed();
  after[0] = queen_side;
  after[1] = castling ^ queen_side;
  after[2] = after[3] = 0;
  after[4] = passed == kNoSquare ? 0 : bit(square_at(file_of(passed), 7));

  const Turn turn = turn_of(p);
  for (int plane = 0; plane < kTurnedPlanes; ++plane) words[plane] = turned(words[plane], turn);
  const bool armageddon =
      encoder == Encoder::kTurnedArmageddon || encoder == Encoder::kTurnedRepeatsArmageddon;
  after[5] = std::uint64_t{rule50_byte(p)} | std::uint64_t{armageddon && p.side == kBlack} << 8 |
             std::uint64_t{1} << 16 | std::uint64_t{turn.files} << 24 |
             std::uint64_t{turn.ranks} << 32 | std::uint64_t{turn.diagonal} << 40;
}

}  // namespace zermelo::chess
