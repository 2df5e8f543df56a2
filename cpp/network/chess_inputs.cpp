// Chess: which pieces are attacked, and what a move takes, risks and threatens. Everything is from
// the mover's side, who moves up the board.
#include <algorithm>
#include <array>

#include "games/chess/actions.hpp"
#include "games/chess/attacks.hpp"
#include "games/chess/encode.hpp"
#include "network/inputs.hpp"

namespace zermelo {

namespace {

using namespace chess;

// What one side attacks, its own pieces' squares too.
struct Reach {
  Bitboard once = 0;                           // by at least one piece
  Bitboard twice = 0;                          // by at least two
  std::array<Bitboard, kPieces> cheaper = {};  // by a piece that is worth less than this one

  void add(Bitboard squares) {
    twice |= once & squares;
    once |= squares;
  }
};

template <int side>
Reach reach_of(const std::uint64_t* pieces, Bitboard occupied) {
  Reach reach;
  reach.add(forward_to_a<side>(pieces[kPawn]));
  reach.add(forward_to_h<side>(pieces[kPawn]));
  reach.cheaper[kKnight] = reach.cheaper[kBishop] = reach.once;
  for (Bitboard rest = pieces[kKnight]; rest;) reach.add(kKnightAttacks[pop_lowest(rest)]);
  for (Bitboard rest = pieces[kBishop]; rest;) {
    reach.add(bishop_attacks(pop_lowest(rest), occupied));
  }
  reach.cheaper[kRook] = reach.once;
  for (Bitboard rest = pieces[kRook]; rest;) reach.add(rook_attacks(pop_lowest(rest), occupied));
  reach.cheaper[kQueen] = reach.once;
  for (Bitboard rest = pieces[kQueen]; rest;) {
    const Square from = pop_lowest(rest);
    reach.add(rook_attacks(from, occupied) | bishop_attacks(from, occupied));
  }
  for (Bitboard rest = pieces[kKing]; rest;) reach.add(kKingAttacks[pop_lowest(rest)]);
  return reach;
}

struct Board {
  const std::uint64_t* mine;
  const std::uint64_t* theirs;
  Bitboard occupied = 0;
  Reach my;
  Reach their;

  explicit Board(const std::uint64_t* words) : mine(words), theirs(words + kPieces) {
    prepare_attacks();
    for (int plane = 0; plane < 2 * kPieces; ++plane) occupied |= words[plane];
    my = reach_of<kWhite>(mine, occupied);
    their = reach_of<kBlack>(theirs, occupied);
  }
};

// An attacked piece: defended and by none that is cheaper; by a cheaper one; not defended.
enum Danger : std::uint32_t { kExchange, kCheaper, kHanging, kDangers };

void add_attacked(const std::uint64_t* pieces, const Reach& own, const Reach& other,
                  std::uint32_t first, std::vector<std::uint32_t>& rows) {
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    for (Bitboard rest = pieces[piece] & other.once; rest;) {
      const Square square = pop_lowest(rest);
      const bool defended = own.once & bit(square);
      const bool cheaper = other.cheaper[piece] & bit(square);
      const std::uint32_t danger = !defended ? kHanging : cheaper ? kCheaper : kExchange;
      rows.push_back(first + static_cast<std::uint32_t>((piece * kDangers + danger) * 64) +
                     static_cast<std::uint32_t>(square));
    }
  }
}

constexpr std::uint32_t kRowsOfSide = kPieces * kDangers * 64;

void read(const std::uint64_t* words, std::uint32_t first, std::vector<std::uint32_t>& rows) {
  const Board board(words);
  add_attacked(board.mine, board.my, board.their, first, rows);
  add_attacked(board.theirs, board.their, board.my, first + kRowsOfSide, rows);
}

// Rows of an action: the piece and where it goes; then what is exchanged:
// piece, what it takes, danger where it goes (3), whether it gives check, whether it was in danger.
constexpr std::uint16_t kGoes = kPieces * 64;
constexpr std::uint16_t kTaken = 6;  // nothing, or a pawn to a queen
constexpr std::uint16_t kExchanges = kPieces * kTaken * 3 * 2 * 2;

int piece_on(const std::uint64_t* pieces, Square square) {
  int piece = 0;
  while (piece < kPieces && !(pieces[piece] & bit(square))) ++piece;
  return piece;  // kPieces: none
}

// What stands on the board after the action.
int arriving(int piece, Action action, Square to) {
  if (action >= kPlainActions) {
    constexpr int kPromoted[] = {kQueen, kRook, kBishop};
    return kPromoted[(action - kPlainActions) % 3];
  }
  return piece == kPawn && rank_of(to) == 7 ? kKnight : piece;
}

void read_actions(const std::uint64_t* words, std::span<const Action> actions, std::uint16_t first,
                  std::uint16_t* out) {
  const Board board(words);
  // From where each piece attacks the king.
  std::array<Bitboard, kPieces> checks = {};
  if (board.theirs[kKing]) {
    const Square king = lowest(board.theirs[kKing]);
    checks[kPawn] = kPawnAttacks[kBlack][king];
    checks[kKnight] = kKnightAttacks[king];
    checks[kBishop] = bishop_attacks(king, board.occupied);
    checks[kRook] = rook_attacks(king, board.occupied);
    checks[kQueen] = checks[kBishop] | checks[kRook];
  }
  for (const Action action : actions) {
    const Square from = chess::detail::kActions.from[action];
    const Square to = chess::detail::kActions.to[action];
    const int piece = std::min<int>(piece_on(board.mine, from), kKing);
    const int there = piece_on(board.theirs, to);
    const int taken = there >= kKing ? 0 : there + 1;
    const bool straight = piece == kPawn && file_of(from) == file_of(to);
    const bool defended = (straight ? board.my.once : board.my.twice) & bit(to);
    const bool attacked = board.their.once & bit(to);
    const bool cheaper = board.their.cheaper[static_cast<std::size_t>(piece)] & bit(to);
    const int risk = !attacked ? 0 : defended && !cheaper ? 1 : 2;
    const int comes = arriving(piece, action, to);
    const bool check = checks[static_cast<std::size_t>(comes)] & bit(to);
    const bool loose = board.their.once & bit(from) &
                       (~board.my.once | board.their.cheaper[static_cast<std::size_t>(piece)]);
    const int exchange = (((piece * kTaken + taken) * 3 + risk) * 2 + check) * 2 + loose;
    *out++ = static_cast<std::uint16_t>(first + piece * 64 + to);
    *out++ = static_cast<std::uint16_t>(first + kGoes + exchange);
  }
}

}  // namespace

const GameInputs* inputs_named(std::string_view name) {
  static const GameInputs attacks = {
      "attacks", compact_layout(), 2 * kRowsOfSide, &read, kGoes + kExchanges, 2, &read_actions};
  return name == attacks.name ? &attacks : nullptr;
}

}  // namespace zermelo
