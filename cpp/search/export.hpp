// A search tree as a list of nodes, and one node with its actions, to be shown or stored. Only
// while no search is running, or from its poll.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/options.hpp"
#include "search/select.hpp"
#include "search/tree.hpp"

namespace zermelo {

// One node of an exported tree; values as in Node.
struct ExportedNode {
  int id = 0;
  int parent = -1;
  Action action = 0;
  int depth = 0;
  std::uint32_t visits = 0;
  double q = 0;
  double prior = 0;
  Certain certain;
};

// Every node down to `max_depth` with at least `min_visits` visits, parents first.
inline std::vector<ExportedNode> export_tree(const NodePool& pool, BlockIndex root,
                                             const SearchOptions& options, int max_depth,
                                             std::uint32_t min_visits) {
  std::vector<ExportedNode> out;
  const SelectConstants constants(options);
  std::vector<const Node*> nodes;
  const auto add = [&](const Node& node, int parent, Action action, int depth) {
    ExportedNode e;
    e.id = static_cast<int>(out.size());
    e.parent = parent;
    e.action = action;
    e.depth = depth;
    e.visits = node.visits.load();
    e.certain = node.certain();
    // Who chose the node is not known here, so a draw that is worth something is the mean's.
    const bool scored = e.certain.proof == Proof::kDraw && options.draw_score != 0;
    e.q = e.certain && !scored ? constants.certain_value(e.certain, 0.0)
                               : (e.visits > 0 ? node.value_sum.load() / e.visits : 0.0);
    e.prior = depth == 0 ? 1.0 : decode_prior(node.prior);
    out.push_back(e);
    nodes.push_back(&node);
  };
  add(*pool.node(root), -1, 0, 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Node& node = *nodes[i];
    const int depth = out[i].depth;
    if (depth >= max_depth || !node.expanded()) continue;
    ChildCursor cursor(pool, node);
    const std::size_t children = node.num_children.load();
    for (std::size_t c = 0; c < children; ++c, cursor.next()) {
      if (cursor.get()->visits.load() < std::max(1u, min_visits)) continue;
      add(*cursor.get(), static_cast<int>(i), pool.edges_of(node)->get(c).action, depth + 1);
    }
  }
  return out;
}

// One action of a node, visited or not, as selection sees it: Q + U decides.
struct ExportedChild {
  Action action = 0;
  std::uint32_t visits = 0;
  double q = 0;  // for the player who chooses it; the first-play value where it was not visited
  double u = 0;
  double prior = 0;
  Certain certain;
};

// A node with all its actions; `chosen` is the index with the best Q + U, -1 if there is none.
struct ExportedPlace {
  std::uint32_t visits = 0;
  std::vector<ExportedChild> children;
  int chosen = -1;
};

// `table` is the root's, null below it. Forced visits, Gumbel, the search lab and what draws to the
// end (ending.hpp) are left out.
inline ExportedPlace export_place(const NodePool& pool, const Node& node, const RootTable* table,
                                  const SearchOptions& options, const Standpoint& at) {
  ExportedPlace place;
  place.visits = node.visits.load();
  if (!node.expanded()) return place;
  const SelectConstants constants(options);
  const EdgeBlock* edges = pool.edges_of(node);
  const std::size_t made = node.num_children.load();
  double total = 0;
  double mass = 0;
  ChildCursor cursor(pool, node);
  for (std::size_t i = 0; i < edges->count; ++i) {
    ExportedChild child;
    child.action = edges->get(i).action;
    child.prior = decode_prior(edges->get(i).prior);
    if (table != nullptr && i < table->actions.size()) child.prior = table->actions[i].prior;
    if (i < made) {
      const Node& below = *cursor.get();
      child.visits = below.visits.load();
      child.certain = below.certain();
      if (child.certain) {
        child.q = constants.certain_value(child.certain, at.draw);
      } else if (child.visits > 0) {
        child.q = below.value_sum.load() / child.visits;
      }
      cursor.next();
    }
    total += child.visits;
    if (child.visits > 0) mass += child.prior;
    place.children.push_back(child);
  }
  const bool searched = table != nullptr && !table->actions.empty();
  const PriorSums sums = searched ? table->sums : edge_sums(*edges);
  double scale = constants.scale(total, table != nullptr) * spread_factor(options, node);
  if (options.impurity_slope > 0 && !at.full) scale *= constants.impurity_factor(sums);
  const FirstPlay first_play =
      first_play_urgency(constants, node, table != nullptr, at.mover_is_chooser, mass, sums);
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    ExportedChild& child = place.children[i];
    if (child.visits == 0 && !child.certain) child.q = first_play.at(child.prior);
    child.u = scale * child.prior / (1.0 + child.visits);
    const bool allowed =
        table == nullptr || i >= table->actions.size() || table->actions[i].allowed;
    if (!allowed || child.certain.proof == Proof::kLoss || child.q + child.u <= best) continue;
    best = child.q + child.u;
    place.chosen = static_cast<int>(i);
  }
  return place;
}

}  // namespace zermelo
