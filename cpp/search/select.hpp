// Step 1 of a simulation: which action next. S2 (PUCT), S9 and S15 (forced root visits), S16
// (Gumbel root). What the scores are is score.hpp's and ending.hpp's.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/ending.hpp"
#include "search/options.hpp"
#include "search/root.hpp"
#include "search/score.hpp"
#include "search/tree.hpp"

namespace zermelo {

// Below the root: the best of the visited prefix and the one action after it. Returns the child's
// index (possibly num_children: the next edge), or kNoChild when every action is a certain loss.
// `Refined` knows every option; the plain one is faster.
template <bool Refined>
int select_child(const SelectConstants& constants, const NodePool& pool, const Node& node,
                 const Standpoint& at, SelectScratch& scratch) {
  const SearchOptions& options = constants.options;
  const std::size_t children = node.num_children.load(std::memory_order_acquire);
  const EdgeBlock* edges = pool.edges_of(node);
  const bool wants_mass = options.fpu_at(false) == Fpu::kReduced;

  scratch.resize(children);
  double total = 0;
  double mass = 0;
  for_each_child(pool, node, children, [&](std::size_t i, const Node& child) {
    const double visits = load_child<Refined>(constants, child, i, at.draw, scratch);
    const double prior = decode_prior(child.prior);
    scratch.prior[i] = prior;
    total += visits;
    if (wants_mass && visits > 0) mass += prior;
  });
  if (Refined && constants.ending) draw_to_end(constants, pool, node, at, children, scratch);
  if (Refined && constants.lab) {
    const double mean = mean_branching(pool, node, children);
    ChildCursor cursor(pool, node);
    for (std::size_t i = 0; i < children; ++i, cursor.next()) {
      scratch.prior[i] = compressed_prior(options, scratch.prior[i], at.depth, edges->count) *
                         branching_factor(constants, pool, *cursor.get(), mean);
    }
  }
  double scale = constants.scale(total, false);
  if (Refined) scale *= spread_factor(options, node);
  PriorSums sums;
  if (Refined && constants.wants_sums) {
    sums = edge_sums(*edges);
    if (options.impurity_slope > 0 && !at.full) scale *= constants.impurity_factor(sums);
  }
  const FirstPlay first_play =
      first_play_urgency(constants, node, false, at.mover_is_chooser, mass, sums);
  double best_score;
  const int best = best_score_index(scratch, children, scale, first_play, best_score);
  if (children == edges->count) return best;
  double prior = decode_prior(edges->get(children).prior);
  if (Refined) prior = compressed_prior(options, prior, at.depth, edges->count);
  return first_play.at(prior) + scale * prior > best_score ? static_cast<int>(children) : best;
}

constexpr double kBehind = 1e18;  // farther away than any number of visits above the wanted one

// S16: among the actions with the scheduled number of visits, the best Gumbel + logit + sigma(Q).
inline int select_gumbel(const SelectConstants& constants, const NodePool& pool, const Node& root,
                         RootTable& table, SelectScratch& scratch) {
  const std::size_t step = table.gumbel_step.load(std::memory_order_relaxed);
  const std::uint32_t wanted =
      table.gumbel_schedule[std::min(step, table.gumbel_schedule.size() - 1)];
  std::uint32_t most = 0;
  scratch.resize(table.actions.size());
  ChildCursor cursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    load_child<true>(constants, *cursor.get(), i, constants.options.draw_score, scratch);
    most = std::max(most, cursor.get()->visits.load(std::memory_order_relaxed));
  }
  const FirstPlay unknown = first_play_urgency(constants, root, true, true, 0.0, table.sums);
  for (const std::uint32_t i : scratch.unvisited) {
    scratch.numerator[i] = unknown.at(table.actions[i].prior);
  }
  // No action may have exactly that many visits: more after reuse, fewer after proven losses or
  // when other threads have not told theirs yet. The next higher number is taken, else the next
  // lower.
  int best = kNoChild;
  double best_distance = std::numeric_limits<double>::infinity();
  double best_score = best_distance;
  cursor = ChildCursor(pool, root);
  for (std::size_t i = 0; i < table.actions.size(); ++i, cursor.next()) {
    const RootAction& a = table.actions[i];
    if (!a.allowed || cursor.get()->certain().proof == Proof::kLoss) continue;
    const double visits = a.backups.load(std::memory_order_relaxed) +
                          cursor.get()->in_flight.load(std::memory_order_relaxed);
    const double distance = visits >= wanted ? visits - wanted : kBehind + wanted - visits;
    const double q = scratch.numerator[i] / scratch.denominator[i];
    const double score = a.gumbel + gumbel_sigma(constants.options, most, q);
    if (distance < best_distance || (distance == best_distance && score > best_score)) {
      best = static_cast<int>(i);
      best_distance = distance;
      best_score = score;
    }
  }
  return best;
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
                       Player mover, RootTable& table, SelectScratch& scratch, bool& forced) {
  const SearchOptions& options = constants.options;
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
    const double visits =
        load_child<true>(constants, *cursor.get(), i, options.draw_score, scratch);
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
  if (constants.ending) {
    draw_to_end(constants, pool, root, {1, mover, true}, children, scratch);
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
  double scale = constants.scale(total, true) * spread_factor(options, root);
  if (options.impurity_slope > 0 && !table.full) scale *= constants.impurity_factor(table.sums);
  double best_score;
  return best_score_index(scratch, children, scale,
                          first_play_urgency(constants, root, true, true, mass, table.sums),
                          best_score);
}

}  // namespace zermelo
