// Othello on 8x8 or 6x6: rules, observation and text. It knows nothing of search.
//
// Cells are numbered from the top left, row by row, and so are the actions; action size * size is
// the pass, legal only (and then alone) when the mover has no other move but the opponent has one.
// Every ply, pass included, changes the player to move. Text follows Othello's custom: a1 is the
// TOP left, letters are columns, numbers are rows counted downwards. Black is X and begins, White
// is O.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "base/zobrist.hpp"
#include "games/game.hpp"
#include "games/square_symmetry.hpp"
#include "games/text.hpp"

namespace zermelo {

// Move generation and flipping on a compact bitboard: bit row * Size + column, no gaps.
template <int Size>
struct OthelloBoard {
  using Bits = std::uint64_t;

  static Bits moves(Bits mine, Bits theirs) {
    const Bits reached = beyond<1>(mine, theirs) | beyond<-1>(mine, theirs) |
                         beyond<Size>(mine, theirs) | beyond<-Size>(mine, theirs) |
                         beyond<Size - 1>(mine, theirs) | beyond<1 - Size>(mine, theirs) |
                         beyond<Size + 1>(mine, theirs) | beyond<-Size - 1>(mine, theirs);
    return reached & ~(mine | theirs) & kFull;
  }

  // The discs of `theirs` that turn over when a disc of `mine` is put on the cell of `move`.
  static Bits flips(Bits mine, Bits theirs, Bits move) {
    return closed<1>(mine, theirs, move) | closed<-1>(mine, theirs, move) |
           closed<Size>(mine, theirs, move) | closed<-Size>(mine, theirs, move) |
           closed<Size - 1>(mine, theirs, move) | closed<1 - Size>(mine, theirs, move) |
           closed<Size + 1>(mine, theirs, move) | closed<-Size - 1>(mine, theirs, move);
  }

 private:
  static constexpr Bits kFull = Size == 8 ? ~Bits{0} : (Bits{1} << Size * Size) - 1;
  // Discs in the outer columns end every line that is not vertical, so leaving them out of the
  // lines also keeps shifts from wrapping into the next row.
  static constexpr Bits kInnerColumns = [] {
    Bits bits = 0;
    for (int cell = 0; cell < Size * Size; ++cell) {
      if (cell % Size != 0 && cell % Size != Size - 1) bits |= Bits{1} << cell;
    }
    return bits;
  }();

  template <int Step>
  static constexpr Bits shifted(Bits bits) {
    if constexpr (Step > 0) return bits << Step;
    return bits >> (Step > 0 ? 0 : -Step);
  }

  // The unbroken lines of `theirs` that start next to a cell of `from`, in direction Step: lengths
  // 2, 4 and 6 by parallel prefix. No line between two discs is longer than Size - 2.
  template <int Step>
  static Bits line(Bits from, Bits theirs) {
    const Bits open = Step == Size || Step == -Size ? theirs : theirs & kInnerColumns;
    Bits bits = open & shifted<Step>(from);
    bits |= open & shifted<Step>(bits);
    const Bits pairs = open & shifted<Step>(open);
    bits |= pairs & shifted<2 * Step>(bits);
    if constexpr (Size > 6) bits |= pairs & shifted<2 * Step>(bits);
    return bits;
  }
  template <int Step>
  static Bits beyond(Bits mine, Bits theirs) {
    return shifted<Step>(line<Step>(mine, theirs));
  }
  template <int Step>
  static Bits closed(Bits mine, Bits theirs, Bits move) {
    const Bits bits = line<Step>(move, theirs);
    return shifted<Step>(bits) & mine ? bits : 0;
  }
};

struct OthelloOptions {
  int size = 8;  // 6 or 8 rows and columns
};

class Othello {
 public:
  struct State {
    std::array<std::uint64_t, 2> discs{};  // one bit per cell, by player
    Player mover = Player::kFirst;
    std::uint16_t ply = 0;  // passes count
    std::uint64_t hash = 0;
    // The same position with the same mover; how many plies led to it does not matter.
    friend bool operator==(const State& a, const State& b) {
      return a.discs == b.discs && a.mover == b.mover;
    }
  };

