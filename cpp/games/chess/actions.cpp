#include "games/chess/actions.hpp"

namespace zermelo::chess {

Move move_of(const Position& p, Action action) {
  const int turned = p.side == kWhite ? 0 : 56;
  const Square from = detail::kActions.from[action] ^ turned;
  const Square to = detail::kActions.to[action] ^ turned;
  const Piece piece = p.piece_at(from);
  MoveKind kind = kNormal;
  if (action >= kPlainActions) {
    kind = detail::kPromotionOrder[(action - kPlainActions) % 3];
  } else if (piece == kPawn) {
    const int distance = to > from ? to - from : from - to;
    if (distance == 16) {
      kind = kDoublePush;
    } else if (bit(to) & (kRank1 | kRank8)) {
      kind = kPromoteKnight;
    } else if (to == p.en_passant && distance != 8) {
      kind = kEnPassant;
    }
  } else if (piece == kKing && (p.sides[p.side] & bit(to))) {
    kind = kCastle;
  }
  return {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to), piece, kind};
}

Action action_of(Move move, int side) {
  const int turned = side == kWhite ? 0 : 56;
  const Square from = move.from ^ turned;
  const Square to = move.to ^ turned;
  if (!is_promotion(move.kind) || move.kind == kPromoteKnight) return plain_action(from, to);
  return static_cast<Action>(queen_promotion(from, to) + (kPromoteQueen - move.kind));
}

}  // namespace zermelo::chess
