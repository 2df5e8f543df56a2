#include "games/othello.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "games/perft.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

// Best final score for the mover by plain alpha-beta: an end-to-end check of rules and scoring.
int solve(const Othello& game, const Othello::State& s, int alpha, int beta) {
  ActionList actions;
  if (game.expand(s, actions) != Outcome::kOngoing) return game.final_score(s);
  for (const Action action : actions) {
    auto next = s;
    game.play(next, action);
    alpha = std::max(alpha, -solve(game, next, -beta, -alpha));
    if (alpha >= beta) break;
  }
  return alpha;
}

// Paths of `depth` plies, and every game that is over sooner as one more.
std::uint64_t leaves(const Othello& game, const Othello::State& s, int depth) {
  ActionList actions;
  if (depth == 0 || game.expand(s, actions) != Outcome::kOngoing) return 1;
  if (depth == 1) return actions.size();
  std::uint64_t sum = 0;
  for (const Action action : actions) {
    auto next = s;
    game.play(next, action);
    sum += leaves(game, next, depth - 1);
  }
  return sum;
}

}  // namespace

TEST("othello has the known number of paths, passes counted as plies") {
  const Othello game;
  const std::uint64_t known[] = {1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288};
  for (int depth = 0; depth <= 9; ++depth) {
    CHECK_EQUAL(perft(game, game.initial(), depth), known[depth]);
  }
}

// Published tables count a finished game on; 228 games are over after nine plies.
TEST("othello has the published number of leaves at depth 10") {
  const Othello game;
  CHECK_EQUAL(leaves(game, game.initial(), 10), 24571284u);
  CHECK_EQUAL(perft(game, game.initial(), 10), 24571284u - 228u);
}

TEST("othello begins with Black at d3, c4, f5 or e6, a1 being the top left") {
  const Othello game;
  const auto s = game.initial();
  CHECK_EQUAL(game.position_text(s),
              "......../......../......../...OX.../...XO.../......../......../........ X");
  std::string texts;
  ActionList actions;
  game.expand(s, actions);
  for (const Action action : actions) texts += game.action_text(s, action) + " ";
  CHECK_EQUAL(texts, "d3 c4 f5 e6 ");
}

TEST("othello 6x6 begins with White at c3 and d4 and observes 36 cells") {
  const Othello game({.size = 6});
  CHECK_EQUAL(game.name(), "othello?size=6");
  CHECK_EQUAL(game.position_text(game.initial()), "....../....../..OX../..XO../....../...... X");
  CHECK_EQUAL(game.layout().cells(), 36);
  CHECK_EQUAL(testing::thrown([] { Othello({.size = 7}); }), "othello: size 7 is neither 6 nor 8");
}

TEST("othello's incremental hash and its transforms agree with the position built afresh") {
  for (const int size : {6, 8}) {
    const Othello game({.size = size});
    Random random(7);
    ActionList actions;
    for (int round = 0; round < 40; ++round) {
      auto s = game.initial();
      while (game.expand(s, actions) == Outcome::kOngoing) {
        const Action action = actions[random.below(actions.size())];
        auto next = s;
        game.play(next, action);
        for (int k = 0; k < game.num_symmetries(s); ++k) {
          auto turned = game.transform(s, k);
          game.play(turned, game.transform_action(action, k));
          CHECK(turned == game.transform(next, k));
          CHECK_EQUAL(turned.hash, game.transform(next, k).hash);
        }
        s = next;
        const auto parsed = game.parse_position(game.position_text(s));
        CHECK(parsed == s);
        CHECK_EQUAL(parsed.hash, s.hash);
      }
    }
  }
}

TEST("othello passes by one action and ends when neither can move") {
  const Othello game;
  ActionList actions;
  auto s = game.parse_position(
      "OX....../......../......../......../......../......../......../........ X");
  CHECK(game.expand(s, actions) == Outcome::kOngoing);
  CHECK_EQUAL(actions.size(), 1u);
  CHECK_EQUAL(game.action_text(s, actions[0]), "pass");
  game.play(s, game.pass());
  CHECK(game.player(s) == Player::kSecond);
  game.play(s, game.parse_action(s, "c1"));
  CHECK(game.outcome(s) == Outcome::kSecondWins);
  CHECK_EQUAL(game.disc_difference(s), -3);
  CHECK_EQUAL(game.final_score(s), -64);
}

TEST("othello solves a 14-move endgame to the known score") {
  const Othello game;
  // The first position of the FFO endgame suite: G8 is best and wins by 18 discs.
  auto s =
      game.parse_position("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X");
  game.play(s, game.parse_action(s, "G8"));
  CHECK_EQUAL(-solve(game, s, -19, -17), 18);
}

TEST("othello text names what is wrong") {
  const Othello game;
  const auto s = game.initial();
  const auto action = [&](const char* text) {
    return testing::thrown([&] { (void)game.parse_action(s, text); });
  };
  CHECK_EQUAL(action("i1"), "'i1' is not a cell from a1 to h8");
  CHECK_EQUAL(action("d4"), "cell 'd4' is occupied");
  CHECK_EQUAL(action("a1"), "'a1' is not legal: it turns no disc");
  CHECK_EQUAL(action("pass"), "'pass' is not legal: X has a move");
  CHECK_EQUAL(testing::thrown([&] { (void)game.parse_position("......../........ X"); }),
              "position '......../........': expected 8 rows of 8 cells");
  CHECK_EQUAL(testing::thrown([&] { (void)game.parse_position(std::string(64, '-')); }),
              "position '" + std::string(64, '-') +
                  "': the board must be followed by a blank and X or O, who is to move");
}
