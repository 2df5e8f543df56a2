// A search as a program uses it: run on one board (kept from move to move) or on many at once.
#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/refused.hpp"
#include "search/export.hpp"
#include "search/invariants.hpp"
#include "search/prepare.hpp"
#include "search/result.hpp"
#include "search/reuse.hpp"
#include "search/worker.hpp"

namespace zermelo {

struct SearchLimits {
  std::int64_t simulations = 0;  // beginnings of new ones
  double seconds = 0;            // 0: no limit
};

template <Game G>
class Search {
 public:
  using State = typename G::State;
  using Poll = std::function<void()>;

  // `cache` may be shared between searches of the same game and evaluator, or null.
  Search(G game, SearchOptions options, std::shared_ptr<Evaluator<G>> evaluator,
         std::shared_ptr<EvaluationCache> cache)
      : game_(std::move(game)),
        options_(options),
        evaluator_(std::move(evaluator)),
        cache_(std::move(cache)),
        random_(static_cast<std::uint64_t>(options.seed)) {
    add_allocators(static_cast<std::size_t>(options_.threads));
  }

  const G& game() const { return game_; }
  const SearchOptions& options() const { return options_; }
  void set_evaluator(std::shared_ptr<Evaluator<G>> evaluator) { evaluator_ = std::move(evaluator); }
  // May be called from any thread while a search runs.
  void stop() { stop_.ask(Stop::kAsked); }

  // Searches `state`; a tree that already stands there is continued. `allowed` restricts the root's
  // actions (empty: all). `poll` is called now and then by the calling thread.
  SearchResult run(const State& state, const SearchLimits& limits, bool full,
                   std::span<const Action> allowed, const Poll& poll) {
    require_ongoing(state);
    stop_.reason.store(static_cast<int>(Stop::kNo));
    const auto start = started_ = std::chrono::steady_clock::now();
    for (LiveCounters& live : live_) live.publish({});
    const bool reused = options_.tree_reuse && tree_ && same(tree_->state, state) &&
                        (options_.draw_score == 0 || tree_->judge == game_.player(state));
    if (!reused) reset(state);
    Tree<G>* tree = tree_.get();
    if (reused && full && options_.keep_fraction < 1.0) {
      discount_tree(allocators_[0], tree->root, options_.keep_fraction);
    }
    SearchCounters counters;
    if (options_.threads == 1) {
      counters = run_worker<false>(*tree, limits, full, allowed, reused, poll, start);
    } else {
      counters = run_threads(*tree, limits, full, allowed, reused, poll, start);
    }
    SearchResult result = read(*tree);
    result.counters = counters;
    result.seconds = elapsed(start);
    return result;
  }

  // The table of the search so far; only while none is running, or from its poll.
  std::optional<SearchResult> result() const {
    if (!tree_) return std::nullopt;
    return read(*tree_);
  }

  // S5: the action that was played on the board. Returns whether a subtree was kept.
  bool advance(Action action) {
    if (!tree_) return false;
    const Player before = game_.player(tree_->state);
    std::optional<std::size_t> index;
    const Node& root = *pool_->node(tree_->root);
    if (root.expanded()) {
      const EdgeBlock* edges = pool_->edges_of(root);
      for (std::size_t i = 0; i < edges->count; ++i) {
        if (edges->get(i).action == action) index = i;
      }
    }
    game_.play(tree_->state, action);
    const bool flips = game_.player(tree_->state) != before;
    tree_->root = advance_root(allocators_[0], tree_->root, index.value_or(~std::size_t{0}), flips);
    tree_->table.actions.clear();
    return pool_->node(tree_->root)->visits.load() > 0;
  }

  // Forgets the tree and begins the noise anew: what follows is what followed construction.
  void clear() {
    drop_tree();
    random_ = Random(static_cast<std::uint64_t>(options_.seed));
  }

  std::int64_t nodes_in_use() const {
    std::int64_t sum = 0;
    for (const auto& allocator : allocators_) sum += allocator.nodes_in_use();
    return sum;
  }
  std::int64_t bytes_in_use() const {
    std::int64_t sum = 0;
    for (const auto& allocator : allocators_) sum += allocator.bytes_in_use();
    return sum;
  }
  std::int64_t bytes_reserved() const {
    return static_cast<std::int64_t>(pool_->nodes.reserved_bytes() + pool_->edges.reserved_bytes());
  }

