// Keeping a tree from one move to the next: a new root (S5), and older evidence counting less (S8).
// No thread may be searching the tree meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "search/tree.hpp"

namespace zermelo {

// S5: the child of edge `index` becomes the root; everything else is freed. Returns the new root.
// `flips` tells whether another player moves there: the root's values are for its own mover.
inline BlockIndex advance_root(NodeAllocator& allocator, BlockIndex root, std::size_t index,
                               bool flips) {
  NodePool& pool = allocator.pool();
  Node& old = *pool.node(root);
  const BlockIndex fresh = allocator.make_root();
  Node& node = *pool.node(fresh);
  // A child without edges is a leaf or was forgotten (S8): the new root begins afresh.
  if (index < old.num_children.load() && child_at(pool, old, index)->expanded()) {
    Node& child = *child_at(pool, old, index);
    const double sum = child.value_sum.load();
    node.value_sum = flips ? -sum : sum;
    node.visits = child.visits.load();
    node.edges = child.edges.exchange(0);
    node.first_chunk = child.first_chunk.exchange(0);
    node.num_children = child.num_children.exchange(0);
    node.status = child.status.load();
    if (pool.annexed) {
      annex_of(node).squares = annex_of(child).squares.load();
      annex_of(node).own_sum = annex_of(child).own_sum.load();
      annex_of(node).plies = annex_of(child).plies.load();
    }
    const Certain certain = child.certain();
    if (certain && flips) {
      Access<false>::set_certain(node, {flipped(certain.proof), certain.distance});
    }
  }
  allocator.free_root(root);
  return fresh;
}

// S8: scales the visits of every node below the root by `keep`, Q unchanged. Visits stay whole and
// a parent keeps one visit more than its children together, so the share of a node is handed out to
// its children in edge order, rounding errors carried on. A node whose share is 0 is forgotten.
inline void discount_tree(NodeAllocator& allocator, BlockIndex root, double keep) {
  NodePool& pool = allocator.pool();
  struct Task {
    Node* node;
    std::uint32_t children_visits;  // what its children get together
  };
  Node& top = *pool.node(root);
  const auto set_visits = [&](Node& node, std::uint32_t visits) {
    const std::uint32_t before = node.visits.load();
    const auto scale = [&](std::atomic<double>& sum) { sum = sum.load() * visits / before; };
    if (before > 0) scale(node.value_sum);
    if (before > 0 && pool.annexed) {
      scale(annex_of(node).squares);
      scale(annex_of(node).plies);
    }
    node.visits = visits;
  };
  const auto children_sum = [&](const Node& node) {
    std::uint32_t sum = 0;
    ChildCursor cursor(pool, node);
    for (std::size_t i = 0; i < node.num_children.load(); ++i, cursor.next()) {
      sum += cursor.get()->visits.load();
    }
    return sum;
  };
  const std::uint32_t before = children_sum(top);
  const auto after = static_cast<std::uint32_t>(keep * before);
  set_visits(top, top.visits.load() - before + after);
  std::vector<Task> tasks = {{&top, after}};
  while (!tasks.empty()) {
    const auto [node, share] = tasks.back();
    tasks.pop_back();
    const double sum = children_sum(*node);
    double seen = 0;
    std::uint32_t given = 0;
    ChildCursor cursor(pool, *node);
    for (std::size_t i = 0; i < node->num_children.load(); ++i, cursor.next()) {
      Node& child = *cursor.get();
      const std::uint32_t visits = child.visits.load();
      seen += visits;
      const auto upto = sum > 0 ? static_cast<std::uint32_t>(share * seen / sum) : 0;
      const std::uint32_t mine = upto - given;
      given = upto;
      if (mine == 0) {
        const Certain proof = child.certain();  // a proof stays
        allocator.free_below(child);
        child.visits = 0;
        child.value_sum = 0.0;
        child.status = 0;
        if (pool.annexed) new (&annex_of(child)) Annex();
        if (proof) Access<false>::set_certain(child, proof);
      } else {
        // Visits that were its own: one evaluation, none for the nodes of a chain (S12).
        const std::uint32_t own = visits - children_sum(child);
        if (pool.annexed && mine < own) {
          annex_of(child).own_sum = annex_of(child).own_sum.load() * mine / own;
        }
        set_visits(child, mine);
        if (child.expanded()) tasks.push_back({&child, mine > own ? mine - own : 0});
      }
    }
  }
}

}  // namespace zermelo
