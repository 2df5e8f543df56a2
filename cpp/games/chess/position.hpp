// A chess position without its past: pieces, side to move, castling rights, en passant, clocks and
// key; playing a move in it. Knows neither how moves are generated nor when a game is drawn.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "games/chess/attacks.hpp"
#include "games/chess/bitboard.hpp"

namespace zermelo::chess {

// What is special about a move; 1 to 4 are promotions to that Piece.
enum MoveKind : std::uint8_t {
  kNormal = 0,
  kPromoteKnight = kKnight,
  kPromoteBishop = kBishop,
  kPromoteRook = kRook,
  kPromoteQueen = kQueen,
  kDoublePush,
  kEnPassant,
  kCastle,
};

// Castling is king takes own rook: `to` is the rook's square.
struct Move {
  std::uint8_t from = 0;
  std::uint8_t to = 0;
  Piece piece = kPawn;
  MoveKind kind = kNormal;
  friend bool operator==(const Move&, const Move&) = default;
};

constexpr bool is_promotion(MoveKind kind) {
  return kind >= kPromoteKnight && kind <= kPromoteQueen;
}

// Where king and rook end when the king takes the rook on `rook`.
constexpr Square castled_king(Square king, Square rook) {
  return square_at(rook < king ? 2 : 6, rank_of(king));
}
constexpr Square castled_rook(Square king, Square rook) {
  return square_at(rook < king ? 3 : 5, rank_of(king));
}

struct Position {
  std::array<Bitboard, kPieces> pieces{};  // by Piece, both sides
  std::array<Bitboard, 2> sides{};
  Bitboard castling = 0;                // rooks with which their king may still castle
  std::uint64_t key = 0;                // Zobrist key of all but the clocks
  std::int32_t rule50 = 0;              // plies since the last capture or pawn move
  std::int32_t ply = 0;                 // 2 * (full moves - 1) + (black to move)
  std::uint8_t en_passant = kNoSquare;  // square behind a pawn that can legally be taken so
  std::uint8_t side = kWhite;

  Bitboard occupied() const { return sides[kWhite] | sides[kBlack]; }
  Bitboard of(int owner, Piece piece) const { return sides[owner] & pieces[piece]; }
  Square king(int owner) const { return lowest(of(owner, kKing)); }
  // The square must be occupied.
  Piece piece_at(Square square) const;

  friend bool operator==(const Position&, const Position&) = default;
};

// The pieces of `owner` that attack `square` when the squares of `occupied` are taken.
Bitboard attackers(const Position& position, int owner, Square square, Bitboard occupied);

bool in_check(const Position& position);

// Whether the pawn on `from` may take en passant on `target` without leaving its king in check.
bool en_passant_is_legal(const Position& position, Square from, Square target);

// Plays a legal move. The second form is for counting paths: it leaves key and clocks as they were
// and marks en passant whenever a pawn stands ready, legal or not.
void play(Position& position, Move move);
template <int us>
void play_for_count(Position& position, Move move);

// The key from scratch; `play` keeps it up to date.
std::uint64_t compute_key(const Position& position);

// The key of the position mirrored left to right (its castling rights must be none): the keys of
// mirrored squares are each other with their halves exchanged, and so are their sums.
constexpr std::uint64_t mirror_key(std::uint64_t key) { return std::rotl(key, 32); }

Position mirrored(const Position& position);

// Neither side can mate by any sequence of legal moves, judged by the pieces and the colours of the
// bishops' squares alone.
bool insufficient_material(const Position& position);

// The four words tell a board without rights and clocks: three bits of the piece's number + 1, and
// which pieces are black's.
struct PackedBoard {
  std::array<Bitboard, 4> words;
  friend bool operator==(const PackedBoard&, const PackedBoard&) = default;
};

PackedBoard pack(const Position& position);
// The pieces of one kind and owner.
Bitboard unpack(const PackedBoard& board, int owner, Piece piece);
PackedBoard mirrored(const PackedBoard& board);

template <int us>
inline void play_for_count(Position& p, Move move) {
  constexpr int them = 1 - us;
  const Bitboard from = bit(move.from);
  const Bitboard to = bit(move.to);
  p.en_passant = kNoSquare;
  p.side = them;
  if (move.kind == kCastle) [[unlikely]] {
    const Bitboard king_to = bit(castled_king(move.from, move.to));
    const Bitboard rook_to = bit(castled_rook(move.from, move.to));
    p.castling &= ~back_rank(us);
    p.pieces[kKing] ^= from ^ king_to;
    p.pieces[kRook] ^= to ^ rook_to;
    p.sides[us] ^= from ^ to ^ king_to ^ rook_to;
    return;
  }
  p.castling &= ~(from | to);
  if (p.sides[them] & to) {
    p.sides[them] ^= to;
    for (Bitboard& pieces : p.pieces) pieces &= ~to;
  }
  p.pieces[move.piece] ^= from ^ to;
  p.sides[us] ^= from ^ to;
  if (move.piece == kKing) {
    p.castling &= ~back_rank(us);
  } else if (move.kind == kDoublePush) {
    const Square behind = (move.from + move.to) / 2;
    if (kPawnAttacks[us][behind] & p.pieces[kPawn] & p.sides[them]) {
      p.en_passant = static_cast<std::uint8_t>(behind);
    }
  } else if (move.kind == kEnPassant) {
    const Bitboard taken = bit(move.to + (us == kWhite ? -8 : 8));
    p.pieces[kPawn] ^= taken;
    p.sides[them] ^= taken;
  } else if (move.kind != kNormal) {
    p.pieces[kPawn] ^= to;
    p.pieces[move.kind] ^= to;
  }
}

}  // namespace zermelo::chess
