// Step 1 of a simulation: which action next. S2 (PUCT), S3 (first play), S4 (virtual loss),
// S9 and S15 (forced root visits), S16 (Gumbel root), S17 (search lab).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "search/options.hpp"
#include "search/root.hpp"
#include "search/tree.hpp"

namespace zermelo {

inline constexpr int kNoChild = -1;

// What selection needs of the options.
struct SelectConstants {
  explicit SelectConstants(const SearchOptions& o)
      : options(o), lab(o.prior_compression > 0 || o.branching_power > 0) {}
  // S10, S11: a certain result so many plies away.
  double certain_value(Certain certain) const {
    if (certain.distance == 0 || certain.proof == Proof::kDraw) return certain.result();
    return certain.result() * std::pow(options.turn_discount, certain.distance);
  }
  // c * sqrt(total): what a prior is multiplied with before the division by 1 + visits.
  double scale(double total) const {
    double c = options.c_puct;
    if (options.c_puct_factor != 0) {
      c += options.c_puct_factor * std::log((total + options.c_puct_base) / options.c_puct_base);
    }
    return c * std::sqrt(total);
  }

  const SearchOptions& options;
  bool lab;
};

// The children of one node as columns, so that their scores are computed side by side. Q is
// numerator / denominator: sum and visits, virtual loss counted in (each descent in flight looks
// like a lost visit); a fixed number over 1 where the value is certain or not known.
struct SelectScratch {
  double* numerator = nullptr;
  double* denominator = nullptr;
  double* visits = nullptr;
  double* prior = nullptr;
  double* score = nullptr;
  std::vector<std::uint32_t> unvisited;  // their numerator is the first-play urgency

  void resize(std::size_t size) {
    unvisited.clear();
    if (size <= capacity_) return;
    capacity_ = size * 2;
    memory_ = std::make_unique<double[]>(capacity_ * 5);
    double* next = memory_.get();
    for (auto* column : {&numerator, &denominator, &visits, &prior, &score}) {
      *column = next;
      next += capacity_;
    }
  }

 private:
  std::size_t capacity_ = 0;
  std::unique_ptr<double[]> memory_;
};

// Fills the columns but `prior` at `i`; returns the child's visits.
[[gnu::always_inline]] inline double load_child(const SelectConstants& constants, const Node& node,
                                                std::size_t i, double virtual_loss,
                                                SelectScratch& scratch) {
  const double waiting = virtual_loss * node.in_flight.load(std::memory_order_relaxed);
  const double visits = node.visits.load(std::memory_order_relaxed) + waiting;
  scratch.visits[i] = visits;
  scratch.numerator[i] = node.value_sum.load(std::memory_order_relaxed) - waiting;
  scratch.denominator[i] = visits;
  if (const Certain certain = node.certain()) {
    // S11: a certain loss is not searched again.
    scratch.numerator[i] = certain.proof == Proof::kLoss ? -std::numeric_limits<double>::infinity()
                                                         : constants.certain_value(certain);
    scratch.denominator[i] = 1.0;
  } else if (visits == 0) {
    scratch.unvisited.push_back(static_cast<std::uint32_t>(i));
    scratch.denominator[i] = 1.0;
  }
  return visits;
}

// S2: the first child with the best Q + U, its score in `best_score`; kNoChild if all are lost.
inline int best_score_index(SelectScratch& scratch, std::size_t children, double scale,
                            double first_play, double& best_score) {
  for (const std::uint32_t i : scratch.unvisited) scratch.numerator[i] = first_play;
  const double* const numerator = scratch.numerator;
  const double* const denominator = scratch.denominator;
  const double* const prior = scratch.prior;
  const double* const visits = scratch.visits;
  double* const score = scratch.score;
#pragma GCC ivdep
  for (std::size_t i = 0; i < children; ++i) {
    score[i] = numerator[i] / denominator[i] + scale * prior[i] / (1.0 + visits[i]);
  }
  int best = kNoChild;
  best_score = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < children; ++i) {
    if (score[i] > best_score) {
      best = static_cast<int>(i);
      best_score = score[i];
    }
  }
  return best;
}

