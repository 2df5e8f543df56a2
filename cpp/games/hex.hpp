// Hex on 3x3 to 11x11, with or without the swap rule: rules, observation and text.
//
// The first player, X, connects top and bottom; the second, O, left and right. Each player sees the
// board in a frame of his own in which he connects top and bottom: X as it lies, O transposed.
// ACTIONS AND OBSERVATIONS ARE IN THE MOVER'S FRAME, so a network meets one task only; text and
// cells() show the board as it lies. Text follows the custom of Hex: a1 is the TOP left, letters
// are columns, numbers are rows counted downwards.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "base/zobrist.hpp"
#include "games/game.hpp"
#include "games/text.hpp"

namespace zermelo {

struct HexOptions {
  int size = 11;
  // The second player may answer the first stone by taking it over: it becomes a stone of his own
  // at the transposed cell, which is the same place in his frame ("swap pieces").
  bool swap = false;
};

class Hex {
 public:
  static constexpr int kMinSize = 3;
  static constexpr int kMaxSize = 11;
  using Bits = unsigned __int128;  // one bit per cell, row * size + column

  struct State {
    std::array<std::array<Bits, 2>, 2> stones{};  // by frame, then by player
    std::array<Bits, 2> reached{};  // by player, in his frame: his stones joined to the top edge
    std::uint64_t hash = 0;
    bool swapped = false;
    friend bool operator==(const State&, const State&) = default;
  };

  explicit Hex(HexOptions options = {}) : size_(options.size), swap_(options.swap) {
    if (size_ < kMinSize || size_ > kMaxSize) {
      fail("the size of a hex board must be from ", kMinSize, " to ", kMaxSize, ", not ", size_);
    }
    full_ = (Bits{1} << num_cells()) - 1;
    top_ = (Bits{1} << size_) - 1;
    bottom_ = top_ << (num_cells() - size_);
    for (int row = 0; row < size_; ++row) first_column_ |= Bits{1} << row * size_;
    last_column_ = first_column_ << (size_ - 1);
    layout_ = {.rows = size_, .columns = size_, .binary_planes = 2};
    if (swap_) layout_.scalar_scales = {1.0f};
  }

