#include "games/chess/fen.hpp"

#include <algorithm>
#include <array>

#include "games/text.hpp"

namespace zermelo::chess {

namespace {

constexpr std::string_view kLetters = "PNBRQKpnbrqk";
constexpr std::string_view kSideNames[] = {"white", "black"};
// Larger counters are read as this: they mean the same, and no other program refuses them.
constexpr int kMaxClock = 999'999'999;

// One parse: the text for messages, the position as it grows.
class FenParser {
 public:
  FenParser(std::string_view text, bool chess960) : text_(text), chess960_(chess960) {}

  ParsedFen parse() {
    const auto parts = fields(text_);
    if (parts.empty()) wrong("it is empty");
    if (parts.size() > 6) wrong("it has ", parts.size(), " fields, not at most 6");
    const auto field = [&](std::size_t i, std::string_view otherwise) {
      return i < parts.size() ? parts[i] : otherwise;
    };
    read_board(parts[0]);
    read_side(field(1, "w"));
    check_pieces();
    read_castling(field(2, "-"));
    const Square pushed_past = read_en_passant(field(3, "-"));
    p_.rule50 = read_number(field(4, "0"), "halfmove clock");
    p_.ply = 2 * std::max(read_number(field(5, "1"), "move number") - 1, 0) + p_.side;
    check_kings(pushed_past);
    settle_en_passant(pushed_past);
    p_.key = compute_key(p_);
    return {p_, pushed_past};
  }

 private:
  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    fail("FEN '", text_, "': ", parts...);
  }

  void read_board(std::string_view board) {
    int rank = 7;
    int file = 0;
    char last = '/';
    for (const char c : board) {
      if (c == '/') {
        check_row(rank, file);
        if (--rank < 0) wrong("the board has more than 8 rows");
        file = 0;
      } else if (c >= '1' && c <= '8') {
        if (last >= '1' && last <= '8') wrong("two digits follow each other in the board");
        file += c - '0';
      } else if (c == '~') {  // marks a promoted piece in some dialects
        if (kLetters.find(last) == std::string_view::npos || (last | 0x20) == 'k') {
          wrong("'~' must follow a piece that a pawn can become");
        }
      } else {
        const std::size_t piece = kLetters.find(c);
        if (piece == std::string_view::npos) wrong("'", c, "' is no piece");
        if (file < 8) {
          p_.pieces[piece % kPieces] |= bit(square_at(file, rank));
          p_.sides[piece / kPieces] |= bit(square_at(file, rank));
        }
        ++file;
      }
      last = c;
    }
    check_row(rank, file);
    if (rank != 0) wrong("the board has ", 8 - rank, " rows, not 8");
  }

  void check_row(int rank, int files) const {
    if (files != 8) wrong("row ", rank + 1, " of the board has ", files, " squares, not 8");
  }

  void read_side(std::string_view side) {
    if (side != "w" && side != "b") wrong("the side to move is '", side, "', not 'w' or 'b'");
    p_.side = side == "b";
  }

  void check_pieces() const {
    for (int side = 0; side < 2; ++side) {
      const int kings = count(p_.of(side, kKing));
      if (kings != 1) wrong(kSideNames[side], " has ", kings, " kings, not one");
      if (const int n = count(p_.sides[side]); n > 16) {
        wrong(kSideNames[side], " has ", n, " pieces, more than 16");
      }
      if (const int n = count(p_.of(side, kPawn)); n > 8) {
        wrong(kSideNames[side], " has ", n, " pawns, more than 8");
      }
    }
    if (p_.pieces[kPawn] & (kRank1 | kRank8)) wrong("a pawn stands on the first or last row");
  }

  // KQ or file letters (at most two) for White, then the same in lower case for Black.
  void read_castling(std::string_view castling) {
    if (castling == "-") return;
    std::array<int, 2> flags{};
    for (const char c : castling) {
      const int side = c >= 'a' ? kBlack : kWhite;
      const char flag = static_cast<char>(c | 0x20);
      if (!((flag >= 'a' && flag <= 'h') || flag == 'k' || flag == 'q')) {
        wrong("'", c, "' in the castling rights is none of KQkq, A-H, a-h");
      }
      if (++flags[side] > 2 || (side == kWhite && flags[kBlack] > 0)) {
        wrong("the castling rights '", castling,
              "' are not at most two of each side, White's first");
      }
      p_.castling |= castling_rook(side, flag);
    }
    for (int side = 0; side < 2; ++side) check_castling(side);
  }

