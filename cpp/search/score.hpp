// What selection compares: Q + U of the children of one node, and the options' part in it. S2 and
// S27 (PUCT), S3 and S26 (first play), S4 and S22 (descents in flight), S17 (search lab), S24
// (spread), S28 (impurity). Knows nodes, not rules of the root.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "search/options.hpp"
#include "search/tree.hpp"

namespace zermelo {

inline constexpr int kNoChild = -1;

// What selection needs of the options.
struct SelectConstants {
  explicit SelectConstants(const SearchOptions& o)
      : options(o),
        lab(o.prior_compression > 0 || o.branching_power > 0),
        virtual_visits(static_cast<double>(o.virtual_loss)),
        virtual_losses(o.waits_as_loss() ? virtual_visits : 0.0),
        wants_sums(o.fpu_at(false) == Fpu::kImputed || o.impurity_slope > 0),
        annexed(o.annexed()),
        ending(o.hurried() || o.proof_guided()),
        refined(lab || !o.waits_as_loss() || wants_sums || o.spread_weight > 0 || ending) {}
  // S10, S11: a certain result so many plies away, for a player to whom a draw is worth `draw`.
  double certain_value(Certain certain, double draw) const {
    if (certain.proof == Proof::kDraw) return draw;
    if (certain.distance == 0) return certain.result();
    return certain.result() * std::pow(options.turn_discount, certain.distance);
  }
  // c * sqrt(total): what a prior is multiplied with before the division by 1 + visits.
  double scale(double total, bool is_root) const {
    double c = options.c_puct;
    double factor = options.c_puct_factor;
    if (is_root) {  // S27
      if (options.c_puct_root > 0) c = options.c_puct_root;
      if (options.c_puct_factor_root >= 0) factor = options.c_puct_factor_root;
    }
    if (factor != 0) c += factor * std::log((total + options.c_puct_base) / options.c_puct_base);
    return c * std::sqrt(total);
  }
  // S28: more exploration where the prior is sure of itself.
  double impurity_factor(const PriorSums& sums) const {
    return std::min(
        options.impurity_most,
        options.impurity_base - options.impurity_slope * std::log(1.0 - sums.squares + 0.001));
  }

