// One searching thread: gathers leaves from its trees, has them evaluated together, backs them up.
// Many boards (S18) and one board with many threads (S19) both run this code; `Shared` tells
// whether other threads are in the same tree.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/refused.hpp"
#include "games/game.hpp"
#include "search/backup.hpp"
#include "search/batch.hpp"
#include "search/board.hpp"
#include "search/cache.hpp"
#include "search/evaluator.hpp"
#include "search/options.hpp"
#include "search/poll_clock.hpp"
#include "search/root.hpp"
#include "search/select.hpp"
#include "search/tally.hpp"
#include "search/tree.hpp"

namespace zermelo {

template <Game G, bool Shared>
class Worker {
 public:
  using State = typename G::State;
  // Called about every 20 ms by a worker that has one; may throw (Ctrl-C) or ask to stop.
  using Poll = std::function<void()>;

  Worker(const G& game, const SearchOptions& options, Evaluator<G>& evaluator,
         EvaluationCache* cache, NodeAllocator& allocator, StopFlag& stop,
         LiveCounters* live = nullptr)
      : game_(game),
        options_(options),
        constants_(options),
        evaluator_(evaluator),
        cache_(cache),
        allocator_(allocator),
        pool_(allocator.pool()),
        stop_(stop),
        live_(live),
        batch_(game, static_cast<std::size_t>(options.batch), evaluator.wants_observations()) {
    if (options.hurried() && !evaluator.tells_plies_left()) {
      throw Refused("moves_left_slope needs a network with a moves-left head");
    }
  }

  // Searches until every tree's budget is used up, its root is certain, or the flag is set.
  // `leaves` bounds how many leaves of one tree wait for the same batch.
  void run(std::span<Tree<G>* const> trees, std::int64_t leaves, const Poll& poll) {
    std::size_t first = 0;
    for (;;) {
      if (poll && clock_.due(batch_.observed(), counters.simulations)) poll();
      if (stop_.set()) return;
      if (pool_.node_count.load(std::memory_order_relaxed) > options_.max_nodes) {
        stop_.ask(Stop::kNodes);
        return;
      }
      bool active = false;
      for (std::size_t i = 0; i < trees.size() && !batch_.full(); ++i) {
        Tree<G>& tree = *trees[(first + i) % trees.size()];
        active |= gather(tree, leaves);
      }
      first = trees.empty() ? 0 : (first + 1) % trees.size();
      const bool waited = batch_.waiting() > 0;
      evaluate_waiting();
      if (!waited && !active) return;
    }
  }

  // The steps of `run`, for a caller with a loop of its own (self-play).

  // Has the waiting leaves evaluated and backed up.
  void evaluate_waiting() {
    if (batch_.waiting() > 0) finish_batch();
    flush_tally();
    if (live_) live_->publish(counters);
  }
  std::size_t waiting() const { return batch_.waiting(); }
  bool batch_full() const { return batch_.full(); }
  // Queues the evaluation of a root that is not expanded yet; it counts as no simulation.
  void request_root(Tree<G>& tree) {
    if (descend(tree) == Leaf::kWaiting) batch_.wait();
    ++root_requests_;
  }
  // Takes leaves from one tree until `leaves` wait, descents collide too often (S22), or its budget
  // ends. Returns whether the tree still has work.
  bool gather(Tree<G>& tree, std::int64_t leaves) {
    const bool active = take_leaves(tree, leaves);
    for (const Path& path : collided_) abandon<Shared>(path);
    collided_.clear();
    return active;
  }

  // What `run` counted, requests for roots left out.
  SearchCounters counted() const {
    SearchCounters found = counters;
    found.simulations -= root_requests_;
    return found;
  }