  // The square a flag stands for, which may turn out to hold no rook. A queen side flag of a side
  // without any rook on its back row stands for nothing.
  Bitboard castling_rook(int side, char flag) const {
    const Bitboard row = back_rank(side);
    const Bitboard rooks = p_.of(side, kRook) & row;
    const Square king = p_.king(side);
    if (flag == 'q') {
      if (rooks == 0) return 0;
      return lowest(rooks) < king ? bit(lowest(rooks)) : row & kFileA;
    }
    if (flag == 'k') {
      return rooks != 0 && highest(rooks) > king ? bit(highest(rooks)) : row & kFileH;
    }
    return row & (kFileA << (flag - 'a'));
  }

  void check_castling(int side) const {
    const Bitboard rights = p_.castling & back_rank(side);
    if (rights == 0) return;
    const Square king = p_.king(side);
    if (rights & ~p_.of(side, kRook)) {
      wrong(kSideNames[side], " has a castling right without a rook for it");
    }
    if (!(bit(king) & back_rank(side))) {
      wrong(kSideNames[side], " has castling rights but its king is not on the back row");
    }
    if (chess960_) {
      const Bitboard king_side = rights & ~(bit(king) - 1);
      if (more_than_one(king_side) || more_than_one(rights ^ king_side)) {
        wrong(kSideNames[side], " has two castling rights on the same side of its king");
      }
    } else if (file_of(king) != 4 || (rights & ~(kFileA | kFileH))) {
      wrong(kSideNames[side],
            " has castling rights, but its king or rook is not on its first square (is it "
            "Chess960?)");
    }
  }

  Square read_en_passant(std::string_view field) const {
    if (field == "-") return kNoSquare;
    if (field.size() != 2 || field[0] < 'a' || field[0] > 'h' || field[1] < '1' || field[1] > '8') {
      wrong("the en passant field '", field, "' is neither a square nor '-'");
    }
    const Square square = square_at(field[0] - 'a', field[1] - '1');
    const int us = p_.side;
    const int toward_pusher = us == kWhite ? -8 : 8;
    if (rank_of(square) != (us == kWhite ? 5 : 2) ||
        !(p_.of(1 - us, kPawn) & bit(square + toward_pusher)) ||
        (p_.occupied() & (bit(square) | bit(square - toward_pusher)))) {
      wrong("no pawn can just have passed the en passant square ", field);
    }
    return square;
  }

  // A sign and single underscores between digits are allowed, as in Python's int().
  int read_number(std::string_view field, std::string_view what) const {
    std::string_view digits = field;
    const bool negative = digits.front() == '-';
    if (negative || digits.front() == '+') digits.remove_prefix(1);
    long value = 0;
    bool after_digit = false;
    for (const char c : digits) {
      if (c == '_' && after_digit) {
        after_digit = false;
        continue;
      }
      if (c < '0' || c > '9') wrong("the ", what, " '", field, "' is not a number");
      after_digit = true;
      value = std::min(value * 10 + (c - '0'), static_cast<long>(kMaxClock));
    }
    if (!after_digit) wrong("the ", what, " '", field, "' is not a number");
    if (negative && value != 0) wrong("the ", what, " '", field, "' is negative");
    return static_cast<int>(value);
  }

  void check_kings(Square pushed_past) const {
    const int us = p_.side;
    if (attackers(p_, us, p_.king(1 - us), p_.occupied())) {
      wrong(kSideNames[1 - us], " is in check, but ", kSideNames[us], " is to move");
    }
    const Square king = p_.king(us);
    const Bitboard checkers = attackers(p_, 1 - us, king, p_.occupied());
    if (checkers == 0) return;
    if (count(checkers) > 2) wrong("the king is in check by ", count(checkers), " pieces");
    if (pushed_past != kNoSquare) {
      // The double push gave check itself or opened a line; before it there was no check.
      const Square pushed_to = pushed_past ^ 8;
      const Square pushed_from = pushed_past ^ 24;
      const Bitboard before = (p_.occupied() & ~bit(pushed_to)) | bit(pushed_from);
      if (more_than_one(checkers) ||
          (checkers != bit(pushed_to) && attackers(p_, 1 - us, king, before))) {
        wrong("the last move, a double push, cannot have given this check");
      }
    } else if (more_than_one(checkers) && on_one_line(king, lowest(checkers), highest(checkers))) {
      wrong("no move can have given check by two pieces on one line");
    }
  }