// S3. `visited_mass` is the prior mass of the actions tried so far.
inline double first_play_urgency(const SelectConstants& constants, const Node& node, bool is_root,
                                 bool mover_is_chooser, double visited_mass) {
  const Fpu rule = constants.options.fpu_at(is_root);
  if (rule == Fpu::kZero) return 0.0;
  if (rule == Fpu::kLoss) return -1.0;
  const double visits = node.visits.load(std::memory_order_relaxed);
  double parent = visits > 0 ? node.value_sum.load(std::memory_order_relaxed) / visits : 0.0;
  if (!mover_is_chooser) parent = -parent;
  if (rule == Fpu::kParent) return parent;
  return parent - constants.options.fpu_reduction * std::sqrt(visited_mass);
}

// S17: flattened prior at `depth` (1 = root) among m actions.
inline double compressed_prior(const SearchOptions& options, double prior, int depth, double m) {
  if (options.prior_compression <= 0) return prior;
  const double x =
      std::pow(options.prior_compression, 1.0 + (depth - 1) * options.prior_compression_decay);
  return (prior + x) / (1.0 + m * x);
}

// S17: ((mean branching of the visited siblings / own branching) / tb)^s, 1 where it is not known.
inline double branching_factor(const SelectConstants& constants, const NodePool& pool,
                               const Node& child, double mean) {
  if (constants.options.branching_power <= 0 || mean <= 0 || !child.expanded()) return 1.0;
  const double own = pool.edges_of(child)->count;
  return std::pow(mean / own / constants.options.branching_balance,
                  constants.options.branching_power);
}

inline double mean_branching(const NodePool& pool, const Node& node, std::size_t children) {
  double sum = 0;
  int known = 0;
  ChildCursor cursor(pool, node);
  for (std::size_t i = 0; i < children; ++i, cursor.next()) {
    if (!cursor.get()->expanded()) continue;
    sum += pool.edges_of(*cursor.get())->count;
    ++known;
  }
  return known > 0 ? sum / known : 0;
}

// Below the root: the best of the visited prefix and the one action after it. Returns the child's
// index (possibly num_children: the next edge), or kNoChild when every action is a certain loss.
template <bool Lab>
int select_child(const SelectConstants& constants, const NodePool& pool, const Node& node,
                 int depth, bool mover_is_chooser, SelectScratch& scratch) {
  const SearchOptions& options = constants.options;
  const double virtual_loss = static_cast<double>(options.virtual_loss);
  const std::size_t children = node.num_children.load(std::memory_order_acquire);
  const EdgeBlock* edges = pool.edges_of(node);
  const bool wants_mass = options.fpu_at(false) == Fpu::kReduced;

  scratch.resize(children);
  double total = 0;
  double mass = 0;
  for_each_child(pool, node, children, [&](std::size_t i, const Node& child) {
    const double visits = load_child(constants, child, i, virtual_loss, scratch);
    const double prior = decode_prior(child.prior);
    scratch.prior[i] = prior;
    total += visits;
    if (wants_mass && visits > 0) mass += prior;
  });
  if constexpr (Lab) {
    const double mean = mean_branching(pool, node, children);
    ChildCursor cursor(pool, node);
    for (std::size_t i = 0; i < children; ++i, cursor.next()) {
      scratch.prior[i] = compressed_prior(options, scratch.prior[i], depth, edges->count) *
                         branching_factor(constants, pool, *cursor.get(), mean);
    }
  }
  const double scale = constants.scale(total);
  const double first_play = first_play_urgency(constants, node, false, mover_is_chooser, mass);
  double best_score;
  const int best = best_score_index(scratch, children, scale, first_play, best_score);
  if (children == edges->count) return best;
  double prior = decode_prior(edges->get(children).prior);
  if constexpr (Lab) prior = compressed_prior(options, prior, depth, edges->count);
  return first_play + scale * prior > best_score ? static_cast<int>(children) : best;
}

