// S25: a node's value as that of a policy between its prior and its actions' values, instead of the
// mean of its visits. The policy pi maximises sum pi q - lambda KL(prior, pi) (reverse KL), which
// is pi = lambda p / (alpha - q) with the alpha that makes it sum to 1. Selection is not changed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/score.hpp"
#include "search/tree.hpp"

namespace zermelo {

struct RegularisedAction {
  double prior;
  double q;
};

// What the policy between the priors and the values is worth. Newton's steps begin left of alpha,
// where the sum of pi is 1 or more, and never pass it.
inline double regularised_value(const std::vector<RegularisedAction>& actions, double lambda) {
  constexpr double kSmall = 1e-12;
  constexpr int kSteps = 12;
  double alpha = -std::numeric_limits<double>::infinity();
  for (const auto& a : actions) alpha = std::max(alpha, a.q + lambda * a.prior);
  for (int step = 0; step < kSteps; ++step) {
    double sum = 0;
    double slope = 0;
    for (const auto& a : actions) {
      const double gap = std::max(alpha - a.q, kSmall);
      sum += lambda * a.prior / gap;
      slope += lambda * a.prior / (gap * gap);
    }
    alpha += (sum - 1.0) / slope;
    if (std::abs(sum - 1.0) < 1e-9) break;
  }
  double mass = 0;
  double value = 0;
  for (const auto& a : actions) {
    const double pi = lambda * a.prior / std::max(alpha - a.q, kSmall);
    mass += pi;
    value += pi * a.q;
  }
  return value / mass;
}

// The mean that a node has for the player who moves there, after so many visits.
inline double regularised_mean(const SelectConstants& constants, const NodePool& pool,
                               const Node& node, double sign, double after, double draw) {
  const SearchOptions& options = constants.options;
  thread_local std::vector<RegularisedAction> actions;
  const double before = node.visits.load(std::memory_order_relaxed);
  const double parent =
      before > 0 ? sign * node.value_sum.load(std::memory_order_relaxed) / before : 0.0;
  double below = 0;  // visits of its children ...
  double value = 0;  // ... and what the policy is worth, for the player who moves here
  if (const std::size_t children = node.num_children.load(std::memory_order_acquire)) {
    const EdgeBlock& edges = *pool.edges_of(node);
    const PriorSums sums = edge_sums(edges);
    const FirstPlay imputed{parent, options.fpu_slope, sums.logs};
    actions.clear();
    const auto add = [&](double prior, double made, double sum, Certain certain) {
      double q = imputed.at(prior);
      if (certain) {
        q = options.turn_discount * constants.certain_value(certain, draw);
      } else if (made > 0) {
        const double weight = made + options.backup_shrinkage;
        q = (options.turn_discount * sum + options.backup_shrinkage * q) / weight;
      }
      below += made;
      if (prior > 0) actions.push_back({prior, q});
    };
    for_each_child(pool, node, children, [&](std::size_t, const Node& child) {
      add(decode_prior(child.prior), child.visits.load(std::memory_order_relaxed),
          child.value_sum.load(std::memory_order_relaxed), child.certain());
    });
    for (std::size_t i = children; i < edges.count; ++i) {
      add(decode_prior(edges.get(i).prior), 0.0, 0.0, {});
    }
    const double lambda = std::max(options.c_puct * std::sqrt(after) / (after + 1.0), 1e-6);
    if (below > 0) value = regularised_value(actions, lambda);
  }
  const double own = annex_of(node).own_sum.load(std::memory_order_relaxed);
  return std::clamp((below * value + own) / after, -1.0, 1.0);
}

// Counts `visits` more and gives the node its value anew; one that is certain adds up `sum`, the
// visits' values. The node is locked meanwhile, its children may change. Priors are the network's,
// at the root too. A draw is worth `draw` to who moves at the node.
template <bool Shared>
void regularise(const SelectConstants& constants, const NodePool& pool, Node& node,
                bool mover_is_chooser, std::uint32_t visits, double sum, double draw) {
  Access<Shared>::lock(node);
  const std::uint32_t after = node.visits.load(std::memory_order_relaxed) + visits;
  if (node.certain()) {
    sum += node.value_sum.load(std::memory_order_relaxed);
  } else {
    const double sign = mover_is_chooser ? 1.0 : -1.0;
    sum = sign * regularised_mean(constants, pool, node, sign, after, draw) * after;
  }
  node.value_sum.store(sum, std::memory_order_relaxed);
  node.visits.store(after, std::memory_order_relaxed);
  Access<Shared>::unlock(node);
}

}  // namespace zermelo
