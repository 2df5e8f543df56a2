// A search tree as a list of nodes, to be shown or stored. Only while no search is running.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    e.q = e.certain ? constants.certain_value(e.certain)
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

}  // namespace zermelo
