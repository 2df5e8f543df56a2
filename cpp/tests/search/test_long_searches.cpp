// Long searches of every game, for the sanitizers. ZERMELO_SIMULATIONS says how long.
#include <cstdlib>
#include <memory>
#include <string>

#include "games/checkers.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "games/hex.hpp"
#include "games/othello.hpp"
#include "games/tictactoe.hpp"
#include "search/search.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

template <Game G>
void search_long(const G& game) {
  const char* given = std::getenv("ZERMELO_SIMULATIONS");
  const std::int64_t simulations = given ? std::atoll(given) : 3000;
  SearchOptions options;
  options.solver = false;  // small games are proven before
  options.threads = 2;
  auto cache = std::make_shared<EvaluationCache>(4, game.num_actions());
  Search<G> search(game, options, std::make_shared<HashEvaluator<G>>(1), cache);
  const SearchResult result = search.run(game.initial(), {simulations, 0}, true, {}, {});
  CHECK_EQUAL(result.visits, simulations + 1);
  CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
}

}  // namespace

TEST("long searches of every game keep their books") {
  search_long(TicTacToe());
  search_long(Connect4());
  search_long(Othello(OthelloOptions{.size = 6}));
  search_long(Hex(HexOptions{.size = 5, .swap = true}));
  search_long(Checkers());
  search_long(Chess());
}
