// What belongs to one board or one search as a whole: the tree with its budget, counters, stop
// flag.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "games/game.hpp"
#include "search/root.hpp"
#include "search/settle.hpp"
#include "search/tree.hpp"

namespace zermelo {

struct SearchCounters {
  std::int64_t simulations = 0;
  std::int64_t evaluations = 0;  // positions that the evaluator saw
  std::int64_t batches = 0;
  std::int64_t cache_hits = 0;
  std::int64_t collisions = 0;
  std::int64_t depth_sum = 0;
  int max_depth = 0;
  std::int64_t saved = 0;  // P9: simulations of a budget that were not needed

  void add(const SearchCounters& o) {
    simulations += o.simulations;
    evaluations += o.evaluations;
    batches += o.batches;
    cache_hits += o.cache_hits;
    collisions += o.collisions;
    depth_sum += o.depth_sum;
    max_depth = std::max(max_depth, o.max_depth);
    saved += o.saved;
  }
  // What was counted after `before`; the depth is that of all.
  SearchCounters since(const SearchCounters& before) const {
    return {simulations - before.simulations,
            evaluations - before.evaluations,
            batches - before.batches,
            cache_hits - before.cache_hits,
            collisions - before.collisions,
            depth_sum - before.depth_sum,
            max_depth,
            saved - before.saved};
  }
};

// What one searching thread has counted so far, for others to read while it searches.
struct alignas(64) LiveCounters {
  std::atomic<std::int64_t> simulations{0};
  std::atomic<std::int64_t> evaluations{0};
  std::atomic<std::int64_t> batches{0};
  std::atomic<std::int64_t> cache_hits{0};
  std::atomic<std::int64_t> collisions{0};
  std::atomic<std::int64_t> depth_sum{0};
  std::atomic<int> max_depth{0};
  std::atomic<std::int64_t> saved{0};

  void publish(const SearchCounters& c) {
    simulations.store(c.simulations, std::memory_order_relaxed);
    evaluations.store(c.evaluations, std::memory_order_relaxed);
    batches.store(c.batches, std::memory_order_relaxed);
    cache_hits.store(c.cache_hits, std::memory_order_relaxed);
    collisions.store(c.collisions, std::memory_order_relaxed);
    depth_sum.store(c.depth_sum, std::memory_order_relaxed);
    max_depth.store(c.max_depth, std::memory_order_relaxed);
    saved.store(c.saved, std::memory_order_relaxed);
  }
  SearchCounters read() const {
    return {simulations.load(), evaluations.load(), batches.load(),   cache_hits.load(),
            collisions.load(),  depth_sum.load(),   max_depth.load(), saved.load()};
  }
};

// One board's tree. The position belongs to the root.
template <Game G>
struct Tree {
  typename G::State state;
  BlockIndex root = 0;
  Player judge{};  // whose score of draws the values hold
  RootTable table;
  std::atomic<std::int64_t> budget{0};  // simulations not begun yet
  Settling settling;                    // P9
};

// Whether there is a simulation left to begin; takes it.
template <bool Shared, Game G>
bool take_ticket(Tree<G>& tree) {
  if constexpr (Shared) {
    if (tree.budget.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
    tree.budget.fetch_add(1, std::memory_order_relaxed);
    return false;
  } else {
    const std::int64_t left = tree.budget.load(std::memory_order_relaxed);
    tree.budget.store(left - (left > 0), std::memory_order_relaxed);
    return left > 0;
  }
}

// S22: how many leaves of a tree may wait at once. A small one has few that are worth looking at
// before the others are known.
inline std::int64_t leaves_at(const Node& root, std::int64_t most, const SearchOptions& options) {
  if (options.leaves_share == 0) return most;
  const auto visits = static_cast<double>(root.visits.load(std::memory_order_relaxed));
  const auto share = static_cast<std::int64_t>(visits * options.leaves_share);
  return std::clamp<std::int64_t>(share, 1, most);
}

// P9: whether the tree's search is over since its visits no longer shift; takes what is left of its
// budget away. A budget of 2^60 or more has no end, so nothing of it counts as saved.
template <bool Shared, Game G>
bool settled(Tree<G>& tree, const NodePool& pool, const SearchOptions& options,
             SearchCounters& counters) {
  if (tree.settling.settled()) return true;
  if (!tree.settling.template over<Shared>(pool, *pool.node(tree.root), options)) return false;
  const std::int64_t left = tree.budget.exchange(0, std::memory_order_relaxed);
  if (left < std::int64_t{1} << 60) counters.saved += std::max<std::int64_t>(left, 0);
  return true;
}

// Why a search ended before its budget was used up. Set once; read by all threads.
enum class Stop : int { kNo, kAsked, kTime, kNodes, kSettled };

struct StopFlag {
  std::atomic<int> reason{static_cast<int>(Stop::kNo)};
  bool set() const { return reason.load(std::memory_order_relaxed) != static_cast<int>(Stop::kNo); }
  void ask(Stop why) {
    int none = static_cast<int>(Stop::kNo);
    reason.compare_exchange_strong(none, static_cast<int>(why));
  }
};

}  // namespace zermelo