  // Evaluates the root itself if that was not done yet (it counts as no simulation).
  void expand_roots(std::span<Tree<G>* const> trees) {
    for (Tree<G>* tree : trees) {
      if (pool_.node(tree->root)->expanded()) continue;
      if (descend(*tree) == Leaf::kWaiting) batch_.wait();
      if (batch_.full()) finish_batch();
    }
    if (batch_.waiting() > 0) finish_batch();
    flush_tally();
    counters.simulations = 0;
  }

  SearchCounters counters;

 private:
  // kExhausted: every root action that may be searched is a certain loss.
  enum class Leaf { kWaiting, kDone, kCollision, kExhausted };

  using Descent = zermelo::Descent<G>;

  bool take_leaves(Tree<G>& tree, std::int64_t leaves) {
    const auto most = static_cast<std::size_t>(options_.max_collisions);
    const Node& root = *pool_.node(tree.root);
    leaves = leaves_at(root, leaves, options_);
    for (std::int64_t taken = 0; taken < leaves && !batch_.full();) {
      if (options_.solver && root_certain(pool_, root, tree.table)) return false;
      if (settled<Shared>(tree, pool_, options_, counters)) return false;
      if (!take_ticket<Shared>(tree)) return taken > 0;
      switch (descend(tree)) {
        case Leaf::kWaiting:
          batch_.wait();
          ++taken;
          break;
        case Leaf::kDone:
          // Cached and finished positions need no batch, but other trees want their turn too.
          if (++done_ % 64 == 0) return true;
          break;
        case Leaf::kCollision:
          ++counters.collisions;
          Access<Shared>::add(tree.budget, 1);
          if (collided_.size() < most) break;
          if (Shared && batch_.waiting() == 0) std::this_thread::yield();
          return true;
        case Leaf::kExhausted:
          tree.budget.store(0, std::memory_order_relaxed);
          return false;
      }
    }
    return true;
  }

  // Steps 1 and 2 for one simulation, and 4 at once where no evaluation is needed.
  Leaf descend(Tree<G>& tree) {
    Descent& d = batch_.next();
    d.tree = &tree;
    d.path.clear();
    d.state = tree.state;
    Node* node = pool_.node(tree.root);
    d.path.push(node, game_.player(d.state));
    while (node->expanded() && !(node->certain() && d.path.nodes.size() > 1)) {
      node = step_down(d, *node);
      if (!node) return d.path.nodes.size() == 1 ? Leaf::kExhausted : give_up(d);
    }
    return expand_leaf(d, node);
  }

  // Step 1: selects a child of `node`, adds virtual loss, plays the action. Null when every action
  // is a certain loss (other threads have just proved it).
  Node* step_down(Descent& d, Node& node) {
    const std::size_t depth = d.path.nodes.size() - 1;
    int index;
    if (depth == 0) {
      index = select_root(constants_, pool_, node, d.path.players[0], d.tree->table, scratch_,
                          d.path.forced);
      d.path.root_action = index;
    } else {
      const Standpoint at{static_cast<int>(depth) + 1, d.path.players[depth],
                          d.path.players[depth] == d.path.players[depth - 1], d.tree->table.full,
                          d.path.draw_for(d.path.players[depth], options_.draw_score)};
      index = constants_.refined ? select_child<true>(constants_, pool_, node, at, scratch_)
                                 : select_child<false>(constants_, pool_, node, at, scratch_);
    }
    if (index == kNoChild) return nullptr;
    const Edge edge = pool_.edges_of(node)->get(static_cast<std::size_t>(index));
    Node* child = child_of(node, static_cast<std::size_t>(index), edge);
    // Its children and edges are wanted as soon as the action is played.
    prefetch(*child);
    Access<Shared>::add(child->in_flight, 1);
    if (depth == 0 && options_.gumbel) Access<Shared>::add(d.tree->table.gumbel_step, 1);
    game_.play(d.state, edge.action);
    d.path.push(child, game_.player(d.state));
    return child;
  }

  void prefetch(const Node& node) const {
    const BlockIndex chunk = node.first_chunk.load(std::memory_order_relaxed);
    if (chunk == 0) return;
    __builtin_prefetch(pool_.node(chunk));
    __builtin_prefetch(pool_.edges.at(node.edges.load(std::memory_order_relaxed)));
  }

