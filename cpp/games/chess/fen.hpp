// Positions as FEN text, and the checks that a position could stand on a board.
// Knows no history: a FEN has none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "games/chess/position.hpp"

namespace zermelo::chess {

inline constexpr std::string_view kStartFen =
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// The parts of `text` between white space.
std::vector<std::string_view> fields(std::string_view text);

struct ParsedFen {
  Position position;
  // The en passant field as written, whether or not a capture is legal; else kNoSquare. It tells
  // that the last move was a double push.
  Square pushed_past = kNoSquare;
};

// Fields after the board may be missing ("w", "-", "-", "0", "1"). Castling rights are KQkq (the
// outermost rook of that side) or the rook's file letter. Throws Refused with the
// reason if the text or the position is wrong. Without `chess960` castling needs the king on its e
// file square and a rook in the corner.
ParsedFen parse_fen(std::string_view text, bool chess960);

// The en passant square stands only where a capture is legal; castling rights are KQkq, or file
// letters where another rook of that side stands further out (X-FEN).
std::string fen_text(const Position& position);

// 64 letters from a8 to h8 down to h1: PNBRQK white, pnbrqk black, '.' empty.
std::string board_letters(const Position& position);

// The Chess960 start position of that number (Scharnagl's, 0 to 959; 518 is the usual one).
std::string chess960_start(int number);

}  // namespace zermelo::chess
