// What a network sees of a chess position: two encoders over the same rules, packed as
// ObservationLayout says. Everything is from the mover's side: cell 0 is a1 as he sees it, the rows
// ascend from his own.
#pragma once

#include <cstdint>

#include "games/chess/history.hpp"
#include "games/chess/position.hpp"
#include "games/observation.hpp"

namespace zermelo::chess {

enum class Encoder : std::uint8_t { kCompact, kLc0 };

// Binary: 0-5 my pawns, knights, bishops, rooks, queens, king; 6-11 the opponent's; 12 the en
// passant target where a capture is legal; 13 the rooks with castling rights. Scalar: 14 the
// position occurred before; 15 twice before; 16 rule-50 plies / 100.
ObservationLayout compact_layout();
void encode_compact(const Position& position, const History& history, std::uint64_t* words);

// lc0's classical 112 planes. Binary: 8 x 13, the current position first, then the ones before it:
// the 12 piece planes above, then ones if that position had occurred before.
// Scalar: 104-107 castling, mine on the queen side and king side, then the opponent's; 108 Black
// moves; 109 rule-50 plies; 110 zero; 111 one.
ObservationLayout lc0_layout();
void encode_lc0(const Position& position, const History& history, std::uint64_t* words);

}  // namespace zermelo::chess