  // S18: fresh trees, one per state, shared out over the threads; each thread evaluates its own
  // batches. The results stand in the order of the states.
  std::vector<SearchResult> run_many(std::span<const State> states, const SearchLimits& limits,
                                     bool full, const Poll& poll) {
    for (const State& state : states) require_ongoing(state);
    stop_.reason.store(static_cast<int>(Stop::kNo));
    const auto start = std::chrono::steady_clock::now();
    const std::size_t threads =
        std::min<std::size_t>(static_cast<std::size_t>(options_.threads), states.size());
    std::vector<SearchResult> results(states.size());
    const auto share = [&](std::size_t thread, const Poll& mine) {
      const std::size_t begin = states.size() * thread / threads;
      const std::size_t end = states.size() * (thread + 1) / threads;
      search_boards(states.subspan(begin, end - begin),
                    std::span(results).subspan(begin, end - begin), limits, full, begin, mine,
                    start);
    };
    run_on_threads(threads, share, poll);
    return results;
  }

  // Every node down to `max_depth` with at least `min_visits` visits, parents first.
  std::vector<ExportedNode> export_tree(int max_depth, std::uint32_t min_visits) const {
    if (!tree_) return {};
    return zermelo::export_tree(*pool_, tree_->root, options_, max_depth, min_visits);
  }

  // The node that `path` leads to; nothing if the tree does not reach so far. From a poll too.
  std::optional<ExportedPlace> look(std::span<const Action> path) const {
    if (!tree_) return std::nullopt;
    const Node* node = pool_->node(tree_->root);
    State state = tree_->state;
    bool mover_is_chooser = true;
    for (const Action action : path) {
      if (!node->expanded()) return std::nullopt;
      const EdgeBlock* edges = pool_->edges_of(*node);
      const std::size_t made = node->num_children.load();
      ChildCursor cursor(*pool_, *node);
      std::size_t i = 0;
      while (i < made && edges->get(i).action != action) {
        cursor.next();
        ++i;
      }
      if (i == made) return std::nullopt;
      node = cursor.get();
      const Player chooser = game_.player(state);
      game_.play(state, action);
      mover_is_chooser = game_.player(state) == chooser;
    }
    const RootTable* table = path.empty() ? &tree_->table : nullptr;
    const bool own = game_.player(state) == game_.player(tree_->state);
    const Standpoint at{static_cast<int>(path.size()) + 1, game_.player(state), mover_is_chooser,
                        tree_->table.full, own ? options_.draw_score : -options_.draw_score};
    return export_place(*pool_, *node, table, options_, at);
  }

  // Property of every finished search, checked by tests: throws with what is broken.
  void check_invariants() const {
    if (tree_) check_tree<G>(*pool_, tree_->root, nodes_in_use());
  }

