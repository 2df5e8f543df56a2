// Negamax with null windows: search() answers "more than alpha, or not?", and solve_between() asks
// until both bounds meet. Every answer is a bound that the table keeps.
#include "games/connect4_solver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace zermelo {

using connect4::Bits;
using connect4::Board;
using connect4::Bounds;
using connect4::kBottomRow;
using connect4::Table;

namespace {

// Looking children up costs memory traffic, which late positions are too cheap for.
constexpr int kLookUpChildrenBefore = 32;
// Mirror images meet in the opening only; later the second key would be computed in vain.
constexpr int kMirrorUpTo = 12;

Bits table_key(Bits mine, Bits occupied, int ply) {
  const Bits key = connect4::position_key(mine, occupied);
  return ply <= kMirrorUpTo ? std::min(key, connect4::mirrored_key(key)) : key;
}

// Cells to play that do not lose at once, when the mover cannot win at once: a single threat must
// be met, and the cell below a threat is poisoned.
Bits safe_cells(const Board& board, Bits their_wins) {
  Bits cells = board.playable();
  const Bits threats = cells & their_wins;
  if (threats != 0) {
    if ((threats & (threats - 1)) != 0) return 0;
    cells = threats;
  }
  return cells & ~(their_wins >> 1);
}

// The score of an unfinished position whose unfinished successors are all in the book.
int best_reply(const Board& board, const connect4::Book& book) {
  int best = connect4::score_of_loss_at_once(board.ply);
  for (Bits cells = board.playable(); cells != 0; cells &= cells - 1) {
    const Bits cell = cells & (~cells + 1);
    if (connect4::has_four(board.mine | cell)) return connect4::score_of_win_at_once(board.ply);
    best = std::max(best, -book.find(board.after(cell)).value());
  }
  return best;
}

}  // namespace

