#include "games/chess/movegen.hpp"

namespace zermelo::chess {

namespace {

struct ListSink {
  MoveList& list;

  void single(Move move) { list.moves[list.size++] = move; }
  void piece_moves(Piece piece, Square from, Bitboard targets) {
    while (targets != 0) {
      single({static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(pop_lowest(targets)),
              piece, kNormal});
    }
  }
  void pawn_moves(Bitboard targets, int step, MoveKind kind) {
    while (targets != 0) {
      const Square to = pop_lowest(targets);
      single({static_cast<std::uint8_t>(to - step), static_cast<std::uint8_t>(to), kPawn, kind});
    }
  }
  void promotions(Bitboard targets, int step) {
    while (targets != 0) {
      const Square to = pop_lowest(targets);
      for (const MoveKind kind : {kPromoteQueen, kPromoteRook, kPromoteBishop, kPromoteKnight}) {
        single({static_cast<std::uint8_t>(to - step), static_cast<std::uint8_t>(to), kPawn, kind});
      }
    }
  }
};

struct CountSink {
  int total = 0;

  void single(Move) { ++total; }
  void piece_moves(Piece, Square, Bitboard targets) { total += count(targets); }
  void pawn_moves(Bitboard targets, int, MoveKind) { total += count(targets); }
  void promotions(Bitboard targets, int) { total += 4 * count(targets); }
};

// depth >= 1; the recursion is as deep as `depth`.
template <int us>
std::uint64_t paths(const Position& position, int depth) {
  if (depth == 1) {
    CountSink sink;
    detail::generate<us>(position, sink);
    return static_cast<std::uint64_t>(sink.total);
  }
  MoveList list;
  ListSink sink{list};
  detail::generate<us>(position, sink);
  std::uint64_t total = 0;
  for (const Move move : list) {
    Position next = position;
    play_for_count<us>(next, move);
    total += paths<1 - us>(next, depth - 1);
  }
  return total;
}

}  // namespace

void generate(const Position& position, MoveList& moves) {
  moves.size = 0;
  ListSink sink{moves};
  generate_into(position, sink);
}

int count_moves(const Position& position) {
  CountSink sink;
  generate_into(position, sink);
  return sink.total;
}

std::uint64_t count_paths(const Position& position, int depth) {
  if (depth <= 0) return 1;
  return position.side == kWhite ? paths<kWhite>(position, depth) : paths<kBlack>(position, depth);
}

}  // namespace zermelo::chess
