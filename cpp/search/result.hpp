// What a search found (S20): a table of the root's actions, the policy target, and the best action.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/exp.hpp"
#include "search/root.hpp"
#include "search/select.hpp"
#include "search/tree.hpp"
#include "search/worker.hpp"

namespace zermelo {

// One root action; values are for the player to move at the root.
struct ActionResult {
  Action action = 0;
  std::uint32_t visits = 0;
  double q = 0;      // mean value, or the certain one; 0 when never visited
  double prior = 0;  // as the search used it, noise included
  double network_prior = 0;
  bool allowed = true;
  double draw = 0;     // mean draw probability of this search's visits
  double outcome = 0;  // wins less losses: q without what draws are worth
  Certain certain;
  std::uint32_t forced = 0;  // visits owed to S9
  double gumbel = 0;
  double deviation = 0;    // S23: of the mean, if it is wanted; 0 where the value is certain
  std::vector<Action> pv;  // from this action on
};

struct SearchResult {
  std::vector<ActionResult> actions;  // best prior first
  std::uint32_t visits = 0;           // of the root
  double value = 0;                   // for the player to move
  double network_value = 0;           // what the evaluator said of the root
  Certain certain;                    // for the player to move
  Stop stop = Stop::kNo;
  SearchCounters counters;
  std::int64_t nodes = 0;  // in the tree
  std::int64_t bytes = 0;  // of the tree
  double seconds = 0;
  bool full = false;

  std::size_t best = 0;        // index of the action to play
  std::vector<double> target;  // policy target, one per action
};

// S11, S20: a certain win by the shortest way; else the most visits; else the longest loss. The
// first of equals. A move never visited is better than a certain loss.
inline std::size_t best_index(const std::vector<ActionResult>& actions) {
  const auto better = [](const ActionResult& a, const ActionResult& b) {
    if (a.allowed != b.allowed) return a.allowed;
    const auto rank = [](Proof proof) {
      return proof == Proof::kWin ? 2 : proof == Proof::kLoss ? 0 : 1;
    };
    const int ra = rank(a.certain.proof);
    const int rb = rank(b.certain.proof);
    if (ra != rb) return ra > rb;
    if (ra == 2 && a.certain.distance != b.certain.distance) {
      return a.certain.distance < b.certain.distance;
    }
    if (ra == 0 && a.certain.distance != b.certain.distance) {
      return a.certain.distance > b.certain.distance;
    }
    return a.visits > b.visits;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < actions.size(); ++i) {
    if (better(actions[i], actions[best])) best = i;
  }
  return best;
}

// S23: among the actions with enough visits the one whose value is surely the highest. Proven
// results come first, and few visits prove nothing.
inline std::size_t best_by_bound(const SearchResult& r, const SearchOptions& options) {
  std::size_t best = best_index(r.actions);
  const ActionResult& first = r.actions[best];
  const double enough =
      std::max(options.lcb_visit_share * first.visits, static_cast<double>(options.lcb_min_visits));
  const bool decided = first.certain.proof == Proof::kWin || first.certain.proof == Proof::kLoss;
  if (decided || first.visits < enough) return best;
  const auto bound = [&](const ActionResult& a) { return a.q - options.lcb_z * a.deviation; };
  for (std::size_t i = 0; i < r.actions.size(); ++i) {
    const ActionResult& a = r.actions[i];
    if (!a.allowed || a.visits < enough || a.certain.proof == Proof::kLoss) continue;
    if (bound(a) > bound(r.actions[best])) best = i;
  }
  return best;
}

// S16: an action never visited is given the mixed value, the network's for the root and the
// prior-weighted mean of the visited Q's.
inline double mixed_value(const SearchResult& r) {
  double mass = 0;
  double weighted = 0;
  double visits = 0;
  for (const ActionResult& a : r.actions) {
    visits += a.visits;
    if (a.visits == 0) continue;
    mass += a.network_prior;
    weighted += a.network_prior * a.q;
  }
  const double mean = mass > 0 ? weighted / mass : 0.0;
  return (r.network_value + visits * mean) / (1.0 + visits);
}

// S16: the improved policy, softmax(logits + sigma(completed Q)), becomes the target, and what it
// is worth the root's value: the visits' mean would count what halving spent on worse actions.
inline void improve_by_gumbel(SearchResult& r, const SearchOptions& options) {
  const double mixed = mixed_value(r);
  std::uint32_t most = 0;
  for (const ActionResult& a : r.actions) most = std::max(most, a.visits);
  std::vector<double>& target = r.target;
  double largest = -1e300;
  for (const ActionResult& a : r.actions) {
    const double q = a.visits > 0 ? a.q : mixed;
    target.push_back(a.allowed ? std::log(std::max(a.network_prior, 1e-12)) +
                                     gumbel_sigma(options, most, q)
                               : -std::numeric_limits<double>::infinity());
    largest = std::max(largest, target.back());
  }
  double total = 0;
  for (double& t : target) total += t = portable_exp(t - largest);
  double value = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] /= total;
    value += target[i] * (r.actions[i].visits > 0 ? r.actions[i].q : mixed);
  }
  if (!r.certain) r.value = value;
}