// S16: among the actions with the scheduled number of visits, the best Gumbel + logit + sigma(Q).
inline int select_gumbel(const SelectConstants& constants, const NodePool& pool, const Node& root,
                         RootTable& table, SelectScratch& scratch) {
  const double virtual_loss = static_cast<double>(constants.options.virtual_loss);
  const std::size_t step = table.gumbel_step.load(std::memory_order_relaxed);
  const std::uint32_t wanted =
      table.gumbel_schedule[std::min(step, table.gumbel_schedule.size() - 1)];
  std::uint32_t most = 0;
  scratch.resize(table.actions.size());
  ChildCursor cursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    load_child(constants, *cursor.get(), i, virtual_loss, scratch);
    most = std::max(most, cursor.get()->visits.load(std::memory_order_relaxed));
  }
  const double unknown = first_play_urgency(constants, root, true, true, 0.0);
  for (const std::uint32_t i : scratch.unvisited) scratch.numerator[i] = unknown;
  // A reused tree or a proven loss can leave no action with exactly that many visits: take the next
  // number that some action has.
  for (std::uint32_t slack = 0; slack <= most + wanted + 1; ++slack) {
    int best = kNoChild;
    double best_score = -std::numeric_limits<double>::infinity();
    cursor = ChildCursor(pool, root);
    for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
      const RootAction& a = table.actions[i];
      const double visits = a.backups.load(std::memory_order_relaxed) +
                            cursor.get()->in_flight.load(std::memory_order_relaxed);
      if (!a.allowed || cursor.get()->certain().proof == Proof::kLoss) continue;
      if (visits != wanted + slack) continue;
      const double q = scratch.numerator[i] / scratch.denominator[i];
      const double score = a.gumbel + gumbel_sigma(constants.options, most, q);
      if (score > best_score) {
        best = static_cast<int>(i);
        best_score = score;
      }
    }
    if (best != kNoChild) return best;
  }
  return kNoChild;
}

// S15: the first action with fewer than sqrt(k P N) visits that was tried at all. Its visits are
// pruned from the target later, so they are not counted as forced here.
inline int select_forced(const SearchOptions& options, const NodePool& pool, const Node& root,
                         const RootTable& table, const SelectScratch& scratch, double total) {
  ChildCursor cursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    const RootAction& a = table.actions[i];
    const double visits = scratch.visits[i];
    if (a.allowed && visits > 0 && !cursor.get()->certain() &&
        visits < std::sqrt(options.forced_playouts * a.prior * total)) {
      return static_cast<int>(i);
    }
  }
  return kNoChild;
}

// The root's choice. Sets `forced` when the visit is owed to S9, not to a score.
inline int select_root(const SelectConstants& constants, const NodePool& pool, const Node& root,
                       RootTable& table, SelectScratch& scratch, bool& forced) {
  const SearchOptions& options = constants.options;
  const double virtual_loss = static_cast<double>(options.virtual_loss);
  const std::size_t children = table.actions.size();
  forced = false;
  if (options.gumbel &&
      table.gumbel_step.load(std::memory_order_relaxed) < table.gumbel_schedule.size()) {
    return select_gumbel(constants, pool, root, table, scratch);
  }

  scratch.resize(children);
  const auto owed = table.full ? static_cast<double>(options.min_root_visits) : 0.0;
  double total = 0;
  double mass = 0;
  ChildCursor cursor(pool, root);
  for (std::size_t i = 0; i < children; ++i, cursor.next()) {
    const RootAction& a = table.actions[i];
    const double visits = load_child(constants, *cursor.get(), i, virtual_loss, scratch);
    if (visits < owed && a.allowed && !cursor.get()->certain()) {
      forced = true;
      return static_cast<int>(i);
    }
    scratch.prior[i] = a.prior;
    if (!a.allowed) scratch.numerator[i] = -std::numeric_limits<double>::infinity();
    total += visits;
    if (visits > 0) mass += a.prior;
  }
  std::erase_if(scratch.unvisited, [&](std::uint32_t i) { return !table.actions[i].allowed; });
  if (table.full && options.forced_playouts > 0) {
    const int forced_action = select_forced(options, pool, root, table, scratch, total);
    if (forced_action != kNoChild) return forced_action;
  }
  if (constants.lab) {
    const double mean = mean_branching(pool, root, children);
    cursor = ChildCursor(pool, root);
    for (std::size_t i = 0; i < children; ++i, cursor.next()) {
      scratch.prior[i] =
          compressed_prior(options, scratch.prior[i], 1, static_cast<double>(children)) *
          branching_factor(constants, pool, *cursor.get(), mean);
    }
  }
  double best_score;
  return best_score_index(scratch, children, constants.scale(total),
                          first_play_urgency(constants, root, true, true, mass), best_score);
}

}  // namespace zermelo
