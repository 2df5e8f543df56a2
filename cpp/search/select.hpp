// Step 1 of a simulation: which action next. S2 (PUCT), S3 (first play), S4 (virtual loss),
// S9 and S15 (forced root visits), S16 (Gumbel root), S17 (search lab).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "search/options.hpp"
#include "search/root.hpp"
#include "search/tree.hpp"

namespace zermelo {

inline constexpr int kNoChild = -1;

// Constants of one search, worked out once.
struct SelectConstants {
  explicit SelectConstants(const SearchOptions& o) : options(o) {
    for (int d = 0; d <= Node::kMaxDistance; ++d) discounts[d] = std::pow(o.turn_discount, d);
    lab = o.prior_compression > 0 || o.branching_power > 0;
  }
  double certain_value(Certain certain) const {
    return certain.result() * discounts[certain.distance];
  }
  // c * sqrt(total): what a prior is multiplied with before the division by 1 + visits.
  double scale(double total) const {
    const double growth = std::log((total + options.c_puct_base) / options.c_puct_base);
    return (options.c_puct + options.c_puct_factor * growth) * std::sqrt(total);
  }

  const SearchOptions& options;
  double discounts[Node::kMaxDistance + 1];
  bool lab;
};

// A child's numbers with virtual loss counted in: each descent in flight looks like a lost visit.
struct ChildView {
  double visits;
  double value_sum;
  Certain certain;

