// Searches in several threads that share batches (gather.hpp).
#include "search/gather.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "games/connect4.hpp"
#include "search/search.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

// A hash as the network; remembers the largest batch and fails from some call on.
class Counting final : public Evaluator<Connect4> {
 public:
  explicit Counting(int fails_from = 1 << 30) : fails_from_(fails_from) {}
  void evaluate(std::span<Position<Connect4>> batch) override {
    if (++calls >= fails_from_) throw std::runtime_error("the network is away");
    std::size_t seen = largest;
    while (seen < batch.size() && !largest.compare_exchange_weak(seen, batch.size())) {
    }
    hash_.evaluate(batch);
  }
  std::atomic<std::size_t> largest{0};
  std::atomic<int> calls{0};

 private:
  int fails_from_;
  HashEvaluator<Connect4> hash_{5};
};

SearchResult searched(std::shared_ptr<Evaluator<Connect4>> evaluator, int column) {
  const Connect4 game;
  Search<Connect4> search(game, {}, std::move(evaluator), nullptr);
  auto state = game.initial();
  game.play(state, static_cast<Action>(column));
  return search.run(state, {300 + 40 * column, 0}, false, {}, {});
}

std::vector<std::uint32_t> visits(const SearchResult& result) {
  std::vector<std::uint32_t> found;
  for (const auto& row : result.actions) found.push_back(row.visits);
  return found;
}

}  // namespace

TEST("searches in threads that share batches find what each finds alone") {
  auto counting = std::make_shared<Counting>();
  auto gathering = std::make_shared<GatheringEvaluator<Connect4>>(counting, 4);
  std::vector<SearchResult> results(7);
  gathering->enter();  // one that never asks: until it leaves, nobody is served alone
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 7; ++i) {
      threads.emplace_back(
          [&, i] { results[static_cast<std::size_t>(i)] = searched(gathering, i); });
    }
    while (counting->calls == 0) std::this_thread::yield();
    gathering->leave();
  }
  CHECK_EQUAL(counting->largest.load(), std::size_t{4});
  for (int i = 0; i < 7; ++i) {
    const auto alone = searched(std::make_shared<HashEvaluator<Connect4>>(5), i);
    CHECK(visits(results[static_cast<std::size_t>(i)]) == visits(alone));
  }
}

TEST("an error reaches all threads that share the batch, and nobody waits for ever") {
  auto gathering =
      std::make_shared<GatheringEvaluator<Connect4>>(std::make_shared<Counting>(50), 3);
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&, i] {
        const std::string error = testing::thrown([&] { searched(gathering, i); });
        failed += error.find("the network is away") != std::string::npos;
      });
    }
  }
  CHECK_EQUAL(failed.load(), 5);
}