  const SearchOptions& options;
  bool lab;
  double virtual_visits;  // what a descent in flight counts in N and U (S4) ...
  double virtual_losses;  // ... and in Q, as losses; 0 with virtual visits (S22)
  bool wants_sums;        // selection below the root asks for sums over the priors
  bool annexed;           // nodes have an annex
  bool ending;            // scores know how far the end is (ending.hpp)
  bool refined;           // an option is on that the plain selection does not know
};

// The children of one node as columns, so that their scores are computed side by side. Q is
// numerator / denominator: sum and visits, virtual loss counted in (each descent in flight looks
// like a lost visit, S4, or does not count in Q, S22); a fixed number over 1 where the value is
// certain or not known.
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

// Fills the columns but `prior` at `i`; returns the child's visits. What is not `Refined` knows
// descents in flight as losses only. `draw` is what a draw is worth to who chooses the child.
template <bool Refined>
[[gnu::always_inline]] inline double load_child(const SelectConstants& constants, const Node& node,
                                                std::size_t i, double draw,
                                                SelectScratch& scratch) {
  const double in_flight = node.in_flight.load(std::memory_order_relaxed);
  const double waiting = constants.virtual_visits * in_flight;
  const double lost = Refined ? constants.virtual_losses * in_flight : waiting;
  const double made = node.visits.load(std::memory_order_relaxed);
  const double visits = made + waiting;
  scratch.visits[i] = visits;
  scratch.numerator[i] = node.value_sum.load(std::memory_order_relaxed) - lost;
  scratch.denominator[i] = made + lost;
  if (const Certain certain = node.certain()) {
    // S11: a certain loss is not searched again.
    scratch.numerator[i] = certain.proof == Proof::kLoss ? -std::numeric_limits<double>::infinity()
                                                         : constants.certain_value(certain, draw);
    scratch.denominator[i] = 1.0;
  } else if (made + lost == 0) {
    scratch.unvisited.push_back(static_cast<std::uint32_t>(i));
    scratch.denominator[i] = 1.0;
  }
  return visits;
}

// S23, S24: variance of the values backed up at a node that has an annex; `spread_prior_visits`
// more count as if they had the deviation that is expected.
inline double value_variance(const SearchOptions& options, const Node& node) {
  const double visits = node.visits.load(std::memory_order_relaxed);
  const double expected = options.spread_prior * options.spread_prior;
  const double weight = visits + options.spread_prior_visits;
  if (weight <= 0) return expected;
  const double q = visits > 0 ? node.value_sum.load(std::memory_order_relaxed) / visits : 0.0;
  const double squares = annex_of(node).squares.load(std::memory_order_relaxed);
  const double seen = std::max(0.0, squares - visits * q * q);
  return (seen + options.spread_prior_visits * expected) / weight;
}

// S24: more exploration where values differ; 1 if it is off.
inline double spread_factor(const SearchOptions& options, const Node& node) {
  if (options.spread_weight <= 0) return 1.0;
  const double sigma = std::sqrt(value_variance(options, node));
  return 1.0 + options.spread_weight * (sigma / options.spread_prior - 1.0);
}

// Where selection stands, as far as it is not in the node.
struct Standpoint {
  int depth = 1;  // 1 = root
  Player mover{};
  bool mover_is_chooser = true;  // who moves there also chose the node
  bool full = false;             // in a full search of self-play
  double draw = 0;               // what a draw is worth to who moves there
};

// S3: what an action is worth that was never tried.
struct FirstPlay {
  double value = 0;
  double slope = 0;   // S26: its prior moves the value, by so much for each unit of ln p ...
  double middle = 0;  // ... above this

  double at(double prior) const {
    if (slope == 0) return value;
    return std::clamp(value + slope * (log_prior(prior) - middle), -1.0, 1.0);
  }
};

inline PriorSums edge_sums(const EdgeBlock& edges) {
  PriorSums sums;
  for (std::size_t i = 0; i < edges.count; ++i) {
    const std::uint16_t code = edges.get(i).prior;
    sums.add(decode_prior(code), log_of_code(code));
  }
  return sums;
}

// S2: the first child with the best Q + U, its score in `best_score`; kNoChild if all are lost.
inline int best_score_index(SelectScratch& scratch, std::size_t children, double scale,
                            const FirstPlay& first_play, double& best_score) {
  for (const std::uint32_t i : scratch.unvisited) {
    scratch.numerator[i] = first_play.at(scratch.prior[i]);
  }
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

// Mean value of a node for the player who moves there.
inline double mean_for_mover(const Node& node, bool mover_is_chooser) {
  const double visits = node.visits.load(std::memory_order_relaxed);
  const double mean = visits > 0 ? node.value_sum.load(std::memory_order_relaxed) / visits : 0.0;
  return mover_is_chooser ? mean : -mean;
}

// S3. `visited_mass` is the prior mass of the actions tried so far.
inline FirstPlay first_play_urgency(const SelectConstants& constants, const Node& node,
                                    bool is_root, bool mover_is_chooser, double visited_mass,
                                    const PriorSums& sums) {
  const Fpu rule = constants.options.fpu_at(is_root);
  if (rule == Fpu::kZero) return {0.0};
  if (rule == Fpu::kLoss) return {-1.0};
  const double parent = mean_for_mover(node, mover_is_chooser);
  if (rule == Fpu::kParent) return {parent};
  if (rule == Fpu::kImputed) return {parent, constants.options.fpu_slope, sums.logs};
  return {parent - constants.options.fpu_reduction * std::sqrt(visited_mass)};
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

}  // namespace zermelo
