// Text shared by the board games: cells as a1, b2, ...; boards as rows separated by '/'.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "base/refused.hpp"

namespace zermelo {

// The parts joined into one sentence. What it quotes may be any bytes: those that are not printable
// ASCII are shown as '?'.
template <class... Parts>
std::string sentence_of(const Parts&... parts) {
  std::ostringstream joined;
  (joined << ... << parts);
  std::string sentence = joined.str();
  for (char& c : sentence) {
    if (c < ' ' || c > '~') c = '?';
  }
  return sentence;
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Refused(sentence_of(parts...));
}

// Cells are numbered from the top left, row by row; "a1" is the bottom left corner.
inline std::string cell_text(int cell, int rows, int columns) {
  return static_cast<char>('a' + cell % columns) + std::to_string(rows - cell / columns);
}

inline int parse_cell(std::string_view text, int rows, int columns) {
  const std::string last = cell_text(columns - 1, rows, columns);
  int row = 0;
  bool good = text.size() >= 2 && text.size() <= 3;
  for (std::size_t i = 1; good && i < text.size(); ++i) {
    good = text[i] >= (i == 1 ? '1' : '0') && text[i] <= '9';
    row = row * 10 + (text[i] - '0');
  }
  const int column = good ? (text[0] | 0x20) - 'a' : -1;
  if (!good || column < 0 || column >= columns || row < 1 || row > rows) {
    fail("'", text, "' is not a cell from a1 to ", last);
  }
  return (rows - row) * columns + column;
}

inline std::string with_row_breaks(std::string_view board, int columns) {
  std::string text;
  for (std::size_t i = 0; i < board.size(); ++i) {
    if (i != 0 && i % columns == 0) text += '/';
    text += board[i];
  }
  return text;
}

// The inverse: rows * columns characters out of `letters`, or it throws.
inline std::string without_row_breaks(std::string_view text, int rows, int columns,
                                      std::string_view letters) {
  std::string board;
  int row = 0;
  int column = 0;
  for (const char c : text) {
    if (c == '/') {
      if (column != columns)
        fail("position '", text, "': row ", row + 1, " has ", column, " cells, not ", columns);
      ++row;
      column = 0;
      continue;
    }
    if (letters.find(c) == std::string_view::npos)
      fail("position '", text, "': '", c, "' is none of ", letters);
    board += c;
    ++column;
  }
  if (row + 1 != rows || column != columns) {
    fail("position '", text, "': expected ", rows, " rows of ", columns, " cells");
  }
  return board;
}

}  // namespace zermelo
