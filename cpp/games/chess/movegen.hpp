// Legal moves, generated directly: check mask and pin masks first, then per piece only such targets
// as keep the king safe; no move is tried and taken back. Knows nothing of draws.
//
// A sink receives the moves and decides what they become (a list, actions, a count):
//   piece_moves(piece, from, targets)      one piece to each of `targets`
//   pawn_moves(targets, step, kind)        from = to - step, for each of `targets`
//   promotions(targets, step)              the same, once for each piece
//   single(move)                           castling and en passant
// The order is fixed: king, castling, pawns, en passant, knights, bishops, rooks, queens; squares
// ascend within each.
#pragma once

#include <array>
#include <cstdint>

#include "games/chess/attacks.hpp"
#include "games/chess/position.hpp"

namespace zermelo::chess {

// A FEN may have up to fifteen queens beside the king: 15 * 27 + 8 moves are never exceeded.
struct MoveList {
  std::array<Move, 416> moves;
  int size = 0;
  const Move* begin() const { return moves.data(); }
  const Move* end() const { return moves.data() + size; }
};

void generate(const Position& position, MoveList& moves);
int count_moves(const Position& position);

// Paths of length `depth`, the last ply counted and not played. Draw rules do not apply.
std::uint64_t count_paths(const Position& position, int depth);

namespace detail {

// Every square that `them` attacks when our king is off the board.
template <int us>
inline Bitboard dangerous_squares(const Position& p, Bitboard occupied) {
  constexpr int them = 1 - us;
  const Bitboard theirs = p.sides[them];
  const Bitboard pawns = p.pieces[kPawn] & theirs;
  const Bitboard seen_through = occupied ^ p.of(us, kKing);
  Bitboard danger = forward_to_a<them>(pawns) | forward_to_h<them>(pawns);
  danger |= kKingAttacks[p.king(them)];
  for (Bitboard rest = p.pieces[kKnight] & theirs; rest != 0;) {
    danger |= kKnightAttacks[pop_lowest(rest)];
  }
  for (Bitboard rest = (p.pieces[kBishop] | p.pieces[kQueen]) & theirs; rest != 0;) {
    danger |= bishop_attacks(pop_lowest(rest), seen_through);
  }
  for (Bitboard rest = (p.pieces[kRook] | p.pieces[kQueen]) & theirs; rest != 0;) {
    danger |= rook_attacks(pop_lowest(rest), seen_through);
  }
  return danger;
}

template <int us, class Sink>
inline void castling_moves(const Position& p, Square king, Bitboard occupied, Bitboard danger,
                           Bitboard rights, Sink& sink) {
  while (rights != 0) {
    const Square rook = pop_lowest(rights);
    const Square king_to = castled_king(king, rook);
    const Square rook_to = castled_rook(king, rook);
    const Bitboard king_path = kBetween[king][king_to] | bit(king_to);
    const Bitboard rook_path = kBetween[rook][rook_to] | bit(rook_to);
    const Bitboard others = occupied ^ bit(king) ^ bit(rook);
    if (others & (king_path | rook_path)) continue;
    if (danger & (king_path | bit(king))) continue;
    // The castling rook may have been what kept a rook or queen away from the king (Chess960).
    const Bitboard lines = (p.pieces[kRook] | p.pieces[kQueen]) & p.sides[1 - us];
    if (rook_attacks(king_to, others | bit(rook_to)) & lines & back_rank(us)) continue;
    sink.single({static_cast<std::uint8_t>(king), static_cast<std::uint8_t>(rook), kKing, kCastle});
  }
}

// The lines along which our pieces are pinned, by direction: from next to the king to the pinning
// piece, which may be taken.
struct Pins {
  Bitboard straight;
  Bitboard diagonal;
};

template <int us, class Sink>
inline void pawn_moves(const Position& p, Bitboard occupied, Bitboard allowed, const Pins& pins,
                       Sink& sink) {
  constexpr int them = 1 - us;
  constexpr int step = us == kWhite ? 8 : -8;
  constexpr Bitboard last_rank = back_rank(them);
  constexpr Bitboard third_rank = rank_mask(us == kWhite ? 2 : 5);
  const Bitboard pawns = p.of(us, kPawn);
  const Bitboard empty = ~occupied;

  // A pawn pinned along its file may go on along it; one pinned along its rank may not.
  const Bitboard pushers = pawns & ~pins.diagonal;
  const Bitboard one = ((forward<us>(pushers & ~pins.straight)) |
                        (forward<us>(pushers & pins.straight) & pins.straight)) &
                       empty;
  const Bitboard two = forward<us>(one & third_rank) & empty & allowed;
  const Bitboard pushed = one & allowed;

  const Bitboard takers = pawns & ~pins.straight;
  const Bitboard free = takers & ~pins.diagonal;
  const Bitboard pinned = takers & pins.diagonal;
  const Bitboard prey = p.sides[them] & allowed;
  const Bitboard to_a =
      (forward_to_a<us>(free) | (forward_to_a<us>(pinned) & pins.diagonal)) & prey;
  const Bitboard to_h =
      (forward_to_h<us>(free) | (forward_to_h<us>(pinned) & pins.diagonal)) & prey;

  sink.pawn_moves(pushed & ~last_rank, step, kNormal);
  sink.pawn_moves(two, 2 * step, kDoublePush);
  sink.pawn_moves(to_a & ~last_rank, step - 1, kNormal);
  sink.pawn_moves(to_h & ~last_rank, step + 1, kNormal);
  if ((pushed | to_a | to_h) & last_rank) [[unlikely]] {
    sink.promotions(pushed & last_rank, step);
    sink.promotions(to_a & last_rank, step - 1);
    sink.promotions(to_h & last_rank, step + 1);
  }
  if (p.en_passant != kNoSquare) [[unlikely]] {
    for (Bitboard rest = kPawnAttacks[them][p.en_passant] & pawns; rest != 0;) {
      const Square from = pop_lowest(rest);
      if (!en_passant_is_legal(p, from, p.en_passant)) continue;
      sink.single({static_cast<std::uint8_t>(from), p.en_passant, kPawn, kEnPassant});
    }
  }
}

template <int us, class Sink>
inline void generate(const Position& p, Sink& sink) {
  constexpr int them = 1 - us;
  const Bitboard ours = p.sides[us];
  const Bitboard theirs = p.sides[them];
  const Bitboard occupied = ours | theirs;
  const Square king = p.king(us);
  const Bitboard straight = (p.pieces[kRook] | p.pieces[kQueen]) & theirs;
  const Bitboard diagonal = (p.pieces[kBishop] | p.pieces[kQueen]) & theirs;

  const Bitboard rook_view = rook_attacks(king, occupied);
  const Bitboard bishop_view = bishop_attacks(king, occupied);
  const Bitboard checkers = (kPawnAttacks[us][king] & p.pieces[kPawn] & theirs) |
                            (kKnightAttacks[king] & p.pieces[kKnight] & theirs) |
                            (rook_view & straight) | (bishop_view & diagonal);

  const Bitboard king_targets = kKingAttacks[king] & ~ours;
  const Bitboard rights = checkers == 0 ? p.castling & back_rank(us) : 0;
  if (king_targets | rights) {
    const Bitboard danger = dangerous_squares<us>(p, occupied);
    sink.piece_moves(kKing, king, king_targets & ~danger);
    if (rights) castling_moves<us>(p, king, occupied, danger, rights, sink);
  }
  Bitboard allowed = ~ours;
  if (checkers) {
    if (more_than_one(checkers)) return;
    allowed = kBetween[king][lowest(checkers)] | checkers;
  }

  Pins pins{0, 0};
  const Bitboard behind_straight = rook_attacks(king, occupied ^ (rook_view & ours));
  for (Bitboard rest = behind_straight & straight & ~checkers; rest != 0;) {
    const Square pinner = pop_lowest(rest);
    pins.straight |= kBetween[king][pinner] | bit(pinner);
  }
  const Bitboard behind_diagonal = bishop_attacks(king, occupied ^ (bishop_view & ours));
  for (Bitboard rest = behind_diagonal & diagonal & ~checkers; rest != 0;) {
    const Square pinner = pop_lowest(rest);
    pins.diagonal |= kBetween[king][pinner] | bit(pinner);
  }

  pawn_moves<us>(p, occupied, allowed, pins, sink);
  // A pinned knight never moves. Bishops and rooks stay on their own kind of pin line: no other
  // line of that kind through the king crosses their way.
  for (Bitboard rest = p.pieces[kKnight] & ours & ~(pins.straight | pins.diagonal); rest != 0;) {
    const Square from = pop_lowest(rest);
    sink.piece_moves(kKnight, from, kKnightAttacks[from] & allowed);
  }
  for (Bitboard rest = p.pieces[kBishop] & ours & ~pins.straight; rest != 0;) {
    const Square from = pop_lowest(rest);
    const Bitboard line = pins.diagonal & bit(from) ? pins.diagonal : ~Bitboard{0};
    sink.piece_moves(kBishop, from, bishop_attacks(from, occupied) & allowed & line);
  }
  for (Bitboard rest = p.pieces[kRook] & ours & ~pins.diagonal; rest != 0;) {
    const Square from = pop_lowest(rest);
    const Bitboard line = pins.straight & bit(from) ? pins.straight : ~Bitboard{0};
    sink.piece_moves(kRook, from, rook_attacks(from, occupied) & allowed & line);
  }
  for (Bitboard rest = p.pieces[kQueen] & ours; rest != 0;) {
    const Square from = pop_lowest(rest);
    Bitboard targets = 0;
    if (pins.straight & bit(from)) {
      targets = rook_attacks(from, occupied) & pins.straight;
    } else if (pins.diagonal & bit(from)) {
      targets = bishop_attacks(from, occupied) & pins.diagonal;
    } else {
      targets = rook_attacks(from, occupied) | bishop_attacks(from, occupied);
    }
    sink.piece_moves(kQueen, from, targets & allowed);
  }
}

}  // namespace detail

// Sends the legal moves of the side to move to `sink`.
template <class Sink>
inline void generate_into(const Position& position, Sink& sink) {
  if (position.side == kWhite) {
    detail::generate<kWhite>(position, sink);
  } else {
    detail::generate<kBlack>(position, sink);
  }
}

}  // namespace zermelo::chess
