// One board, many threads (S19). Every sentence has the word "threads", so that `core_tests
// threads` runs just these under ThreadSanitizer.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "games/othello.hpp"
#include "games/tictactoe.hpp"
#include "search/search.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

// A hash as the network that fails now and then, on whichever thread asks.
template <Game G>
class FailingEvaluator final : public Evaluator<G> {
 public:
  void evaluate(std::span<Position<G>> batch) override {
    if (mix64(calls_.fetch_add(1)) % 97 == 0) throw std::runtime_error("the network is away");
    hash_.evaluate(batch);
  }

 private:
  std::atomic<std::uint64_t> calls_{0};
  HashEvaluator<G> hash_{1};
};

SearchOptions options_for(int threads, Random& random) {
  SearchOptions options;
  options.threads = threads;
  options.leaves_per_tree = 1 + static_cast<std::int64_t>(random.below(4));
  options.batch = 8;
  options.solver = random.below(4) != 0;
  options.auto_extend = random.below(2) != 0;
  options.virtual_loss_kind = static_cast<std::int64_t>(random.below(2));
  options.max_collisions = 1 + static_cast<std::int64_t>(random.below(3));
  options.averaging_power = random.below(4) == 0 ? 0.7 : 1.0;
  options.spread_weight = random.below(2) != 0 ? 0.85 : 0.0;
  options.lcb_z = random.below(2) != 0 ? 1.5 : 0.0;
  options.backup = static_cast<std::int64_t>(random.below(2));
  options.draw_score = random.below(2) != 0 ? -0.3 : 0.0;
  return options;
}

template <Game G>
typename G::State random_position(const G& game, Random& random) {
  auto state = game.initial();
  ActionList actions;
  for (std::uint64_t left = random.below(20); left > 0; --left) {
    actions.clear();
    if (game.expand(state, actions) != Outcome::kOngoing) return game.initial();
    game.play(state, actions[random.below(actions.size())]);
  }
  return game.outcome(state) == Outcome::kOngoing ? state : game.initial();
}

template <Game G>
void search_with_threads(const G& game, std::uint64_t seed) {
  Random random(seed);
  for (const int threads : {2, 3, 4}) {
    const SearchOptions options = options_for(threads, random);
    auto cache = std::make_shared<EvaluationCache>(1, game.num_actions());
    Search<G> search(game, options, std::make_shared<HashEvaluator<G>>(seed), cache);
    const auto state = random_position(game, random);
    const SearchResult result = search.run(state, {400, 0}, threads == 3, {}, {});
    CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
    if (!result.certain) CHECK_EQUAL(result.visits, 401u);
  }
}

// Plays on, begins anew, forgets and stops, in any order; the books are checked after each.
template <Game G>
void storm(const G& game, std::shared_ptr<Evaluator<G>> evaluator, std::uint64_t seed,
           double seconds) {
  Random random(seed);
  SearchOptions options = options_for(4, random);
  options.max_nodes = 1'000'000;
  auto cache = std::make_shared<EvaluationCache>(1, game.num_actions());
  Search<G> search(game, options, evaluator, cache);
  auto state = game.initial();
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> over{false};
  std::jthread stopper([&] {
    Random pauses(seed + 1);
    while (!over) {
      std::this_thread::sleep_for(std::chrono::microseconds(pauses.below(4000)));
      search.stop();
    }
  });
  int errors = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
         seconds) {
    if (game.outcome(state) != Outcome::kOngoing || random.below(20) == 0) {
      state = random_position(game, random);
    }
    if (random.below(10) == 0) search.clear();
    std::size_t best = 0;
    std::vector<Action> known;
    try {
      const auto budget = static_cast<std::int64_t>(random.below(600));
      const SearchResult result = search.run(state, {budget, 0}, random.below(2) == 0, {}, [] {});
      best = result.best;
      for (const auto& a : result.actions) known.push_back(a.action);
      CHECK(result.stop != Stop::kNodes);
    } catch (const std::runtime_error& error) {
      ++errors;
      CHECK_EQUAL(std::string(error.what()), std::string("the network is away"));
    }
    CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
    if (!known.empty() && random.below(3) != 0) {
      game.play(state, known[best]);
      search.advance(known[best]);
      CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
    }
  }
  over = true;
  search.clear();
  CHECK_EQUAL(search.nodes_in_use(), 0);
  CHECK_EQUAL(search.bytes_in_use(), 0);
  if (dynamic_cast<FailingEvaluator<G>*>(evaluator.get())) CHECK(errors > 0);
}

}  // namespace

TEST("2 to 4 threads search a board of any game and leave its tree in order") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    search_with_threads(TicTacToe(), seed);
    search_with_threads(Connect4(), seed);
    search_with_threads(Othello(), seed);
    search_with_threads(Chess(), seed);
  }
}

TEST("threads survive a storm of run, stop, advance and clear") {
  storm<Connect4>(Connect4(), std::make_shared<HashEvaluator<Connect4>>(3), 3, 1.0);
  storm<Chess>(Chess(), std::make_shared<HashEvaluator<Chess>>(4), 4, 1.0);
}

TEST("threads survive an evaluator that throws at random") {
  storm<Connect4>(Connect4(), std::make_shared<FailingEvaluator<Connect4>>(), 5, 1.0);
  storm<Othello>(Othello(), std::make_shared<FailingEvaluator<Othello>>(), 6, 1.0);
}

TEST("threads may be watched by the poll while they search") {
  const Connect4 game;
  SearchOptions options;
  options.threads = 4;
  Search<Connect4> search(game, options, std::make_shared<HashEvaluator<Connect4>>(), nullptr);
  int polls = 0;
  const SearchResult end = search.run(game.initial(), {std::int64_t{1} << 40, 0.3}, false, {}, [&] {
    ++polls;
    const auto result = search.result();
    CHECK(result && result->actions.size() == 7);
  });
  CHECK(polls > 0);
  CHECK(end.stop == Stop::kTime);
  CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
}

TEST("threads share out many boards and share the cache") {
  const Othello game;
  Random random(9);
  SearchOptions options;
  options.threads = 3;
  options.leaves_per_tree = 2;
  options.batch = 16;
  std::vector<Othello::State> states;
  for (int i = 0; i < 17; ++i) states.push_back(random_position(game, random));
  auto cache = std::make_shared<EvaluationCache>(1, game.num_actions());
  Search<Othello> search(game, options, std::make_shared<HashEvaluator<Othello>>(), cache);
  const auto results = search.run_many(states, {100, 0}, true, {});
  CHECK_EQUAL(results.size(), states.size());
  for (const SearchResult& r : results) CHECK(r.certain || r.visits == 101);
}