  explicit Othello(OthelloOptions options = {}) : size_(options.size) {
    if (size_ != 6 && size_ != 8) fail("othello: size ", size_, " is neither 6 nor 8");
    layout_ = {.rows = size_, .columns = size_, .binary_planes = 2};
  }

  std::string name() const { return size_ == 8 ? "othello" : "othello?size=6"; }
  int num_actions() const { return size_ * size_ + 1; }
  const ObservationLayout& layout() const { return layout_; }
  Action pass() const { return static_cast<Action>(size_ * size_); }

  // White on the two middle cells of the diagonal from a1, Black on the other two.
  State initial() const {
    State s;
    const int middle = (size_ / 2 - 1) * (size_ + 1);
    place(s, 1, middle);
    place(s, 0, middle + 1);
    place(s, 0, middle + size_);
    place(s, 1, middle + size_ + 1);
    return s;
  }

  Outcome expand(const State& s, ActionList& actions) const {
    actions.clear();
    for (std::uint64_t open = moves(s, s.mover); open != 0; open &= open - 1) {
      actions.push(static_cast<Action>(std::countr_zero(open)));
    }
    if (actions.empty()) {
      if (moves(s, other(s.mover)) == 0) return result(s);
      actions.push(pass());
    }
    return Outcome::kOngoing;
  }

  Outcome outcome(const State& s) const {
    const bool over = moves(s, s.mover) == 0 && moves(s, other(s.mover)) == 0;
    return over ? result(s) : Outcome::kOngoing;
  }

  void play(State& s, Action action) const {
    if (action != pass()) {
      const int me = static_cast<int>(s.mover);
      std::uint64_t& mine = s.discs[me];
      std::uint64_t& theirs = s.discs[1 - me];
      const std::uint64_t move = std::uint64_t{1} << action;
      const std::uint64_t turned = size_ == 8 ? OthelloBoard<8>::flips(mine, theirs, move)
                                              : OthelloBoard<6>::flips(mine, theirs, move);
      mine ^= turned | move;
      theirs ^= turned;
      s.hash ^= kKeys[me * 64 + action];
      for (std::uint64_t rest = turned; rest != 0; rest &= rest - 1) {
        const int cell = std::countr_zero(rest);
        s.hash ^= kKeys[cell] ^ kKeys[64 + cell];
      }
    }
    s.mover = other(s.mover);
    s.hash ^= kMoverKey;
    ++s.ply;
  }

  Player player(const State& s) const { return s.mover; }
  int ply(const State& s) const { return s.ply; }
  std::uint64_t hash(const State& s) const { return s.hash; }

  // Two planes: the mover's discs, the opponent's.
  void observe(const State& s, std::uint64_t* words) const {
    words[0] = s.discs[static_cast<int>(s.mover)];
    words[1] = s.discs[1 - static_cast<int>(s.mover)];
  }

  // The mover's discs less the opponent's, as they lie.
  int disc_difference(const State& s) const {
    const int me = static_cast<int>(s.mover);
    return std::popcount(s.discs[me]) - std::popcount(s.discs[1 - me]);
  }
  // The same by the rule of tournaments and endgame suites: the winner of a finished game also gets
  // the cells that stayed empty.
  int final_score(const State& s) const {
    const int difference = disc_difference(s);
    const int empty = size_ * size_ - std::popcount(s.discs[0] | s.discs[1]);
    return difference > 0 ? difference + empty : difference < 0 ? difference - empty : 0;
  }

  int num_symmetries(const State&) const { return kSquareSymmetries; }
  State transform(const State& s, int symmetry) const {
    State t;
    for (int p = 0; p < 2; ++p) {
      for (std::uint64_t rest = s.discs[p]; rest != 0; rest &= rest - 1) {
        place(t, p, transform_cell(std::countr_zero(rest), symmetry));
      }
    }
    set_mover(t, s.mover);
    t.ply = s.ply;
    return t;
  }
  Action transform_action(Action action, int symmetry) const {
    return action == pass() ? action : static_cast<Action>(transform_cell(action, symmetry));
  }
  int transform_cell(int cell, int symmetry) const {
    return square_symmetry(cell, size_, symmetry);
  }