  static bool on_one_line(Square king, Square a, Square b) {
    const auto step = [](int from, int to) { return (to > from) - (to < from); };
    const auto aligned = [](Square x, Square y) {
      const int files = file_of(x) - file_of(y);
      const int ranks = rank_of(x) - rank_of(y);
      return files == 0 || ranks == 0 || files == ranks || files == -ranks;
    };
    if (!aligned(a, king) || !aligned(b, king)) return false;
    const int files[] = {step(file_of(king), file_of(a)), step(file_of(king), file_of(b))};
    const int ranks[] = {step(rank_of(king), rank_of(a)), step(rank_of(king), rank_of(b))};
    return (files[0] == files[1] && ranks[0] == ranks[1]) ||
           (files[0] == -files[1] && ranks[0] == -ranks[1]);
  }

  void settle_en_passant(Square pushed_past) {
    if (pushed_past == kNoSquare) return;
    Bitboard takers = kPawnAttacks[1 - p_.side][pushed_past] & p_.of(p_.side, kPawn);
    while (takers != 0) {
      if (en_passant_is_legal(p_, pop_lowest(takers), pushed_past)) {
        p_.en_passant = static_cast<std::uint8_t>(pushed_past);
      }
    }
  }

  std::string_view text_;
  bool chess960_;
  Position p_;
};

std::string castling_text(const Position& p) {
  std::string text;
  for (int side = 0; side < 2; ++side) {
    const Bitboard row = back_rank(side);
    const Square king = p.king(side);
    for (Bitboard rest = p.castling & row; rest != 0;) {
      const Square rook = highest(rest);
      rest ^= bit(rook);
      const bool queen_side = rook < king;
      const Bitboard further_out = queen_side ? bit(rook) - 1 : ~((bit(rook) << 1) - 1);
      const bool outermost = (p.of(side, kRook) & row & further_out) == 0;
      const char flag =
          outermost ? (queen_side ? 'q' : 'k') : static_cast<char>('a' + file_of(rook));
      text += static_cast<char>(side == kWhite ? flag & ~0x20 : flag);
    }
  }
  return text.empty() ? "-" : text;
}

}  // namespace

std::vector<std::string_view> fields(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  std::vector<std::string_view> found;
  std::size_t end = 0;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kSpace, end);
    if (begin == std::string_view::npos) return found;
    end = std::min(text.find_first_of(kSpace, begin), text.size());
    found.push_back(text.substr(begin, end - begin));
  }
}

ParsedFen parse_fen(std::string_view text, bool chess960) {
  return FenParser(text, chess960).parse();
}

std::string board_letters(const Position& p) {
  std::string letters(64, '.');
  for (int side = 0; side < 2; ++side) {
    for (int piece = 0; piece < kPieces; ++piece) {
      for (Bitboard rest = p.of(side, static_cast<Piece>(piece)); rest != 0;) {
        letters[flip(pop_lowest(rest))] = kLetters[side * kPieces + piece];
      }
    }
  }
  return letters;
}

std::string fen_text(const Position& p) {
  const std::string letters = board_letters(p);
  std::string text;
  for (int row = 0; row < 8; ++row) {
    if (row != 0) text += '/';
    int empty = 0;
    for (int file = 0; file < 8; ++file) {
      const char letter = letters[row * 8 + file];
      if (letter == '.') {
        ++empty;
        continue;
      }
      if (empty != 0) text += static_cast<char>('0' + empty);
      empty = 0;
      text += letter;
    }
    if (empty != 0) text += static_cast<char>('0' + empty);
  }
  text += p.side == kWhite ? " w " : " b ";
  text += castling_text(p);
  text += ' ';
  text += p.en_passant == kNoSquare ? "-" : square_text(p.en_passant);
  return text + ' ' + std::to_string(p.rule50) + ' ' + std::to_string(p.ply / 2 + 1);
}

std::string chess960_start(int number) {
  if (number < 0 || number > 959) fail("Chess960 start position ", number, " is not from 0 to 959");
  std::string row(8, '.');
  // The n-th square of the row that is still free.
  const auto free_square = [&](int n) {
    std::size_t square = row.find('.');
    while (n-- > 0) square = row.find('.', square + 1);
    return square;
  };
  row[number % 4 * 2 + 1] = 'b';
  row[number / 4 % 4 * 2] = 'b';
  row[free_square(number / 16 % 6)] = 'q';
  // The ten pairs of two of the five free squares, in lexical order.
  int pair = number / 96;
  int first = 0;
  while (pair >= 4 - first) pair -= 4 - first++;
  const std::size_t second_square = free_square(first + 1 + pair);
  row[free_square(first)] = 'n';
  row[second_square] = 'n';
  for (const char piece : {'r', 'k', 'r'}) row[free_square(0)] = piece;
  std::string upper = row;
  for (char& c : upper) c = static_cast<char>(c & ~0x20);
  return row + "/pppppppp/8/8/8/8/PPPPPPPP/" + upper + " w KQkq - 0 1";
}

}  // namespace zermelo::chess
