// Sets of squares as 64-bit words, and the arithmetic on them. Knows geometry, not the rules.
// Square 0 is a1, 7 is h1, 63 is h8; bit n of a Bitboard is square n.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace zermelo::chess {

using Bitboard = std::uint64_t;
using Square = int;

inline constexpr Square kNoSquare = 64;

inline constexpr Bitboard kFileA = 0x0101010101010101ull;
inline constexpr Bitboard kFileH = kFileA << 7;
inline constexpr Bitboard kRank1 = 0xFFull;
inline constexpr Bitboard kRank8 = kRank1 << 56;
inline constexpr Bitboard kDarkSquares = 0xAA55AA55AA55AA55ull;  // a1 is dark

enum Side : int { kWhite, kBlack };
enum Piece : std::uint8_t { kPawn, kKnight, kBishop, kRook, kQueen, kKing };
inline constexpr int kPieces = 6;

constexpr int file_of(Square square) { return square & 7; }
constexpr int rank_of(Square square) { return square >> 3; }
constexpr Square square_at(int file, int rank) { return rank * 8 + file; }
constexpr Bitboard bit(Square square) { return Bitboard{1} << square; }
constexpr Bitboard rank_mask(int rank) { return kRank1 << (8 * rank); }
constexpr Bitboard back_rank(int side) { return side == kWhite ? kRank1 : kRank8; }

// The square seen by the other colour: ranks are turned over, files stay.
constexpr Square flip(Square square) { return square ^ 56; }
constexpr Square mirror(Square square) { return square ^ 7; }

constexpr Square lowest(Bitboard squares) { return std::countr_zero(squares); }
constexpr Square highest(Bitboard squares) { return 63 - std::countl_zero(squares); }
constexpr int count(Bitboard squares) { return std::popcount(squares); }
constexpr bool more_than_one(Bitboard squares) { return (squares & (squares - 1)) != 0; }

constexpr Square pop_lowest(Bitboard& squares) {
  const Square square = lowest(squares);
  squares &= squares - 1;
  return square;
}

// Exchanges rank 1 with rank 8, 2 with 7 and so on.
constexpr Bitboard flip_ranks(Bitboard b) { return __builtin_bswap64(b); }

// Exchanges file a with file h, b with g and so on.
constexpr Bitboard mirror_files(Bitboard b) {
  b = ((b >> 1) & 0x5555555555555555ull) | ((b & 0x5555555555555555ull) << 1);
  b = ((b >> 2) & 0x3333333333333333ull) | ((b & 0x3333333333333333ull) << 2);
  return ((b >> 4) & 0x0F0F0F0F0F0F0F0Full) | ((b & 0x0F0F0F0F0F0F0F0Full) << 4);
}

// The squares one step forward, and one step forward to either side, for pawns of `side`.
template <int side>
constexpr Bitboard forward(Bitboard b) {
  return side == kWhite ? b << 8 : b >> 8;
}
template <int side>
constexpr Bitboard forward_to_a(Bitboard b) {
  return side == kWhite ? (b & ~kFileA) << 7 : (b & ~kFileA) >> 9;
}
template <int side>
constexpr Bitboard forward_to_h(Bitboard b) {
  return side == kWhite ? (b & ~kFileH) << 9 : (b & ~kFileH) >> 7;
}

inline std::string square_text(Square square) {
  return {static_cast<char>('a' + file_of(square)), static_cast<char>('1' + rank_of(square))};
}

}  // namespace zermelo::chess
