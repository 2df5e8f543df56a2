// What a network sees of a chess position: two encoders over the same rules, packed as
// ObservationLayout says. Everything is from the mover's side: cell 0 is a1 as he sees it, the rows
// ascend from his own.
#pragma once

#include <cstdint>
#include <string_view>

#include "games/chess/history.hpp"
#include "games/chess/position.hpp"
#include "games/observation.hpp"

namespace zermelo::chess {

// The last five are lc0's canonical planes (input formats 3, 4, 5, 132 and 133).
enum class Encoder : std::uint8_t {
  kCompact,
  kLc0,
  kTurned,
  kTurnedHundredths,
  kTurnedRepeats,
  kTurnedArmageddon,
  kTurnedRepeatsArmageddon,
};

constexpr bool is_turned(Encoder e) { return e >= Encoder::kTurned; }
// Earlier boards are shown only where they repeated one before them.
constexpr bool shows_repeats_only(Encoder e) {
  return e == Encoder::kTurnedRepeats || e == Encoder::kTurnedRepeatsArmageddon;
}

// "compact", "lc0", "lc0_3", ...; throws for any other name.
Encoder parse_encoder(std::string_view name);
std::string_view encoder_name(Encoder encoder);

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

// lc0's canonical planes: the 104 of before, but no board before an irreversible move, and rooks
// with castling rights (104 queen side, 105 king side), 108 the last rank of the file on which a
// pawn can be taken en passant. Without castling rights the board is turned so that my king stands
// on files e to h; without pawns also on ranks 1 to 4 and below the diagonal from h1 to a8. Scalar:
// 109 rule-50 plies, in hundredths but in the first form; 110 Black moves (armageddon only); 111
// one; then what lc0 keeps beside the planes: whether the board was mirrored left to right (112),
// then top to bottom (113), then at that diagonal (114).
ObservationLayout turned_layout(Encoder encoder);
void encode_turned(Encoder encoder, const Position& position, const History& history,
                   std::uint64_t* words);

}  // namespace zermelo::chess
