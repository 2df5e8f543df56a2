// The evaluation cache (S14).
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "games/connect4.hpp"
#include "games/tictactoe.hpp"
#include "search/cache.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::vector<std::uint16_t> priors_of(std::uint64_t key, std::size_t size) {
  std::vector<std::uint16_t> priors(size);
  for (std::size_t i = 0; i < size; ++i) priors[i] = static_cast<std::uint16_t>(mix64(key + i));
  return priors;
}

float value_of(std::uint64_t key) { return static_cast<float>(mix64(key) >> 40) * 0x1p-24f; }

}  // namespace

TEST("the cache gives back what was put in and nothing else") {
  EvaluationCache cache(1, 40);
  std::vector<std::uint16_t> priors(7);
  CachedEvaluation found;
  CHECK(!cache.find(5, priors, found));
  cache.insert(5, priors_of(5, 7), {0.25f, 0.5f});
  CHECK(cache.find(5, priors, found));
  CHECK(priors == priors_of(5, 7));
  CHECK_EQUAL(found.value, 0.25f);
  CHECK_EQUAL(found.draw, 0.5f);
  std::vector<std::uint16_t> others(6);
  CHECK(!cache.find(5, others, found));  // another number of actions: another position
  CHECK(!cache.find(6, priors, found));
  CHECK_EQUAL(cache.hits(), 1u);
  CHECK_EQUAL(cache.misses(), 3u);
  cache.clear();
  CHECK(!cache.find(5, priors, found));
}

TEST("a full cache forgets old entries and never answers wrongly") {
  EvaluationCache cache(1, 10);
  const std::uint64_t many = 4 * cache.capacity();
  for (std::uint64_t i = 0; i < many; ++i) {
    cache.insert(mix64(i), priors_of(mix64(i), 10), {value_of(mix64(i)), 0});
  }
  CHECK(cache.permille_full() > 950);
  std::uint64_t kept = 0;
  std::vector<std::uint16_t> priors(10);
  CachedEvaluation found;
  for (std::uint64_t i = 0; i < many; ++i) {
    if (!cache.find(mix64(i), priors, found)) continue;
    ++kept;
    CHECK(priors == priors_of(mix64(i), 10));
    CHECK_EQUAL(found.value, value_of(mix64(i)));
  }
  CHECK(kept <= cache.capacity());
  CHECK(kept > cache.capacity() / 2);
  // The newest are there.
  CHECK(cache.find(mix64(many - 1), priors, found));
}

TEST("an entry that is asked for outlives those that are not") {
  EvaluationCache cache(1, 10);
  const std::uint64_t wanted = mix64(12345);
  std::vector<std::uint16_t> priors(10);
  CachedEvaluation found;
  cache.insert(wanted, priors_of(wanted, 10), {0.5f, 0});
  for (std::uint64_t i = 0; i < 8 * cache.capacity(); ++i) {
    cache.insert(mix64(i + 1'000'000), priors_of(i, 10), {0, 0});
    cache.find(wanted, priors, found);
  }
  CHECK(cache.find(wanted, priors, found));
}

TEST("the cache stays within its memory") {
  for (const std::size_t mib : {1, 3}) {
    for (const std::size_t actions : {7, 64, 1858}) {
      const EvaluationCache cache(mib, actions);
      const std::size_t most = std::min<std::size_t>(actions, 64);
      CHECK(cache.capacity() * (20 + 2 * most) <= mib << 20);
      CHECK(cache.capacity() * (32 + 2 * most) * 2 > mib << 20);
    }
  }
  EvaluationCache tiny(0, 7);  // one bucket
  CHECK(tiny.capacity() >= 1);
}

TEST("positions with too many actions are not kept and harm nothing") {
  EvaluationCache cache(1, 1858);
  cache.insert(9, priors_of(9, 218), {0.5f, 0});
  std::vector<std::uint16_t> priors(218);
  CachedEvaluation found;
  CHECK(!cache.find(9, priors, found));
}

TEST("mirror images share a key and find their own order of priors") {
  const TicTacToe game;
  SearchOptions without_symmetry;
  without_symmetry.cache_symmetry = false;
  EvaluationCache cache(1, 9);
  const auto state = game.parse_position("XO./.../...");
  ActionList actions;
  game.expand(state, actions);
  CacheKey<TicTacToe> key;
  key.make(game, state, actions.span(), SearchOptions{});
  std::vector<std::uint16_t> by_action(9);
  std::vector<std::uint16_t> priors;
  for (const Action a : actions)
    priors.push_back(by_action[a] = static_cast<std::uint16_t>(100 + a));
  key.insert(cache, priors, {0.125f, 0});
  for (int k = 0; k < 8; ++k) {
    const auto image = game.transform(state, k);
    ActionList moved;
    game.expand(image, moved);
    CacheKey<TicTacToe> other;
    other.make(game, image, moved.span(), SearchOptions{});
    CHECK_EQUAL(other.key(), key.key());
    std::vector<std::uint16_t> read(moved.size());
    CachedEvaluation found;
    CHECK(other.find(cache, read, found));
    for (std::size_t i = 0; i < moved.size(); ++i) {
      for (const Action a : actions) {
        if (game.transform_action(a, k) == moved[i]) CHECK_EQUAL(read[i], by_action[a]);
      }
    }
    CacheKey<TicTacToe> plain;
    plain.make(game, image, moved.span(), without_symmetry);
    CacheKey<TicTacToe> original;
    original.make(game, state, actions.span(), without_symmetry);
    CHECK_EQUAL(plain.key() == original.key(), k == 0);
  }
}
