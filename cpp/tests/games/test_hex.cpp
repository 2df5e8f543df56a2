#include "games/hex.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "games/perft.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

// Flood fill over cells(): whether `stone` joins top and bottom (X) or left and right (O).
bool slow_joined(const std::string& cells, int size, char stone) {
  constexpr std::array<std::array<int, 2>, 6> steps = {
      {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {-1, 1}, {1, -1}}};
  std::vector<bool> seen(cells.size());
  std::vector<int> stack;
  for (int i = 0; i < size; ++i) stack.push_back(stone == 'X' ? i : i * size);
  while (!stack.empty()) {
    const int cell = stack.back();
    stack.pop_back();
    if (seen[cell] || cells[cell] != stone) continue;
    seen[cell] = true;
    const int row = cell / size;
    const int column = cell % size;
    if ((stone == 'X' ? row : column) == size - 1) return true;
    for (const auto& [down, right] : steps) {
      const int r = row + down;
      const int c = column + right;
      if (r >= 0 && r < size && c >= 0 && c < size) stack.push_back(r * size + c);
    }
  }
  return false;
}

std::string refusal(const Hex& game, std::string_view text) {
  return testing::thrown([&] { (void)game.parse_position(text); });
}

void check_random_game(const Hex& game, Random& random,
                       std::map<std::uint64_t, std::string>& seen) {
  ActionList actions;
  Hex::State s = game.initial();
  for (int ply = 0;; ++ply) {
    const std::string cells = game.cells(s);
    const std::string text = game.position_text(s);
    const Outcome outcome = game.expand(s, actions);
    CHECK((outcome == Outcome::kFirstWins) == slow_joined(cells, game.size(), 'X'));
    CHECK((outcome == Outcome::kSecondWins) == slow_joined(cells, game.size(), 'O'));
    CHECK_EQUAL(game.ply(s), ply);
    CHECK(game.parse_position(text) == s);
    CHECK_EQUAL(seen.emplace(game.hash(s), text).first->second, text);
    const auto turned = game.transform(s, 1);
    CHECK(game.transform(turned, 1) == s);
    CHECK(game.outcome(turned) == outcome);
    if (outcome != Outcome::kOngoing) return;
    const auto free = static_cast<std::size_t>(std::count(cells.begin(), cells.end(), '.'));
    CHECK_EQUAL(actions.size(), free + (game.has_swap() && ply == 1));
    const Action action = actions[random.below(actions.size())];
    CHECK(game.parse_action(s, game.action_text(s, action)) == action);
    game.play(s, action);
    auto other = turned;
    game.play(other, game.transform_action(action, 1));
    CHECK(other == game.transform(s, 1));
  }
}

}  // namespace

TEST("hex agrees with a flood fill along random games of every size") {
  Random random(6);
  for (int size = Hex::kMinSize; size <= Hex::kMaxSize; ++size) {
    for (const bool swap : {false, true}) {
      const Hex game({.size = size, .swap = swap});
      std::map<std::uint64_t, std::string> seen;
      for (int round = 0; round < 60; ++round) check_random_game(game, random, seen);
    }
  }
}

TEST("hex has falling factorials of paths until somebody can win, and one more with a swap") {
  const Hex plain({.size = 3});
  CHECK_EQUAL(perft(plain, plain.initial(), 1), 9u);
  CHECK_EQUAL(perft(plain, plain.initial(), 5), 9u * 8 * 7 * 6 * 5);
  const Hex swap({.size = 3, .swap = true});
  CHECK_EQUAL(perft(swap, swap.initial(), 2), 9u * 8 + 9);
  // After a swap eight cells are free, as after no swap and two plies only seven.
  CHECK_EQUAL(perft(swap, swap.initial(), 3), 9u * 8 * 7 + 9 * 8);
}

TEST("hex numbers the second player's actions on the transposed board") {
  const Hex game({.size = 5});
  auto s = game.initial();
  game.play(s, game.parse_action(s, "b1"));
  CHECK_EQUAL(game.parse_action(s, "c1"), 10);  // column c is row 3 of O's frame
  CHECK_EQUAL(game.action_text(s, 10), std::string("c1"));
  std::array<std::uint64_t, 5> words{};
  game.observe(s, words.data());
  CHECK_EQUAL(words[0], 0u);
  CHECK_EQUAL(words[1], std::uint64_t{1} << 5);
}

TEST("hex swap takes the stone over at the transposed cell and keeps the order of players") {
  const Hex game({.size = 4, .swap = true});
  auto s = game.initial();
  game.play(s, game.parse_action(s, "c1"));
  std::array<std::uint64_t, 5> words{};
  game.observe(s, words.data());
  CHECK_EQUAL(words[2], 1u);
  game.play(s, game.parse_action(s, "swap"));
  CHECK_EQUAL(game.position_text(s), std::string("..../..../O.../.... swapped"));
  CHECK(game.player(s) == Player::kFirst);
  game.observe(s, words.data());
  CHECK_EQUAL(words[2], 0u);
  // The same stones with the other player to move are another position.
  game.play(s, game.parse_action(s, "a1"));
  const auto plain = game.parse_position("X.../..../O.../....");
  CHECK(game.parse_position("X.../..../O.../.... swapped") == s);
  CHECK(plain != s);
  CHECK(game.hash(plain) != game.hash(s));
}

TEST("hex uses two words a plane above 64 cells") {
  const Hex game({.size = 11});
  auto s = game.initial();
  game.play(s, 120);
  std::array<std::uint64_t, 5> words{};
  game.observe(s, words.data());
  CHECK_EQUAL(words[3], std::uint64_t{1} << 56);
  CHECK_EQUAL(words[0] | words[1] | words[2], 0u);
}

TEST("hex refuses what cannot be with a sentence") {
  const Hex game({.size = 3});
  const Hex swap({.size = 3, .swap = true});
  CHECK_EQUAL(testing::thrown([] { (void)Hex({.size = 12}); }),
              std::string("the size of a hex board must be from 3 to 11, not 12"));
  CHECK(refusal(game, ".../...").ends_with("expected 3 rows of 3 cells"));
  CHECK(refusal(game, "O../.../...").ends_with("X must have as many stones as O or one more"));
  CHECK(refusal(game, "O../.../... swapped").ends_with("hex?size=3 has no swap rule"));
  CHECK(refusal(swap, "XX./.../... swapped").ends_with("as many stones as O or one fewer"));
  CHECK(refusal(swap, ".../.../... swapped").ends_with("a swap needs a stone"));
  CHECK(refusal(game, "X../X.O/XOO").ends_with("a stone was played after the game was won"));
  CHECK(refusal(game, "XXO/XXO/XX.").find("stones as O") != std::string::npos);
  CHECK_EQUAL(refusal(game, "X.O/X../XO."), std::string());
  CHECK_EQUAL(testing::thrown([&] { (void)game.parse_action(game.initial(), "d1"); }),
              std::string("'d1' is not a cell from a1 to c3"));
  CHECK_EQUAL(testing::thrown([&] { (void)game.parse_action(game.initial(), "swap"); }),
              std::string("'swap' is not a cell from a1 to c3"));
  CHECK_EQUAL(testing::thrown([&] { (void)swap.parse_action(swap.initial(), "swap"); }),
              std::string("'swap' can only be the second player's first move"));
  CHECK_EQUAL(
      testing::thrown([&] { (void)game.parse_action(game.parse_position("X../.../..."), "a1"); }),
      std::string("cell 'a1' is occupied"));
}
