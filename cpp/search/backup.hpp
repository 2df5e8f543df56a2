// Steps 2 and 4 of a simulation: giving a position its edges, and carrying a value back to the
// root. S1 (statistics), S10 (turn discount, plies left), S11 (certainty), S17 (slower averaging),
// S23 and S24 (squares). S25's value is regularise.hpp's, S29's numbers are ending.hpp's.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/exp.hpp"
#include "search/ending.hpp"
#include "search/regularise.hpp"
#include "search/select.hpp"
#include "search/tree.hpp"

namespace zermelo {

// The way from the root to a leaf. players[i] moves at nodes[i].
struct Path {
  std::vector<Node*> nodes;
  std::vector<Player> players;
  int root_action = kNoChild;  // index of the root's action
  bool forced = false;         // S9

  void clear() {
    nodes.clear();
    players.clear();
    root_action = kNoChild;
    forced = false;
  }
  void push(Node* node, Player player) {
    nodes.push_back(node);
    players.push_back(player);
  }
  // What a draw is worth to `player`, if it is worth `score` to who moves at the root.
  double draw_for(Player player, double score) const {
    return player == players[0] ? score : -score;
  }
  // Who chose nodes[depth]; the root counts as chosen by its own mover.
  Player chooser(std::size_t depth) const { return players[depth > 0 ? depth - 1 : 0]; }
};

// Priors of the legal actions, in their order: softmax of the logits, in 13 bits.
inline void softmax_priors(std::span<const float> logits, double temperature,
                           std::vector<double>& weights, std::vector<std::uint16_t>& priors) {
  const std::size_t n = logits.size();
  priors.resize(n);
  const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
  if (*low == *high) {
    std::fill(priors.begin(), priors.end(), encode_prior(1.0 / static_cast<double>(n)));
    return;
  }
  const double largest = *high;
  weights.resize(n);
  for (std::size_t i = 0; i < n; ++i) weights[i] = logits[i] - largest;
  if (temperature != 1.0) {
    for (double& x : weights) x /= temperature;
  }
  for (double& x : weights) x = portable_exp(x);
  double total = 0;
  for (const double weight : weights) total += weight;
  for (std::size_t i = 0; i < n; ++i) priors[i] = encode_prior(weights[i] / total);
}

inline constexpr std::size_t kRanked = 64;

// Edges, best prior first; equal priors keep the order of the actions.
inline void sorted_edges(std::span<const Action> actions, std::span<const std::uint16_t> priors,
                         std::vector<std::uint32_t>& keys, std::vector<Edge>& edges) {
  const std::size_t n = actions.size();
  edges.resize(n);
  const bool sorted = std::is_sorted(priors.begin(), priors.end(), std::greater<>());
  if (sorted) {
    for (std::size_t i = 0; i < n; ++i) edges[i] = {actions[i], priors[i]};
    return;
  }
  const auto key = [&](std::size_t i) {
    return std::uint32_t{priors[i]} << 16 | static_cast<std::uint32_t>(0xFFFF - i);
  };
  if (n <= kRanked) {
    // No two keys are equal, so an edge's place is the number of larger keys: counted side by side,
    // which for so few is several times as quick as sorting. Keys are below 2^29.
    std::int32_t all[kRanked];
    std::int32_t places[kRanked] = {};
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::int32_t>(key(i));
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) places[i] += all[j] > all[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      edges[static_cast<std::size_t>(places[i])] = {actions[i], priors[i]};
    }
    return;
  }
  keys.resize(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = key(i);
  std::sort(keys.begin(), keys.end(), std::greater<>());
  for (std::size_t i = 0; i < n; ++i) {
    edges[i] = {actions[0xFFFF - (keys[i] & 0xFFFF)], static_cast<std::uint16_t>(keys[i] >> 16)};
  }
}

// S11: makes `node` certain when its children say so. Children's results are for the player who
// moves at `node`; `flips` tells whether another player chose `node`. Returns whether it is
// certain.
template <bool Shared>
bool prove(const NodePool& pool, Node& node, bool flips) {
  const std::size_t children = node.num_children.load(std::memory_order_acquire);
  Certain best;
  bool all = children == pool.edges_of(node)->count;
  for_each_child(pool, node, children, [&](std::size_t, const Node& child) {
    const Certain certain = child.certain();
    if (!certain) all = false;
    if (certain && better_certain(certain, best)) best = certain;
  });
  if (best.proof != Proof::kWin && !all) return false;
  ++best.distance;
  if (flips) best.proof = flipped(best.proof);
  // Another thread may have found a better way to the same result.
  const Certain known = node.certain();
  const bool mover_wins = (best.proof == Proof::kWin) != flips;
  const bool worse = mover_wins ? known.distance <= best.distance : known.distance >= best.distance;
  if (!Shared || known.proof != best.proof || !worse) Access<Shared>::set_certain(node, best);
  return true;
}

// S17: gamma < 1 lets newer values count more; the sum is kept as mean * visits.
template <bool Shared>
void add_value(Node& node, double value, double gamma) {
  const double visits = node.visits.load(std::memory_order_relaxed);
  if (gamma >= 1.0) {
    Access<Shared>::add(node.value_sum, value);
  } else {
    const double sum = node.value_sum.load(std::memory_order_relaxed);
    double q = visits > 0 ? sum / visits : 0.0;
    q += (value - q) / (visits > 0 ? std::pow(visits, gamma) + 1.0 : 1.0);
    Access<Shared>::add(node.value_sum, q * (visits + 1.0) - sum);
  }
  Access<Shared>::add(node.visits, 1);
}

// One more visit of a node. `value` is for the player who chose it, the game lasts `plies` more; a
// draw is worth `draw` to the one who moves there.
template <bool Shared>
void add_visit(const SelectConstants& constants, const NodePool& pool, Node& node, double value,
               double plies, bool mover_is_chooser, double draw) {
  if (constants.annexed) {
    if (constants.options.squared()) Access<Shared>::add(annex_of(node).squares, value * value);
    if (constants.options.hurried()) Access<Shared>::add(annex_of(node).plies, plies);
    if (constants.options.regularised()) {
      return regularise<Shared>(constants, pool, node, mover_is_chooser, 1, value, draw);
    }
  }
  add_value<Shared>(node, value, constants.options.averaging_power);
}

// What the root has to add to its own sums.
struct RootVisit {
  double value = 0;
  double plies = 0;
};

// Step 4. `value` is for the player to move at the end of the path, where the game lasts `plies`
// more, unless the leaf is certain; then that counts. Takes the path's virtual loss away. The root
// is left out: threads on one tree collect what is its, so as not to fight over its cache line.
template <bool Shared>
RootVisit backup(const SelectConstants& constants, const NodePool& pool, const Path& path,
                 double value, double plies) {
  const SearchOptions& options = constants.options;
  std::size_t depth = path.nodes.size() - 1;
  if (options.regularised()) Access<Shared>::add(annex_of(*path.nodes[depth]).own_sum, value);
  bool mover_is_chooser = path.players[depth] == path.chooser(depth);
  if (!mover_is_chooser) value = -value;
  for (;; --depth) {
    Node& node = *path.nodes[depth];
    const Certain certain = node.certain();
    if (certain) {
      const double draw = path.draw_for(path.chooser(depth), options.draw_score);
      value = constants.certain_value(certain, draw);
      plies = certain.distance;
    }
    if (depth == 0) return {value, plies};
    const double draw = path.draw_for(path.players[depth], options.draw_score);
    add_visit<Shared>(constants, pool, node, value, plies, mover_is_chooser, draw);
    if (constants.ending && options.proof_guided()) count_proofs(pool, node, path.players[depth]);
    Access<Shared>::add(node.in_flight, -1);
    value *= options.turn_discount;
    plies += 1.0;
    mover_is_chooser = path.players[depth - 1] == path.chooser(depth - 1);
    const bool flips = !mover_is_chooser;
    if (flips) value = -value;
    if (options.solver && certain) prove<Shared>(pool, *path.nodes[depth - 1], flips);
  }
}

// Undoes a descent that will not be backed up: only its virtual loss was added.
template <bool Shared>
void abandon(const Path& path) {
  for (std::size_t depth = 1; depth < path.nodes.size(); ++depth) {
    Access<Shared>::add(path.nodes[depth]->in_flight, -1);
  }
}

}  // namespace zermelo