  // The node of edge `index`, made on its first visit.
  Node* child_of(Node& node, std::size_t index, Edge edge) {
    if (index < node.num_children.load(std::memory_order_acquire))
      return child_at(pool_, node, index);
    Access<Shared>::lock(node);
    // Another thread may have made it meanwhile.
    Node* child = index < node.num_children.load(std::memory_order_acquire)
                      ? child_at(pool_, node, index)
                      : allocator_.add_child(node, edge.prior);
    Access<Shared>::unlock(node);
    return child;
  }

  // S22: the path stays in flight until the gathering ends, so the next descent goes elsewhere.
  Leaf give_up(Descent& d) {
    collided_.push_back(d.path);
    return Leaf::kCollision;
  }

  // Step 2: what is at the end of the path. Follows chains of single actions (S12).
  Leaf expand_leaf(Descent& d, Node* node) {
    for (;;) {
      if (node->certain()) return finish(d, 0.0, node->certain().proof == Proof::kDraw);
      if (Access<Shared>::set(node->status, Node::kClaimed) & Node::kClaimed) return give_up(d);
      if (node->expanded()) {  // by another thread, between our look and our claim
        Access<Shared>::clear(node->status, Node::kClaimed);
        return give_up(d);
      }
      const std::size_t depth = d.path.nodes.size() - 1;
      const Player mover = d.path.players[depth];
      d.actions.clear();
      const Outcome outcome = game_.expand(d.state, d.actions);
      if (outcome != Outcome::kOngoing) {
        const double value = outcome_value(outcome, mover);
        if (options_.solver) {
          const int result = outcome_value(outcome, d.path.chooser(depth));
          Access<Shared>::set_certain(*node, {static_cast<Proof>(result + 2), 0});
        }
        Access<Shared>::clear(node->status, Node::kClaimed);
        return finish(d, value, outcome == Outcome::kDraw);
      }
      if (depth > 0 && repeats(d.state, static_cast<int>(depth))) {
        Access<Shared>::clear(node->status, Node::kClaimed);
        return finish(d, 0.0, true);
      }
      if (options_.auto_extend && d.actions.size() == 1 && depth < kMaxChain) {
        node = extend(d, *node);
        continue;
      }
      return look_up(d, *node);
    }
  }

  bool repeats(const State& state, int plies) const {
    if constexpr (RepeatingGame<G>) {
      return options_.repetition_draw && game_.repeated_within(state, plies);
    } else {
      (void)state, (void)plies;
      return false;
    }
  }

  // S12: gives the node its one edge and goes down it.
  Node* extend(Descent& d, Node& node) {
    const Edge only{d.actions[0], encode_prior(1.0)};
    Access<Shared>::set(node.status, Node::kExtended);
    allocator_.make_edges(node, {&only, 1});
    Node* child = child_of(node, 0, only);
    Access<Shared>::add(child->in_flight, 1);
    Access<Shared>::clear(node.status, Node::kClaimed);
    if (d.path.nodes.size() == 1) d.path.root_action = 0;
    game_.play(d.state, only.action);
    d.path.push(child, game_.player(d.state));
    return child;
  }

  // S14: takes the evaluation from the cache or from an equal position of this batch, or queues it.
  Leaf look_up(Descent& d, Node& node) {
    if (cache_) {
      d.key.make(game_, d.state, d.actions.span(), options_);
      d.priors.resize(d.actions.size());
      CachedEvaluation found;
      const bool images = batch_.observed() && options_.cache_symmetry;  // else they do not pay
      if (d.key.find(*cache_, d.priors, found) ||
          (images && d.key.widen(game_, d.state, d.actions.span()) &&
           d.key.find(*cache_, d.priors, found))) {
        ++counters.cache_hits;
        write_edges(d, node);
        return finish(d, found.value, found.draw, found.plies_left);
      }
      if (batch_.share(d)) {
        ++counters.cache_hits;
        return Leaf::kWaiting;
      }
    }
    batch_.ask(d);
    return Leaf::kWaiting;
  }

