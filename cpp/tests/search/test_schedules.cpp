// Many orders of the same four threads: who waits where is drawn anew each time, so that meetings
// come up which a machine with few cores hardly ever shows. "threads" in the sentence: under TSan
// too. ZERMELO_SCHEDULES says how many.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "base/random.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "search/search.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

// Lets others go first, now and then for long, before and after it answers.
template <Game G>
class Dawdling final : public Evaluator<G> {
 public:
  explicit Dawdling(std::uint64_t schedule) : schedule_(schedule) {}

  void evaluate(std::span<Position<G>> batch) override {
    dawdle();
    hash_.evaluate(batch);
    dawdle();
  }

 private:
  void dawdle() {
    const std::uint64_t drawn = mix64(schedule_ ^ mix64(calls_.fetch_add(1)));
    if (drawn % 3 == 0) std::this_thread::yield();
    if (drawn % 29 == 0) std::this_thread::sleep_for(std::chrono::microseconds(drawn >> 32 & 255));
  }

  std::uint64_t schedule_;
  std::atomic<std::uint64_t> calls_{0};
  HashEvaluator<G> hash_{1};
};

// A search that is stopped in the middle, gone on with, advanced and forgotten.
template <Game G>
void try_schedule(const G& game, std::uint64_t schedule) {
  Random random(schedule);
  SearchOptions options;
  options.threads = 4;
  options.leaves_per_tree = 1 + static_cast<std::int64_t>(random.below(3));
  options.cache_mib = 1;
  auto cache = std::make_shared<EvaluationCache>(1, game.num_actions());
  Search<G> search(game, options, std::make_shared<Dawdling<G>>(schedule), cache);
  auto state = game.initial();
  {
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(2000)));
      search.stop();
    });
    search.run(state, {300, 0}, false, {}, {});
  }
  CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
  const SearchResult result = search.run(state, {100, 0}, false, {}, {});
  CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
  std::uint32_t below = 0;
  for (const ActionResult& action : result.actions) below += action.visits;
  if (!result.certain) CHECK_EQUAL(below + 1, result.visits);
  const Action action = result.actions[result.best].action;
  search.advance(action);
  game.play(state, action);
  search.run(state, {50, 0}, false, {}, {});
  search.clear();
  CHECK_EQUAL(testing::thrown([&] { search.check_invariants(); }), std::string());
}

}  // namespace

TEST("hundreds of schedules of four threads leave whole books") {
  const char* given = std::getenv("ZERMELO_SCHEDULES");
  const int schedules = given ? std::atoi(given) : 100;
  for (int schedule = 0; schedule < schedules; ++schedule) {
    try_schedule(Connect4(), static_cast<std::uint64_t>(schedule));
    try_schedule(Chess(), static_cast<std::uint64_t>(schedule));
  }
}