// S9, S15: visits without those that were forced. S15 takes visits from an action as long as its
// score with fewer visits stays below the best action's. `spread` is the root's factor of S24.
inline std::vector<double> visit_target(const SearchResult& r, const SelectConstants& constants,
                                        double spread) {
  const SearchOptions& options = constants.options;
  std::vector<double> target;
  double visits = 0;
  for (const ActionResult& a : r.actions) visits += a.visits;
  const double scale = constants.scale(visits, true) * spread;
  const ActionResult& best = r.actions[r.best];
  const double best_score = best.q + scale * best.prior / (1.0 + best.visits);
  for (const ActionResult& a : r.actions) {
    double n = a.allowed ? static_cast<double>(a.visits) - std::min(a.forced, a.visits) : 0.0;
    if (r.full && options.forced_playouts > 0 && &a != &best && n > 0 && !a.certain) {
      const double owed = std::sqrt(options.forced_playouts * a.prior * visits);
      // The fewest visits at which its score does not exceed the best one's.
      const double enough = best_score > a.q ? scale * a.prior / (best_score - a.q) - 1.0 : n;
      n = std::max(n - owed, std::min(n, std::ceil(enough)));
      if (n <= 1.0) n = 0;
    }
    target.push_back(n);
  }
  double total = 0;
  for (const double t : target) total += t;
  if (total <= 0) {
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (r.actions[i].allowed) total += target[i] = r.actions[i].visits;
    }
  }
  if (total <= 0) {
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (r.actions[i].allowed) total += target[i] = std::max(r.actions[i].network_prior, 1e-12);
    }
  }
  for (double& t : target) t /= total;
  return target;
}

