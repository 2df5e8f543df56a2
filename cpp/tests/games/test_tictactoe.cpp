#include "games/perft.hpp"
#include "games/tictactoe.hpp"
#include "tests/check.hpp"

using namespace zermelo;

TEST("tic-tac-toe has 255,168 games by the known counts per length") {
  const TicTacToe game;
  // Paths of length n, finished games not continued.
  CHECK_EQUAL(perft(game, game.initial(), 5), 15120u);
  CHECK_EQUAL(perft(game, game.initial(), 6), 54720u);
  CHECK_EQUAL(perft(game, game.initial(), 9), 127872u);
}

TEST("tic-tac-toe text names what is wrong") {
  const TicTacToe game;
  CHECK_EQUAL(testing::thrown([&] { (void)game.parse_position("XXX/OO./...O"); }).empty(), false);
  CHECK_EQUAL(testing::thrown([&] { (void)game.parse_action(game.initial(), "d1"); }),
              std::string("'d1' is not a cell from a1 to c3"));
}