  // Step 3 for all waiting leaves, then their steps 2 and 4. If the evaluator fails, the leaves are
  // given back as if they had never been selected.
  void finish_batch() {
    try {
      evaluator_.evaluate(batch_.positions());
      for (const auto& position : batch_.positions()) check_answer(position);
    } catch (...) {
      for (Descent& d : batch_.leaves()) {
        Access<Shared>::clear(d.path.nodes.back()->status, Node::kClaimed);
        abandon<Shared>(d.path);
        Access<Shared>::add(d.tree->budget, 1);
      }
      batch_.reset();
      flush_tally();
      stop_.ask(Stop::kAsked);
      throw;
    }
    counters.evaluations += static_cast<std::int64_t>(batch_.positions().size());
    ++counters.batches;
    for (Descent& d : batch_.leaves()) {
      const Position<G>& answer = batch_.answer(d);
      softmax_priors(answer.logits, options_.policy_temperature, weights_, d.priors);
      const float value = std::clamp(answer.value, -1.0f, 1.0f);
      if (cache_) d.key.insert(*cache_, d.priors, {value, answer.draw, answer.plies_left});
      write_edges(d, *d.path.nodes.back());
      finish(d, value, answer.draw, answer.plies_left);
    }
    batch_.reset();
  }

  void write_edges(Descent& d, Node& node) {
    sorted_edges(d.actions.span(), d.priors, keys_, edges_);
    allocator_.make_edges(node, edges_);
    Access<Shared>::clear(node.status, Node::kClaimed);
  }

  // Step 4 and the root's book-keeping.
  Leaf finish(Descent& d, double value, double draw, double plies = 0) {
    if (options_.draw_score != 0) {
      const double worth = d.path.draw_for(d.path.players.back(), options_.draw_score);
      value = std::clamp(value + worth * draw, -1.0, 1.0);
    }
    const RootVisit visit = backup<Shared>(constants_, pool_, d.path, value, plies);
    auto& rows = d.tree->table.actions;
    const bool has_row = d.path.root_action != kNoChild && !rows.empty();
    const auto index = static_cast<std::size_t>(d.path.root_action);
    if constexpr (Shared) {
      tally_.add(*d.tree, visit, has_row, index, d.path.forced, draw);
    } else {
      add_visit<Shared>(constants_, pool_, *d.path.nodes[0], visit.value, visit.plies, true,
                        options_.draw_score);
      if (has_row) rows[index].template add<Shared>(1, d.path.forced, draw);
    }
    const int depth = static_cast<int>(d.path.nodes.size()) - 1;
    counters.max_depth = std::max(counters.max_depth, depth);
    counters.depth_sum += depth;
    ++counters.simulations;
    return Leaf::kDone;
  }

  void flush_tally() {
    if constexpr (Shared) tally_.flush(constants_, pool_);
  }

  static constexpr std::size_t kMaxChain = 4096;

  // Constant during search.
  const G& game_;
  const SearchOptions& options_;
  const SelectConstants constants_;
  Evaluator<G>& evaluator_;
  EvaluationCache* cache_;
  NodeAllocator& allocator_;
  NodePool& pool_;
  StopFlag& stop_;
  LiveCounters* live_;  // null: nobody looks

  LeafBatch<G> batch_;
  std::vector<Path> collided_;  // descents of this gathering that came to a waiting leaf
  PollClock clock_;
  RootTally<G> tally_;  // used by threads on one tree only

  // Scratch.
  SelectScratch scratch_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> keys_;
  std::vector<Edge> edges_;
  std::uint64_t done_ = 0;
  std::int64_t root_requests_ = 0;
};

}  // namespace zermelo