// S16 in play: the survivor of sequential halving.
inline std::size_t best_gumbel(const SearchResult& r, const SearchOptions& options) {
  std::uint32_t most = 0;
  for (const ActionResult& a : r.actions) {
    if (a.allowed && a.certain.proof != Proof::kLoss) most = std::max(most, a.visits);
  }
  std::size_t best = best_index(r.actions);
  if (r.actions[best].certain) return best;
  double best_score = -1e300;
  for (std::size_t i = 0; i < r.actions.size(); ++i) {
    const ActionResult& a = r.actions[i];
    if (!a.allowed || a.visits != most || a.certain.proof == Proof::kLoss) continue;
    const double score = a.gumbel + gumbel_sigma(options, most, a.q);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

// The line both sides would play below `node`: certain wins first, then most visits.
inline void append_pv(const NodePool& pool, const Node* node, std::vector<Action>& pv) {
  while (node->expanded() && pv.size() < 128) {
    const std::size_t children = node->num_children.load();
    const Node* best = nullptr;
    Action action = 0;
    int best_rank = 0;
    double best_score = 0;
    ChildCursor cursor(pool, *node);
    for (std::size_t i = 0; i < children; ++i, cursor.next()) {
      const Node& child = *cursor.get();
      const Certain certain = child.certain();
      if (child.visits.load() == 0) continue;
      const int rank = certain.proof == Proof::kWin ? 2 : certain.proof == Proof::kLoss ? 0 : 1;
      const double score = rank == 1   ? child.visits.load()
                           : rank == 2 ? -certain.distance
                                       : certain.distance;
      if (best && (rank < best_rank || (rank == best_rank && score <= best_score))) continue;
      best = &child;
      best_rank = rank;
      best_score = score;
      action = pool.edges_of(*node)->get(i).action;
    }
    if (!best) return;
    pv.push_back(action);
    node = best;
  }
}

// Reads the table off a finished search.
template <Game G>
SearchResult read_result(const NodePool& pool, const Tree<G>& tree, const SearchOptions& options) {
  SearchResult r;
  const SelectConstants constants(options);
  const Node& root = *pool.node(tree.root);
  r.visits = root.visits.load();
  r.certain = root_certain(pool, root, tree.table);
  r.full = tree.table.full;
  r.value = r.certain ? constants.certain_value(r.certain, options.draw_score)
                      : (r.visits > 0 ? root.value_sum.load() / r.visits : 0.0);
  // What the root's sum holds beyond its children's backups.
  double own = root.value_sum.load();
  std::uint32_t own_visits = r.visits;
  for_each_child(pool, root, tree.table.actions.size(), [&](std::size_t, const Node& child) {
    own -= options.turn_discount * child.value_sum.load();
    own_visits -= child.visits.load();
  });
  if (options.regularised()) own = annex_of(root).own_sum.load();
  r.network_value = own_visits == 1 ? std::clamp(own, -1.0, 1.0) : r.value;
  ChildCursor cursor(pool, root);
  for (const RootAction& row : tree.table.actions) {
    const Node& child = *cursor.get();
    ActionResult a;
    a.action = row.action;
    a.visits = child.visits.load();
    a.certain = child.certain();
    if (a.certain || a.visits > 0)
      a.q = a.certain ? constants.certain_value(a.certain, options.draw_score)
                      : child.value_sum.load() / a.visits;
    if (options.lcb_z > 0 && a.visits > 0 && !a.certain) {
      a.deviation = std::sqrt(value_variance(options, child) / a.visits);
    }
    a.prior = row.prior;
    a.network_prior = row.network_prior;
    a.allowed = row.allowed;
    a.forced = row.forced.load();
    a.gumbel = row.gumbel;
    const std::uint32_t backups = row.backups.load();
    a.draw = a.certain     ? a.certain.proof == Proof::kDraw
             : backups > 0 ? row.draw_sum.load() / backups
                           : std::max(0.0, 1.0 - std::abs(a.q));
    a.outcome = std::clamp(a.q - options.draw_score * a.draw, -1.0, 1.0);
    a.draw = std::clamp(a.draw, 0.0, 1.0 - std::abs(a.outcome));
    a.pv.push_back(row.action);
    append_pv(pool, &child, a.pv);
    r.actions.push_back(std::move(a));
    cursor.next();
  }
  if (!r.actions.empty()) {
    if (tree.table.restricted && !r.certain) r.value = r.actions[best_index(r.actions)].q;
    const bool bounded = options.lcb_z > 0 && !r.full;
    r.best = options.gumbel ? best_gumbel(r, options)
             : bounded      ? best_by_bound(r, options)
                            : best_index(r.actions);
    if (options.gumbel) {
      improve_by_gumbel(r, options);
    } else {
      r.target = visit_target(r, constants, spread_factor(options, root));
    }
  }
  return r;
}

}  // namespace zermelo