 private:
  void require_ongoing(const State& state) const {
    if (game_.outcome(state) != Outcome::kOngoing) {
      throw Refused("the game is over: there is nothing to search");
    }
  }
  // Equal, and with the same past where the game remembers one.
  bool same(const State& a, const State& b) const {
    if constexpr (requires { game_.state_bytes(a); }) {
      return a == b && game_.state_bytes(a) == game_.state_bytes(b);
    } else {
      return a == b;
    }
  }
  static double elapsed(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void add_allocators(std::size_t threads) {
    while (allocators_.size() < threads) {
      allocators_.emplace_back(*pool_, game_.num_actions());
      live_.emplace_back();
    }
  }

  void drop_tree() {
    if (!tree_) return;
    tree_.reset();
    pool_->reset();  // it holds nothing but the tree
    for (NodeAllocator& allocator : allocators_) allocator.reset();
  }
  void reset(const State& state) {
    drop_tree();
    tree_ = std::make_unique<Tree<G>>();
    tree_->state = state;
    tree_->judge = game_.player(state);
    tree_->root = allocators_[0].make_root();
  }

  Stop why(const Tree<G>& tree) const {
    const auto asked = static_cast<Stop>(stop_.reason.load());
    return asked == Stop::kNo && tree.settling.settled() ? Stop::kSettled : asked;
  }
  SearchResult read(const Tree<G>& tree) const {
    SearchResult result = read_result(*pool_, tree, options_);
    result.stop = why(tree);
    result.nodes = nodes_in_use();
    result.bytes = bytes_in_use();
    for (const LiveCounters& live : live_) result.counters.add(live.read());
    result.seconds = elapsed(started_);
    return result;
  }

  Poll with_clock(const Poll& poll, const SearchLimits& limits,
                  std::chrono::steady_clock::time_point start) {
    return [this, &poll, limits, start] {
      if (limits.seconds > 0 && elapsed(start) >= limits.seconds) stop_.ask(Stop::kTime);
      if (poll) poll();
    };
  }

  template <bool Shared>
  SearchCounters run_worker(Tree<G>& tree, const SearchLimits& limits, bool full,
                            std::span<const Action> allowed, bool reused, const Poll& poll,
                            std::chrono::steady_clock::time_point start) {
    const Searching<G> searching(*evaluator_);
    Worker<G, Shared> worker(game_, options_, *evaluator_, cache_.get(), allocators_[0], stop_,
                             &live_[0]);
    Tree<G>* trees[] = {&tree};
    worker.expand_roots(trees);
    prepare_root(allocators_[0], tree, options_, {limits.simulations, full, reused, allowed},
                 random_);
    worker.run(trees, options_.leaves_per_tree, with_clock(poll, limits, start));
    return worker.counters;
  }

  // S19. The first worker runs on the calling thread and polls.
  SearchCounters run_threads(Tree<G>& tree, const SearchLimits& limits, bool full,
                             std::span<const Action> allowed, bool reused, const Poll& poll,
                             std::chrono::steady_clock::time_point start) {
    Tree<G>* trees[] = {&tree};
    std::vector<std::unique_ptr<Worker<G, true>>> workers;
    for (std::size_t i = 0; i < allocators_.size(); ++i) {
      workers.push_back(std::make_unique<Worker<G, true>>(
          game_, options_, *evaluator_, cache_.get(), allocators_[i], stop_, &live_[i]));
    }
    {
      const Searching<G> searching(*evaluator_);
      workers[0]->expand_roots(trees);
    }
    prepare_root(allocators_[0], tree, options_, {limits.simulations, full, reused, allowed},
                 random_);
    const auto share = [&](std::size_t thread, const Poll& mine) {
      const Searching<G> searching(*evaluator_);
      workers[thread]->run(trees, options_.leaves_per_tree,
                           mine ? with_clock(mine, limits, start) : mine);
    };
    const Poll always = poll ? poll : Poll([] {});
    run_on_threads(workers.size(), share, always);
    SearchCounters counters;
    for (const auto& worker : workers) counters.add(worker->counters);
    return counters;
  }

  // Runs share(0) here and the others on threads; an error of any ends all and is thrown here.
  template <class Share>
  void run_on_threads(std::size_t threads, const Share& share, const Poll& poll) {
    std::vector<std::exception_ptr> errors(threads);
    const auto guarded = [&](std::size_t thread, const Poll& mine) {
      try {
        share(thread, mine);
      } catch (...) {
        errors[thread] = std::current_exception();
        stop_.ask(Stop::kAsked);
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back(guarded, i, Poll());
      if (threads > 0) guarded(0, poll);
    }
    for (const auto& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

  // One thread's boards, with a pool of their own.
  void search_boards(std::span<const State> states, std::span<SearchResult> results,
                     const SearchLimits& limits, bool full, std::size_t first, const Poll& poll,
                     std::chrono::steady_clock::time_point start) {
    NodePool pool(options_.annexed());
    NodeAllocator allocator(pool, game_.num_actions());
    std::vector<std::unique_ptr<Tree<G>>> trees;
    std::vector<Tree<G>*> pointers;
    for (const State& state : states) {
      trees.push_back(std::make_unique<Tree<G>>());
      trees.back()->state = state;
      trees.back()->root = allocator.make_root();
      pointers.push_back(trees.back().get());
    }
    const Searching<G> searching(*evaluator_);
    Worker<G, false> worker(game_, options_, *evaluator_, cache_.get(), allocator, stop_);
    worker.expand_roots(pointers);
    for (std::size_t i = 0; i < states.size(); ++i) {
      // Every board has its own noise, whichever thread searches it.
      Random random(mix64(static_cast<std::uint64_t>(options_.seed)) + first + i);
      prepare_root(allocator, *trees[i], options_, {limits.simulations, full, false, {}}, random);
    }
    worker.run(pointers, options_.leaves_per_tree, with_clock(poll, limits, start));
    for (std::size_t i = 0; i < states.size(); ++i) {
      results[i] = read_result(pool, *trees[i], options_);
      results[i].stop = why(*trees[i]);
    }
    if (!results.empty()) {
      results[0].counters = worker.counters;  // of the whole thread
      results[0].nodes = allocator.nodes_in_use();
      results[0].bytes = allocator.bytes_in_use();
    }
  }

  // Constant during search.
  G game_;
  SearchOptions options_;
  std::shared_ptr<Evaluator<G>> evaluator_;
  std::shared_ptr<EvaluationCache> cache_;

  // Owned by the calling thread between searches.
  std::unique_ptr<NodePool> pool_ = std::make_unique<NodePool>(options_.annexed());
  std::deque<NodeAllocator> allocators_;  // one per thread
  std::unique_ptr<Tree<G>> tree_;
  Random random_;
  std::chrono::steady_clock::time_point started_;

  std::deque<LiveCounters> live_;  // one per thread, atomic
  StopFlag stop_;                  // atomic
};

}  // namespace zermelo