  std::string name() const {
    return "hex?size=" + std::to_string(size_) + (swap_ ? "&swap=on" : "");
  }
  int size() const { return size_; }
  bool has_swap() const { return swap_; }
  int num_actions() const { return num_cells() + swap_; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const { return {}; }

  Outcome expand(const State& s, ActionList& actions) const {
    const Outcome result = outcome(s);
    if (result != Outcome::kOngoing) return result;
    actions.clear();
    const auto& stones = s.stones[static_cast<int>(player(s))];
    for_each_cell(~(stones[0] | stones[1]) & full_,
                  [&](int cell) { actions.push(static_cast<Action>(cell)); });
    if (can_swap(s)) actions.push(swap_action());
    return result;
  }

  // A full board always joins exactly one pair of edges, so there are no draws.
  Outcome outcome(const State& s) const {
    if ((s.reached[0] & bottom_) != 0) return Outcome::kFirstWins;
    if ((s.reached[1] & bottom_) != 0) return Outcome::kSecondWins;
    return Outcome::kOngoing;
  }

  void play(State& s, Action action) const {
    const int mover = static_cast<int>(player(s));
    if (action < num_cells()) return place(s, mover, action);
    int cell = 0;
    for_each_cell(s.stones[0][0], [&](int only) { cell = only; });
    s = State{};
    place(s, mover, cell);
    mark_swapped(s);
  }

  Player player(const State& s) const { return ply(s) % 2 == 0 ? Player::kFirst : Player::kSecond; }
  // A swap is a ply that adds no stone.
  int ply(const State& s) const {
    return count(s.stones[0][0]) + count(s.stones[0][1]) + s.swapped;
  }
  std::uint64_t hash(const State& s) const { return s.hash; }

  void observe(const State& s, std::uint64_t* words) const {
    const int mover = static_cast<int>(player(s));
    const int per_plane = layout_.words_per_plane();
    for (int plane = 0; plane < 2; ++plane) {
      const Bits bits = s.stones[mover][plane == 0 ? mover : 1 - mover];
      words[plane * per_plane] = static_cast<std::uint64_t>(bits);
      if (per_plane == 2) words[plane * per_plane + 1] = static_cast<std::uint64_t>(bits >> 64);
    }
    if (!swap_) return;
    words[layout_.binary_words()] = 0;
    set_scalar(layout_, words, 0, can_swap(s));
  }

  // Symmetry 1 turns the board by half a turn, which is the same in both frames.
  int num_symmetries(const State&) const { return 2; }
  State transform(const State& s, int symmetry) const {
    if (symmetry == 0) return s;
    State t;
    for (int p = 0; p < 2; ++p) {
      for_each_cell(s.stones[p][p], [&](int cell) { place(t, p, transform_cell(cell, symmetry)); });
    }
    if (s.swapped) mark_swapped(t);
    return t;
  }
  Action transform_action(Action action, int symmetry) const {
    return action == num_cells() ? action : static_cast<Action>(transform_cell(action, symmetry));
  }
  int transform_cell(int cell, int symmetry) const {
    return symmetry == 0 ? cell : num_cells() - 1 - cell;
  }

  std::string action_text(const State& s, Action action) const {
    if (action == num_cells()) return "swap";
    return cell_text(upside_down(to_board(s, action)), size_, size_);
  }
  Action parse_action(const State& s, std::string_view text) const {
    const bool swaps = swap_ && text == "swap";
    const int cell = swaps ? 0 : upside_down(parse_cell(text, size_, size_));
    if (outcome(s) != Outcome::kOngoing) fail("the game is over, so '", text, "' cannot be played");
    if (swaps) {
      if (!can_swap(s)) fail("'swap' can only be the second player's first move");
      return swap_action();
    }
    if (((s.stones[0][0] | s.stones[0][1]) >> cell & 1) != 0) fail("cell '", text, "' is occupied");
    return static_cast<Action>(to_board(s, cell));  // the transposition is its own inverse
  }

  // Rows from the top separated by '/', then " swapped" if the second player swapped:
  // "X../.O./...", "..O/.../... swapped".
  std::string position_text(const State& s) const {
    return with_row_breaks(cells(s), size_) + (s.swapped ? std::string(kSwapped) : "");
  }
  State parse_position(std::string_view text) const {
    std::string_view rows = text;
    State s;
    if (rows.ends_with(kSwapped)) {
      if (!swap_) fail("position '", text, "': ", name(), " has no swap rule");
      rows.remove_suffix(kSwapped.size());
      mark_swapped(s);
    }
    const std::string board = without_row_breaks(rows, size_, size_, "XO.");
    for (int cell = 0; cell < num_cells(); ++cell) {
      if (board[cell] == 'X') place(s, 0, cell);
      if (board[cell] == 'O') place(s, 1, transposed(cell));
    }
    check_reachable(s, text);
    return s;
  }
  std::string cells(const State& s) const {
    std::string out(num_cells(), '.');
    for_each_cell(s.stones[0][0], [&](int cell) { out[cell] = 'X'; });
    for_each_cell(s.stones[0][1], [&](int cell) { out[cell] = 'O'; });
    return out;
  }

 private:
  static constexpr std::string_view kSwapped = " swapped";
  static constexpr int kSwapKey = 2 * kMaxSize * kMaxSize;
  static constexpr auto kKeys = zobrist_keys<kSwapKey + 1, 0x4E0>();

  int num_cells() const { return size_ * size_; }
  Action swap_action() const { return static_cast<Action>(num_cells()); }
  bool can_swap(const State& s) const { return swap_ && ply(s) == 1; }
  int transposed(int cell) const { return cell % size_ * size_ + cell / size_; }
  // Between the mover's frame and the board as it lies, in either direction.
  int to_board(const State& s, int cell) const {
    return player(s) == Player::kFirst ? cell : transposed(cell);
  }
  // Between Hex's rows, counted from the top, and those of games/text.hpp, from the bottom.
  int upside_down(int cell) const { return (size_ - 1 - cell / size_) * size_ + cell % size_; }

  static int count(Bits bits) {
    return std::popcount(static_cast<std::uint64_t>(bits)) +
           std::popcount(static_cast<std::uint64_t>(bits >> 64));
  }
  template <class Visit>
  static void for_each_cell(Bits bits, const Visit& visit) {
    for (auto low = static_cast<std::uint64_t>(bits); low != 0; low &= low - 1) {
      visit(std::countr_zero(low));
    }
    for (auto high = static_cast<std::uint64_t>(bits >> 64); high != 0; high &= high - 1) {
      visit(64 + std::countr_zero(high));
    }
  }

  // Cells next to any of `bits`: left, right, above, below, above right and below left.
  Bits neighbours(Bits bits) const {
    const Bits rightwards = bits << 1 | bits >> (size_ - 1);
    const Bits leftwards = bits >> 1 | bits << (size_ - 1);
    return ((rightwards & ~first_column_) | (leftwards & ~last_column_) | bits << size_ |
            bits >> size_) &
           full_;
  }

  // Every stone enters `reached` once, so a whole game costs about as much as one flood fill.
  void extend_reached(Bits& reached, Bits mine, Bits stone) const {
    if ((stone & top_) == 0 && (neighbours(stone) & reached) == 0) return;
    for (Bits added = stone; added != 0; added = neighbours(added) & mine & ~reached) {
      reached |= added;
    }
  }

  // `cell` is in the frame of `player`.
  void place(State& s, int player, int cell) const {
    s.stones[player][player] |= Bits{1} << cell;
    s.stones[1 - player][player] |= Bits{1} << transposed(cell);
    s.hash ^= kKeys[player * kMaxSize * kMaxSize + cell];
    extend_reached(s.reached[player], s.stones[player][player], Bits{1} << cell);
  }
  static void mark_swapped(State& s) {
    s.swapped = true;
    s.hash ^= kKeys[kSwapKey];
  }

  void check_reachable(const State& s, std::string_view text) const {
    // After a swap O is a stone ahead, and everybody's turn comes one stone earlier.
    const int lead = count(s.stones[0][0]) - count(s.stones[0][1]) + s.swapped;
    if (s.swapped && ply(s) < 2) fail("position '", text, "': a swap needs a stone");
    if (lead != 0 && lead != 1) {
      fail("position '", text, "': X must have ",
           s.swapped ? "as many stones as O or one fewer" : "as many stones as O or one more");
    }
    if (outcome(s) == Outcome::kOngoing) return;
    // The game ended with the last stone if taking away some stone of the winner reopens it.
    const int last = 1 - static_cast<int>(player(s));
    bool reopened = false;
    if (outcome(s) == win_for(static_cast<Player>(last))) {
      const Bits mine = s.stones[last][last];
      for_each_cell(mine, [&](int cell) {
        const Bits rest = mine & ~(Bits{1} << cell);
        Bits reached = 0;
        for (Bits added = rest & top_; added != 0; added = neighbours(added) & rest & ~reached) {
          reached |= added;
        }
        reopened = reopened || (reached & bottom_) == 0;
      });
    }
    if (!reopened) fail("position '", text, "': a stone was played after the game was won");
  }

  // Constant after construction.
  int size_;
  bool swap_;
  Bits full_ = 0;
  Bits top_ = 0;
  Bits bottom_ = 0;
  Bits first_column_ = 0;
  Bits last_column_ = 0;
  ObservationLayout layout_;
};

static_assert(Game<Hex>);

}  // namespace zermelo
