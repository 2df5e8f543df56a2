#include "games/chess/position.hpp"

#include <bit>

#include "base/zobrist.hpp"

namespace zermelo::chess {

namespace {

// Square keys of files e-h are those of the mirrored square with their halves exchanged, see
// mirror_key(); the key of the side to move has two equal halves.
struct Keys {
  std::array<std::array<std::array<std::uint64_t, 64>, kPieces>, 2> piece{};
  std::array<std::uint64_t, 64> castling{};
  std::array<std::uint64_t, 8> en_passant{};  // by file
  std::uint64_t black_moves = 0;
};

constexpr Keys make_keys() {
  constexpr auto random = zobrist_keys<2 * kPieces * 64 + 64 + 8 + 1, 0xC4E55>();
  Keys keys;
  std::size_t next = 0;
  for (auto& side : keys.piece) {
    for (auto& piece : side) {
      for (Square square = 0; square < 64; ++square) {
        piece[square] = file_of(square) < 4 ? random[next++] : mirror_key(piece[mirror(square)]);
      }
    }
  }
  for (auto& key : keys.castling) key = random[next++];
  for (int file = 0; file < 8; ++file) {
    keys.en_passant[file] = file < 4 ? random[next++] : mirror_key(keys.en_passant[7 - file]);
  }
  const std::uint64_t half = random[next] >> 32;
  keys.black_moves = half << 32 | half;
  return keys;
}

constexpr Keys kKeys = make_keys();

void move_piece(Position& p, int side, Piece piece, Square from, Square to) {
  const Bitboard both = bit(from) ^ bit(to);
  p.pieces[piece] ^= both;
  p.sides[side] ^= both;
  p.key ^= kKeys.piece[side][piece][from] ^ kKeys.piece[side][piece][to];
}

void toggle_piece(Position& p, int side, Piece piece, Square square) {
  p.pieces[piece] ^= bit(square);
  p.sides[side] ^= bit(square);
  p.key ^= kKeys.piece[side][piece][square];
}

void castle(Position& p, int us, Square king, Square rook) {
  // Taken off first: king and rook may land on each other's squares.
  toggle_piece(p, us, kKing, king);
  toggle_piece(p, us, kRook, rook);
  toggle_piece(p, us, kKing, castled_king(king, rook));
  toggle_piece(p, us, kRook, castled_rook(king, rook));
}

void drop_rights(Position& p, Bitboard lost) {
  lost &= p.castling;
  p.castling ^= lost;
  while (lost != 0) p.key ^= kKeys.castling[pop_lowest(lost)];
}

// `us` has just pushed a pawn past `behind`; the other side moves.
bool can_be_taken_en_passant(const Position& p, int us, Square behind) {
  Bitboard takers = kPawnAttacks[us][behind] & p.of(1 - us, kPawn);
  while (takers != 0) {
    if (en_passant_is_legal(p, pop_lowest(takers), behind)) return true;
  }
  return false;
}

}  // namespace

Piece Position::piece_at(Square square) const {
  for (int piece = 0; piece < kKing; ++piece) {
    if (pieces[piece] & bit(square)) return static_cast<Piece>(piece);
  }
  return kKing;
}

Bitboard attackers(const Position& p, int owner, Square square, Bitboard occupied) {
  const Bitboard queens = p.pieces[kQueen];
  return p.sides[owner] &
         ((kPawnAttacks[1 - owner][square] & p.pieces[kPawn]) |
          (kKnightAttacks[square] & p.pieces[kKnight]) | (kKingAttacks[square] & p.pieces[kKing]) |
          (bishop_attacks(square, occupied) & (p.pieces[kBishop] | queens)) |
          (rook_attacks(square, occupied) & (p.pieces[kRook] | queens)));
}

bool in_check(const Position& p) {
  return attackers(p, 1 - p.side, p.king(p.side), p.occupied()) != 0;
}

bool en_passant_is_legal(const Position& p, Square from, Square target) {
  const int us = (p.sides[kWhite] & bit(from)) != 0 ? kWhite : kBlack;
  const Bitboard taken = bit(target + (us == kWhite ? -8 : 8));
  const Bitboard occupied = (p.occupied() ^ bit(from) ^ taken) | bit(target);
  return (attackers(p, 1 - us, p.king(us), occupied) & ~taken) == 0;
}

void play(Position& p, Move move) {
  const int us = p.side;
  const int them = 1 - us;
  const Bitboard to = bit(move.to);
  ++p.rule50;
  if (p.en_passant != kNoSquare) {
    p.key ^= kKeys.en_passant[file_of(p.en_passant)];
    p.en_passant = kNoSquare;
  }
  if (move.kind == kCastle) {
    castle(p, us, move.from, move.to);
    drop_rights(p, back_rank(us));
  } else {
    if (p.sides[them] & to) {
      toggle_piece(p, them, p.piece_at(move.to), move.to);
      p.rule50 = 0;
    }
    move_piece(p, us, move.piece, move.from, move.to);
    drop_rights(p, move.piece == kKing ? back_rank(us) | to : bit(move.from) | to);
  }
  if (move.piece == kPawn) {
    p.rule50 = 0;
    if (move.kind == kEnPassant) {
      toggle_piece(p, them, kPawn, move.to + (us == kWhite ? -8 : 8));
    } else if (is_promotion(move.kind)) {
      toggle_piece(p, us, kPawn, move.to);
      toggle_piece(p, us, static_cast<Piece>(move.kind), move.to);
    } else if (move.kind == kDoublePush) {
      const Square behind = (move.from + move.to) / 2;
      if (can_be_taken_en_passant(p, us, behind)) {
        p.en_passant = static_cast<std::uint8_t>(behind);
        p.key ^= kKeys.en_passant[file_of(behind)];
      }
    }
  }
  p.side = static_cast<std::uint8_t>(them);
  p.key ^= kKeys.black_moves;
  ++p.ply;
}

std::uint64_t compute_key(const Position& p) {
  std::uint64_t key = p.side == kBlack ? kKeys.black_moves : 0;
  for (int side = 0; side < 2; ++side) {
    for (int piece = 0; piece < kPieces; ++piece) {
      for (Bitboard rest = p.of(side, static_cast<Piece>(piece)); rest != 0;) {
        key ^= kKeys.piece[side][piece][pop_lowest(rest)];
      }
    }
  }
  for (Bitboard rooks = p.castling; rooks != 0;) key ^= kKeys.castling[pop_lowest(rooks)];
  if (p.en_passant != kNoSquare) key ^= kKeys.en_passant[file_of(p.en_passant)];
  return key;
}

Position mirrored(const Position& p) {
  Position m = p;
  for (Bitboard& pieces : m.pieces) pieces = mirror_files(pieces);
  for (Bitboard& side : m.sides) side = mirror_files(side);
  if (p.en_passant != kNoSquare) m.en_passant = static_cast<std::uint8_t>(mirror(p.en_passant));
  m.key = mirror_key(p.key);
  return m;
}

bool insufficient_material(const Position& p) {
  if (p.pieces[kPawn] | p.pieces[kRook] | p.pieces[kQueen]) return false;
  // A lone minor piece cannot mate, nor can bishops of one colour of squares, whoever has them.
  if (count(p.occupied()) <= 3) return true;
  if (p.pieces[kKnight]) return false;
  const Bitboard dark = p.pieces[kBishop] & kDarkSquares;
  return dark == 0 || dark == p.pieces[kBishop];
}

PackedBoard pack(const Position& p) {
  // Piece number + 1 in binary: pawn 001, knight 010, bishop 011, rook 100, queen 101, king 110.
  const auto& x = p.pieces;
  return {{x[kPawn] | x[kBishop] | x[kQueen], x[kKnight] | x[kBishop] | x[kKing],
           x[kRook] | x[kQueen] | x[kKing], p.sides[kBlack]}};
}

Bitboard unpack(const PackedBoard& board, int owner, Piece piece) {
  Bitboard found = owner == kBlack ? board.words[3] : ~board.words[3];
  for (int i = 0; i < 3; ++i) {
    found &= (piece + 1) >> i & 1 ? board.words[i] : ~board.words[i];
  }
  return found;
}

PackedBoard mirrored(const PackedBoard& board) {
  PackedBoard m = board;
  for (Bitboard& word : m.words) word = mirror_files(word);
  return m;
}

}  // namespace zermelo::chess