class Connect4Solver::Turn {
 public:
  explicit Turn(Connect4Solver& solver) : busy_(solver.busy_) {
    if (busy_.exchange(true)) throw std::runtime_error("the solver is at work in another thread");
  }
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

void Connect4Solver::reset() {
  const Turn turn(*this);
  table_.clear();
  nodes_ = 0;
}

void Connect4Solver::load_book(const std::string& path) {
  const Turn turn(*this);
  book_ = connect4::Book::load(path);
}

int Connect4Solver::solve(const Connect4::State& state, const StopCheck& stop) {
  const Turn turn(*this);
  return score(connect4::to_board(state), stop);
}

int Connect4Solver::solve_weak(const Connect4::State& state, const StopCheck& stop) {
  const Turn turn(*this);
  const Board board = connect4::to_board(state);
  const auto known = book_.find(board);
  return std::clamp(known ? *known : score_between(board, -1, 1, stop), -1, 1);
}

Connect4Solver::Scores Connect4Solver::analyse(const Connect4::State& state,
                                               const StopCheck& stop) {
  const Turn turn(*this);
  Scores scores;
  const Board board = connect4::to_board(state);
  if (connect4::has_four(board.theirs())) return scores;
  for (int column = 0; column < Connect4::kColumns; ++column) {
    const Bits cell = board.playable() & connect4::column_cells(column);
    if (cell != 0) scores[column] = -score(board.after(cell), stop);
  }
  return scores;
}

void Connect4Solver::build_book(int max_plies, const std::string& path, const StopCheck& stop) {
  if (max_plies < 0 || max_plies > kMaxBookPlies) {
    fail("a book must have from 0 to ", kMaxBookPlies, " plies, not ", max_plies);
  }
  const Turn turn(*this);
  std::vector<std::vector<Bits>> keys = {{0}};  // by ply
  while (static_cast<int>(keys.size()) <= max_plies) {
    keys.push_back(connect4::next_positions(keys.back()));
  }
  connect4::Book book;
  std::vector<connect4::Book::Entry> entries;
  for (int ply = max_plies; ply >= 0; --ply) {
    for (const Bits key : keys[ply]) {
      const Board board = connect4::board_of_key(key);
      // Only the last ply is searched; earlier scores follow from it.
      entries.push_back({key, ply == max_plies ? score(board, stop) : best_reply(board, book)});
    }
    book = connect4::Book(max_plies, entries);
  }
  book.save(path);
  book_ = std::move(book);
}

int Connect4Solver::score(const Board& board, const StopCheck& stop) {
  if (const auto known = book_.find(board)) return *known;
  return score_between(board, connect4::score_of_loss_at_once(board.ply),
                       connect4::score_of_win_at_once(board.ply), stop);
}

int Connect4Solver::score_between(const Board& board, int lower, int upper, const StopCheck& stop) {
  if (connect4::has_four(board.theirs())) return connect4::score_of_lost_game(board.ply);
  if (board.ply == Connect4::kCells) return 0;
  if ((connect4::winning_cells(board.mine, board.occupied) & board.playable()) != 0) {
    return connect4::score_of_win_at_once(board.ply);
  }
  const Bits their_wins = connect4::winning_cells(board.theirs(), board.occupied);
  stop_ = stop ? &stop : nullptr;
  // First who wins, then bounds halved from far away: extreme scores are refuted quickly.
  int alpha = 0;
  while (lower < upper) {
    alpha = std::clamp(alpha, lower, upper - 1);
    const int bound = search(board, their_wins, alpha);
    if (bound > alpha) {
      lower = bound;
      alpha = upper / 2;
    } else {
      upper = bound;
      alpha = lower / 2;
    }
  }
  return lower;
}

// The mover must not be able to win at once. `their_wins` are the empty cells that complete four
// for the opponent. Returns a lower bound above alpha, or an upper bound not above it.
int Connect4Solver::search(const Board& board, Bits their_wins, int alpha) {
  count_node();
  const int ply = board.ply;
  const Bits cells = safe_cells(board, their_wins);
  if (cells == 0) return connect4::score_of_loss_at_once(ply);
  if (ply >= Connect4::kCells - 2) return 0;
  Bounds bounds = {connect4::score_of_loss_in_two(ply), connect4::score_of_win_in_two(ply)};
  if (bounds.lower > alpha) return bounds.lower;
  if (bounds.upper <= alpha) return bounds.upper;

  // A forced move is followed without the table. Otherwise the entry is on its way from memory
  // while the moves are ordered.
  const bool forced = (cells & (cells - 1)) == 0;
  Table::Place place{};
  if (!forced) {
    place = table_.place(table_key(board.mine, board.occupied, ply));
    table_.prefetch(place);
  }
  Moves moves;
  const int count = order_moves(board, cells, moves);
  if (count == 0) return connect4::score_of_win_in_two(ply);
  if (!forced) {
    if (table_.find(place, bounds)) {
      if (bounds.lower > alpha) return bounds.lower;
      if (bounds.upper <= alpha) return bounds.upper;
    }
    const auto known = known_above(board, {moves.data(), static_cast<std::size_t>(count)}, alpha);
    if (known) return *known;
  }

  const std::uint64_t nodes_before = nodes();
  int best = -Connect4::kCells;
  for (int i = 0; i < count && best <= alpha; ++i) {
    best = std::max(best, -search(board.after(moves[i].cell), moves[i].wins, -alpha - 1));
  }
  if (!forced) {
    (best > alpha ? bounds.lower : bounds.upper) = best;
    table_.store(place, bounds, nodes() - nodes_before);
  }
  return best;
}

// A lower bound above alpha that a move has without search: by claimeven, or from the table.
std::optional<int> Connect4Solver::known_above(const Board& board, std::span<const Move> moves,
                                               int alpha) const {
  std::array<Table::Place, Connect4::kColumns> places;
  const bool look_up = board.ply < kLookUpChildrenBefore;
  for (std::size_t i = 0; look_up && i < moves.size(); ++i) {
    places[i] =
        table_.place(table_key(board.theirs(), board.occupied | moves[i].cell, board.ply + 1));
    table_.prefetch(places[i]);
  }
  if (board.ply % 2 == 1 && alpha <= 0) {
    for (const Move& move : moves) {
      const int sure = connect4::claimeven(board.theirs(), board.mine | move.cell);
      if (sure >= 0 && sure > alpha) return sure;
    }
  }
  for (std::size_t i = 0; look_up && i < moves.size(); ++i) {
    Bounds child{};
    if (table_.find(places[i], child) && -child.upper > alpha) return -child.upper;
  }
  return std::nullopt;
}

// Fills `moves` best first and returns their number; 0 if one of them makes two threats at once, of
// which the opponent can meet only one.
int Connect4Solver::order_moves(const Board& board, Bits cells, Moves& moves) const {
  static constexpr std::array<int, Connect4::kColumns> kCentreFirst = {3, 2, 4, 1, 5, 0, 6};
  std::array<Bits, 8> chosen{};
  std::array<Bits, 8> wins{};
  int count = 0;
  for (const int column : kCentreFirst) {
    const Bits cell = cells & connect4::column_cells(column);
    chosen[count] = cell;
    count += cell != 0;
  }
  // Four at a time, so that the compiler can use vector instructions.
  for (int first = 0; first < count; first += 4) {
    for (int i = first; i < first + 4; ++i) {
      wins[i] = connect4::winning_cells(board.mine | chosen[i], board.occupied | chosen[i]);
    }
  }
  for (int i = 0; i < count; ++i) {
    const Bits occupied = board.occupied | chosen[i];
    const Bits threats = wins[i] & (occupied + kBottomRow);
    if ((threats & (threats - 1)) != 0 || (threats << 1 & wins[i]) != 0) return 0;
    const int order = std::popcount(wins[i]);
    int at = i;
    for (; at > 0 && moves[at - 1].order < order; --at) moves[at] = moves[at - 1];
    moves[at] = {chosen[i], wins[i], order};
  }
  return count;
}

void Connect4Solver::count_node() {
  const std::uint64_t count = nodes() + 1;
  nodes_.store(count, std::memory_order_relaxed);  // one writer: no locked addition
  if (count % kNodesBetweenChecks == 0 && stop_ != nullptr && (*stop_)()) throw Stopped();
}

}  // namespace zermelo
