// Positions and moves in damaged text, for every game: a position or Refused, under ASan too.
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/refused.hpp"
#include "games/checkers.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "games/hex.hpp"
#include "games/othello.hpp"
#include "games/tictactoe.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::string damaged(std::string text, Random& random) {
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    const std::size_t place = random.below(text.size() + 1);
    switch (random.below(4)) {
      case 0:
        text.insert(place, 1, static_cast<char>(random.below(256)));
        break;
      case 1:
        text.erase(place, random.below(6));
        break;
      case 2:
        text.insert(place, text.substr(0, random.below(text.size() + 1)));
        break;
      default:
        if (place < text.size()) text[place] = "0123456789/ -XOwbkKQPx.?"[random.below(24)];
    }
    if (text.size() > 500) text.resize(500);
  }
  return text;
}

// Every position that is accepted can be written, read again and played on.
template <Game G>
void try_texts(const G& game, int rounds) {
  Random random(3);
  int refused = 0;
  auto state = game.initial();
  ActionList legal;
  for (int round = 0; round < rounds; ++round) {
    legal.clear();
    if (game.expand(state, legal) != Outcome::kOngoing) {
      state = game.initial();
      continue;
    }
    try {
      const auto found = game.parse_position(damaged(game.position_text(state), random));
      const std::string text = game.position_text(found);
      CHECK_EQUAL(game.position_text(game.parse_position(text)), text);
      ActionList there;
      if (game.expand(found, there) == Outcome::kOngoing) {
        auto next = found;
        game.play(next, there[random.below(there.size())]);
      }
    } catch (const Refused&) {
      ++refused;
    }
    try {
      const Action action = legal[random.below(legal.size())];
      game.parse_action(state, damaged(game.action_text(state, action), random));
    } catch (const Refused&) {
      ++refused;
    }
    game.play(state, legal[random.below(legal.size())]);
  }
  CHECK(refused > rounds / 4);
}

}  // namespace

TEST("damaged texts of positions and moves are refused or can be played on") {
  constexpr int kRounds = 4000;
  try_texts(TicTacToe(), kRounds);
  try_texts(Connect4(), kRounds);
  try_texts(Othello(OthelloOptions{.size = 6}), kRounds);
  try_texts(Hex(HexOptions{.size = 5, .swap = true}), kRounds);
  try_texts(Checkers(), kRounds);
  try_texts(Chess(), kRounds);
}
