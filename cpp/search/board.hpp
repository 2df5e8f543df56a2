// What belongs to one board or one search as a whole: the tree with its budget, counters, stop
// flag.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "games/game.hpp"
#include "search/root.hpp"
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

  void add(const SearchCounters& o) {
    simulations += o.simulations;
    evaluations += o.evaluations;
    batches += o.batches;
    cache_hits += o.cache_hits;
    collisions += o.collisions;
    depth_sum += o.depth_sum;
    max_depth = std::max(max_depth, o.max_depth);
  }
};

// One board's tree. The position belongs to the root.
template <Game G>
struct Tree {
  typename G::State state;
  BlockIndex root = 0;
  RootTable table;
  std::atomic<std::int64_t> budget{0};  // simulations not begun yet
};

// Why a search ended before its budget was used up. Set once; read by all threads.
enum class Stop : int { kNo, kAsked, kTime, kNodes };

struct StopFlag {
  std::atomic<int> reason{static_cast<int>(Stop::kNo)};
  bool set() const { return reason.load(std::memory_order_relaxed) != static_cast<int>(Stop::kNo); }
  void ask(Stop why) {
    int none = static_cast<int>(Stop::kNo);
    reason.compare_exchange_strong(none, static_cast<int>(why));
  }
};

}  // namespace zermelo
