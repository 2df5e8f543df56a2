#include "games/connect4.hpp"

#include <array>
#include <map>

#include "base/random.hpp"
#include "games/perft.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

// Four in a row by walking over cells('X'/'O'), with no bit of the implementation's.
bool slow_four(const std::string& cells, char stone) {
  constexpr std::array<std::array<int, 2>, 4> steps = {{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 7; ++column) {
      for (const auto& [down, right] : steps) {
        int length = 0;
        while (length < 4) {
          const int r = row + length * down;
          const int c = column + length * right;
          if (r >= 6 || c < 0 || c >= 7 || cells[r * 7 + c] != stone) break;
          ++length;
        }
        if (length == 4) return true;
      }
    }
  }
  return false;
}

Outcome slow_outcome(const std::string& cells) {
  if (slow_four(cells, 'X')) return Outcome::kFirstWins;
  if (slow_four(cells, 'O')) return Outcome::kSecondWins;
  return cells.find('.') == std::string::npos ? Outcome::kDraw : Outcome::kOngoing;
}

std::string refusal(std::string_view text) {
  return testing::thrown([&] { (void)Connect4().parse_position(text); });
}

}  // namespace

TEST("connect4 has the known numbers of paths") {
  const Connect4 game;
  constexpr std::array<std::uint64_t, 9> paths = {1,     7,      49,     343,    2401,
                                                  16807, 117649, 823536, 5673234};
  for (int depth = 0; depth <= 8; ++depth) {
    CHECK_EQUAL(perft(game, game.initial(), depth), paths[depth]);
  }
}

TEST("connect4 agrees with a slow reading of the board along random games") {
  const Connect4 game;
  Random random(4);
  ActionList actions;
  std::map<std::uint64_t, std::string> seen;
  int draws = 0;
  for (int round = 0; round < 2000; ++round) {
    Connect4::State s = game.initial();
    for (int ply = 0;; ++ply) {
      const std::string text = game.position_text(s);
      const Outcome outcome = game.expand(s, actions);
      CHECK(outcome == slow_outcome(game.cells(s)));
      CHECK_EQUAL(game.ply(s), ply);
      CHECK(game.parse_position(text) == s);
      const std::string& known = seen.emplace(game.hash(s), text).first->second;
      CHECK_EQUAL(known, text);
      const auto mirrored = game.transform(s, 1);
      CHECK(game.transform(mirrored, 1) == s);
      CHECK(game.outcome(mirrored) == outcome);
      if (outcome != Outcome::kOngoing) {
        draws += outcome == Outcome::kDraw;
        break;
      }
      const Action action = actions[random.below(actions.size())];
      CHECK(game.parse_action(s, game.action_text(s, action)) == action);
      game.play(s, action);
      auto other = mirrored;
      game.play(other, game.transform_action(action, 1));
      CHECK(other == game.transform(s, 1));
    }
  }
  CHECK(draws > 0);
}

TEST("connect4 reads moves and rows, and the order of moves does not matter") {
  const Connect4 game;
  CHECK(game.parse_position("") == game.initial());
  const auto s = game.parse_position("4453");
  CHECK_EQUAL(game.position_text(s),
              std::string("......./......./......./......./...O.../..OXX.."));
  CHECK(game.parse_position("4354") == s);
  CHECK(game.parse_position("3454") != s);
}

TEST("connect4 shows the mover's stones first, top row first") {
  const Connect4 game;
  std::array<std::uint64_t, 2> words{};
  game.observe(game.parse_position("1"), words.data());
  CHECK_EQUAL(words[0], 0u);
  CHECK_EQUAL(words[1], std::uint64_t{1} << 35);
}

TEST("connect4 refuses impossible positions with a sentence") {
  CHECK_EQUAL(refusal("48"),
              std::string("position '48': move 2, '8', is not a column from 1 to 7"));
  CHECK_EQUAL(refusal("1111111"),
              std::string("position '1111111': move 7 goes to column 1, which is full"));
  CHECK_EQUAL(refusal("12121213"),
              std::string("position '12121213': move 8 comes after the end of the game"));
  const std::string empty = "......./......./......./......./";
  CHECK(refusal(empty + "X....../.......")
            .ends_with("the stone in column 1, row 5 from the top has nothing below it"));
  CHECK(
      refusal(empty + "......./O......").ends_with("X must have as many stones as O or one more"));
  CHECK(refusal(empty + "OOOO.../XXXX...").ends_with("both players have four in a row"));
  // X has four and yet O moved last.
  CHECK(refusal(empty + "OOO..../XXXX..O").ends_with("a stone was played after the game was won"));
  // X moved last, but two separate fours cannot come from one stone.
  CHECK(refusal("......./......./......X/....O.X/OO..OOX/XXXXOOX").ends_with("won"));
}

TEST("connect4 accepts a last stone that makes two lines of four") {
  const Connect4 game;
  const auto s = game.parse_position("1122334");
  CHECK(game.outcome(s) == Outcome::kFirstWins);
  CHECK(game.parse_position(game.position_text(s)) == s);
  // The stone in column 4 joins three on either side.
  const auto wide = game.parse_position("1122336677554");
  CHECK(game.outcome(wide) == Outcome::kFirstWins);
  CHECK(game.parse_position(game.position_text(wide)) == wide);
}

TEST("connect4 actions are refused with a sentence") {
  const Connect4 game;
  const auto thrown = [&](std::string_view position, std::string_view action) {
    return testing::thrown([&] { (void)game.parse_action(game.parse_position(position), action); });
  };
  CHECK_EQUAL(thrown("", "8"), std::string("'8' is not a column from 1 to 7"));
  CHECK_EQUAL(thrown("", ""), std::string("'' is not a column from 1 to 7"));
  CHECK_EQUAL(thrown("111111", "1"), std::string("column 1 is full"));
  CHECK_EQUAL(thrown("1212121", "3"), std::string("the game is over, so '3' cannot be played"));
}
