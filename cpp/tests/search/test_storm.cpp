// Starts, stops and new games from many sides at once. "threads" in the sentence: under TSan too.
// ZERMELO_STORM_SECONDS makes it last.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "search/search.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::chrono::duration<double> storm_length() {
  const char* given = std::getenv("ZERMELO_STORM_SECONDS");
  return std::chrono::duration<double>(given ? std::atof(given) : 0.5);
}

// Each of four threads plays with a search of its own, which has two threads; all share the cache
// and the evaluator. Another thread stops whoever searches, at any moment.
template <Game G>
void storm(const G& game) {
  const auto until = std::chrono::steady_clock::now() + storm_length();
  auto evaluator = std::make_shared<HashEvaluator<G>>(1);
  auto cache = std::make_shared<EvaluationCache>(1, game.num_actions());
  SearchOptions options;
  options.threads = 2;
  options.cache_mib = 1;
  std::vector<std::unique_ptr<Search<G>>> searches;
  for (int i = 0; i < 4; ++i) {
    searches.push_back(std::make_unique<Search<G>>(game, options, evaluator, cache));
  }
  std::atomic<int> playing{4};
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        Random random(static_cast<std::uint64_t>(i));
        Search<G>& search = *searches[static_cast<std::size_t>(i)];
        auto state = game.initial();
        while (std::chrono::steady_clock::now() < until) {
          const SearchResult result = search.run(state, {300, 0}, false, {}, {});
          ActionList legal;
          if (game.expand(state, legal) != Outcome::kOngoing || legal.size() == 0) ++wrong;
          if (result.visits < 1) ++wrong;
          const Action action = legal[random.below(legal.size())];
          game.play(state, action);
          if (random.below(4) != 0) search.advance(action);
          if (random.below(8) == 0 || game.outcome(state) != Outcome::kOngoing) {
            state = game.initial();  // a new game
          }
        }
        --playing;
      });
    }
    threads.emplace_back([&] {
      Random random(9);
      while (playing.load() > 0) {
        searches[random.below(4)]->stop();
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
      }
    });
  }
  CHECK_EQUAL(wrong.load(), 0);
}

}  // namespace

TEST("a storm of starts, stops and new games in threads does no harm") {
  storm(Connect4());
  storm(Chess());
}