  std::string action_text(const State&, Action action) const {
    return action == pass() ? "pass" : cell_text(upside_down(action), size_, size_);
  }
  Action parse_action(const State& s, std::string_view text) const {
    const int cell = text == "pass" ? pass() : upside_down(parse_cell(text, size_, size_));
    ActionList actions;
    if (expand(s, actions) != Outcome::kOngoing) {
      fail("the game is over, so '", text, "' cannot be played");
    }
    const auto action = static_cast<Action>(cell);
    if (actions.contains(action)) return action;
    if (action == pass()) fail("'pass' is not legal: ", letter(s.mover), " has a move");
    if (actions[0] == pass()) fail("'", text, "' is not legal: ", letter(s.mover), " must pass");
    if ((s.discs[0] | s.discs[1]) >> cell & 1u) fail("cell '", text, "' is occupied");
    fail("'", text, "' is not legal: it turns no disc");
  }

  // Rows from the top separated by '/', a blank, the player to move: "......../.../........ X".
  std::string position_text(const State& s) const {
    return with_row_breaks(cells(s), size_) + ' ' + letter(s.mover);
  }
  // Also takes the board in one line, '-' for an empty cell and a ';' at the end, as in .obf files.
  // The ply is as if nobody had passed more often than the player to move requires.
  State parse_position(std::string_view text) const {
    std::string_view rest = text;
    if (rest.ends_with(';')) rest.remove_suffix(1);
    const std::size_t blank = rest.find(' ');
    const std::string_view mover = rest.substr(blank == rest.npos ? rest.size() : blank + 1);
    if (mover != "X" && mover != "O") {
      fail("position '", text,
           "': the board must be followed by a blank and X or O, who is to move");
    }
    const std::string_view rows = rest.substr(0, blank);
    std::string board(rows);
    if (size_ * size_ == static_cast<int>(rows.size())) board = with_row_breaks(rows, size_);
    board = without_row_breaks(board, size_, size_, "XO.-");
    State s;
    for (int cell = 0; cell < size_ * size_; ++cell) {
      if (board[cell] == 'X' || board[cell] == 'O') place(s, board[cell] == 'O', cell);
    }
    set_mover(s, mover == "X" ? Player::kFirst : Player::kSecond);
    const int added = std::popcount(s.discs[0] | s.discs[1]) - 4;
    s.ply = static_cast<std::uint16_t>(added < 0 ? 0 : added);
    if (s.ply % 2 != static_cast<int>(s.mover)) ++s.ply;
    return s;
  }
  std::string cells(const State& s) const {
    std::string out(size_ * size_, '.');
    for (int cell = 0; cell < size_ * size_; ++cell) {
      if (s.discs[0] >> cell & 1u) out[cell] = 'X';
      if (s.discs[1] >> cell & 1u) out[cell] = 'O';
    }
    return out;
  }

 private:
  static constexpr auto kKeys = zobrist_keys<129, 0x07E1>();  // Black's discs, White's, the mover
  static constexpr std::uint64_t kMoverKey = kKeys[128];

  static char letter(Player player) { return player == Player::kFirst ? 'X' : 'O'; }
  static void place(State& s, int player, int cell) {
    s.discs[player] |= std::uint64_t{1} << cell;
    s.hash ^= kKeys[player * 64 + cell];
  }
  static void set_mover(State& s, Player mover) {
    if (s.mover != mover) s.hash ^= kMoverKey;
    s.mover = mover;
  }

  // Between Othello's rows, counted from the top, and those of games/text.hpp, from the bottom.
  int upside_down(int cell) const { return (size_ - 1 - cell / size_) * size_ + cell % size_; }

  std::uint64_t moves(const State& s, Player player) const {
    const std::uint64_t mine = s.discs[static_cast<int>(player)];
    const std::uint64_t theirs = s.discs[1 - static_cast<int>(player)];
    return size_ == 8 ? OthelloBoard<8>::moves(mine, theirs) : OthelloBoard<6>::moves(mine, theirs);
  }

  // Of a finished game.
  Outcome result(const State& s) const {
    const int difference = disc_difference(s);
    if (difference == 0) return Outcome::kDraw;
    return win_for(difference > 0 ? s.mover : other(s.mover));
  }

  int size_;
  ObservationLayout layout_;
};

static_assert(Game<Othello>);

}  // namespace zermelo
