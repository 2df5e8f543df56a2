// Text of checkers positions: the FEN of PDN, "B:W21,22,K30:B1,2,K3", with fields of our own after
// it. It knows the form of a position, not the legal moves.
#pragma once

#include <bit>
#include <string>
#include <string_view>

#include "games/checkers/position.hpp"
#include "games/text.hpp"

namespace zermelo::checkers {

// A number from `low` to `high` without sign or leading zero, or -1.
inline int parse_number(std::string_view text, int low, int high) {
  if (text.empty() || text.size() > 3 || (text[0] == '0' && text.size() > 1)) return -1;
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number < low || number > high ? -1 : number;
}

// Cuts the text before `separator` off `rest`, all of it when there is none.
inline std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view head = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return head;
}

// The player to move, White's squares, Black's (K before a king's), then what is not zero of
//   H12  quiet plies so far     R1  the position stood here once before     J22  22 must jump on
inline std::string position_text(const State& s) {
  std::string text = s.mover == Player::kFirst ? "B" : "W";
  for (const int player : {1, 0}) {
    text += player == 0 ? ":B" : ":W";
    const char* comma = "";
    for (Bits rest = s.pieces(player); rest != 0; rest &= rest - 1) {
      const int square = std::countr_zero(rest);
      text += comma;
      if (s.kings[player] >> square & 1u) text += 'K';
      text += std::to_string(square + 1);
      comma = ",";
    }
  }
  if (s.quiet != 0) text += ":H" + std::to_string(s.quiet);
  if (s.repetitions != 0) text += ":R" + std::to_string(s.repetitions);
  if (s.jumper >= 0) text += ":J" + std::to_string(s.jumper + 1);
  return text;
}

inline void parse_pieces(State& s, int player, std::string_view list, std::string_view text) {
  const char* color = player == 0 ? "Black" : "White";
  const int king_row = player == 0 ? 7 : 0;
  while (!list.empty()) {
    const std::string_view item = take(list, ',');
    const bool king = item.starts_with('K');
    const int square = parse_number(item.substr(king ? 1 : 0), 1, 32) - 1;
    if (square < 0) fail("position '", text, "': '", item, "' is not a square from 1 to 32");
    if (~s.empty() >> square & 1u) fail("position '", text, "': two pieces on square ", square + 1);
    if (!king && row_of(square) == king_row) {
      fail("position '", text, "': the man on square ", square + 1, " should be a king");
    }
    toggle(s, player, king, square);
  }
  if (std::popcount(s.pieces(player)) > 12) {
    fail("position '", text, "': ", color, " has more than 12 pieces");
  }
}

// Leaves the ply at the number of quiet plies. Whether the jumper can jump is for the caller to
// see.
inline State parse_position(std::string_view text, int quiet_plies) {
  State s;
  std::string_view rest = text;
  const std::string_view mover = take(rest, ':');
  if (mover != "B" && mover != "W") {
    fail("position '", text, "': '", mover, "' is neither B nor W, the player to move");
  }
  if (mover == "W") change_mover(s);
  std::string seen;
  while (!rest.empty()) {
    const std::string_view field = take(rest, ':');
    const char kind = field.empty() ? '?' : field[0];
    if (std::string_view("WBHRJ").find(kind) == std::string_view::npos) {
      fail("position '", text, "': '", field, "' begins with none of W, B, H, R and J");
    }
    if (seen.find(kind) != seen.npos) fail("position '", text, "': field ", kind, " comes twice");
    seen += kind;
    const std::string_view value = field.substr(1);
    int number = 0;
    const auto parse = [&](int low, int high) {
      number = parse_number(value, low, high);
      if (number < 0)
        fail("position '", text, "': '", field, "' is not ", kind, low, " to ", kind, high);
    };
    if (kind == 'W' || kind == 'B') parse_pieces(s, kind == 'W', value, text);
    if (kind == 'H') parse(0, quiet_plies), s.quiet = static_cast<std::uint8_t>(number);
    if (kind == 'R') parse(0, 2), s.repetitions = static_cast<std::uint8_t>(number);
    if (kind == 'J') parse(1, 32), set_jumper(s, number - 1);
  }
  for (const char kind : {'W', 'B'}) {
    if (seen.find(kind) == seen.npos)
      fail("position '", text, "': the pieces of ", kind, " are missing");
  }
  if (s.jumper >= 0 && s.quiet != 0)
    fail("position '", text, "': a jump ends the quiet plies of H");
  if (s.quiet < 4 * s.repetitions) {
    fail("position '", text, "': R", int{s.repetitions}, " needs H", 4 * s.repetitions, " or more");
  }
  s.ply = s.quiet;
  std::fill_n(s.history.begin(), s.quiet, 0);
  for (int i = 1; i <= s.repetitions; ++i) s.history[s.quiet - 4 * i] = s.hash;
  return s;
}

}  // namespace zermelo::checkers