  ChildView(const Node& node, double virtual_loss) : certain(node.certain()) {
    const double waiting = virtual_loss * node.in_flight.load(std::memory_order_relaxed);
    visits = node.visits.load(std::memory_order_relaxed) + waiting;
    value_sum = node.value_sum.load(std::memory_order_relaxed) - waiting;
  }
  double q(const SelectConstants& constants) const {
    return certain ? constants.certain_value(certain) : value_sum / visits;
  }
};

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
  const double x = std::pow(options.prior_compression,
                            1.0 + (depth - 1) * options.prior_compression_decay);
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

// S2 below the root: the best of the visited prefix and the one action after it. Returns the child's
// index (possibly num_children: the next edge), or kNoChild when every action is a certain loss.
template <bool Lab>
int select_child(const SelectConstants& constants, const NodePool& pool, const Node& node, int depth,
                 bool mover_is_chooser) {
  const double virtual_loss = static_cast<double>(constants.options.virtual_loss);
  const std::size_t children = node.num_children.load(std::memory_order_acquire);
  const EdgeBlock* edges = pool.edges_of(node);
  const bool wants_mass = constants.options.fpu_at(false) == Fpu::kReduced;

  double total = 0;
  double mass = 0;
  ChildCursor cursor(pool, node);
  for (std::size_t i = 0; i < children; ++i, cursor.next()) {
    const Node& child = *cursor.get();
    const double visits = child.visits.load(std::memory_order_relaxed) +
                          virtual_loss * child.in_flight.load(std::memory_order_relaxed);
    total += visits;
    if (wants_mass && visits > 0) mass += decode_prior(child.prior);
  }
  const double scale = constants.scale(total);
  const double first_play = first_play_urgency(constants, node, false, mover_is_chooser, mass);
  const double mean = Lab ? mean_branching(pool, node, children) : 0;

  int best = kNoChild;
  double best_score = -std::numeric_limits<double>::infinity();
  cursor = ChildCursor(pool, node);
  for (std::size_t i = 0; i < children; ++i, cursor.next()) {
    const Node& child = *cursor.get();
    const ChildView view(child, virtual_loss);
    if (view.certain.proof == Proof::kLoss) continue;
    double prior = decode_prior(child.prior);
    if constexpr (Lab) {
      prior = compressed_prior(constants.options, prior, depth, edges->count);
      prior *= branching_factor(constants, pool, child, mean);
    }
    const double q = view.visits > 0 ? view.q(constants) : first_play;
    const double score = q + scale * prior / (1.0 + view.visits);
    if (score > best_score) {
      best = static_cast<int>(i);
      best_score = score;
    }
  }
  if (children < edges->count) {
    double prior = decode_prior(edges->edges[children].prior);
    if constexpr (Lab) prior = compressed_prior(constants.options, prior, depth, edges->count);
    if (first_play + scale * prior > best_score) best = static_cast<int>(children);
  }
  return best;
}

// S16: among the actions with the scheduled number of visits, the best Gumbel + logit + sigma(Q).
inline int select_gumbel(const SelectConstants& constants, const NodePool& pool, const Node& root,
                         RootTable& table) {
  const double virtual_loss = static_cast<double>(constants.options.virtual_loss);
  const std::size_t step = table.gumbel_step.load(std::memory_order_relaxed);
  std::uint32_t wanted = step < table.gumbel_schedule.size() ? table.gumbel_schedule[step] : 0;
  std::uint32_t most = 0;
  ChildCursor cursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    most = std::max(most, cursor.get()->visits.load(std::memory_order_relaxed));
  }
  const bool mover_is_chooser = true;
  const double unknown =
      first_play_urgency(constants, root, true, mover_is_chooser, 0.0);
  // A reused tree or a proven loss can leave no action with exactly that many visits: take the next
  // number that some action has.
  for (std::uint32_t slack = 0; slack <= most + wanted + 1; ++slack) {
    int best = kNoChild;
    double best_score = -std::numeric_limits<double>::infinity();
    cursor = ChildCursor(pool, root);
    for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
      const RootAction& a = table.actions[i];
      const ChildView view(*cursor.get(), virtual_loss);
      const double visits = a.backups.load(std::memory_order_relaxed) +
                            cursor.get()->in_flight.load(std::memory_order_relaxed);
      if (!a.allowed || view.certain.proof == Proof::kLoss || visits != wanted + slack) continue;
      const double q = view.visits > 0 ? view.q(constants) : unknown;
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

// The root's choice. Sets `forced` when the visit is owed to S9, not to a score.
inline int select_root(const SelectConstants& constants, const NodePool& pool, const Node& root,
                       RootTable& table, bool& forced) {
  const SearchOptions& options = constants.options;
  const double virtual_loss = static_cast<double>(options.virtual_loss);
  forced = false;
  if (options.gumbel) return select_gumbel(constants, pool, root, table);

  double total = 0;
  double mass = 0;
  ChildCursor cursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    const RootAction& a = table.actions[i];
    const Node& child = *cursor.get();
    const double visits = child.visits.load(std::memory_order_relaxed) +
                          virtual_loss * child.in_flight.load(std::memory_order_relaxed);
    if (table.full && a.allowed && visits < static_cast<double>(options.min_root_visits) &&
        !child.certain()) {
      forced = true;
      return static_cast<int>(i);
    }
    total += visits;
    if (visits > 0) mass += a.prior;
  }
  const double scale = constants.scale(total);
  const double first_play = first_play_urgency(constants, root, true, true, mass);
  const double mean = constants.lab ? mean_branching(pool, root, table.actions.size()) : 0;

  int best = kNoChild;
  double best_score = -std::numeric_limits<double>::infinity();
  cursor = ChildCursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    const RootAction& a = table.actions[i];
    const ChildView view(*cursor.get(), virtual_loss);
    if (!a.allowed || view.certain.proof == Proof::kLoss) continue;
    if (table.full && options.forced_playouts > 0 && view.visits > 0 && !view.certain &&
        view.visits < std::sqrt(options.forced_playouts * a.prior * total)) {
      return static_cast<int>(i);  // S15; its visits are pruned from the target, not counted here
    }
    double prior = a.prior;
    if (constants.lab) {
      prior = compressed_prior(options, prior, 1, static_cast<double>(table.actions.size()));
      prior *= branching_factor(constants, pool, *cursor.get(), mean);
    }
    const double q = view.visits > 0 ? view.q(constants) : first_play;
    const double score = q + scale * prior / (1.0 + view.visits);
    if (score > best_score) {
      best = static_cast<int>(i);
      best_score = score;
    }
  }
  return best;
}

}  // namespace zermelo
