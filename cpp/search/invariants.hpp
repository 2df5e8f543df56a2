// What is true of every tree when no search is running.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "games/game.hpp"
#include "search/tree.hpp"

namespace zermelo {

// Throws std::logic_error with what is broken: it would be a mistake of the search.
template <Game G>
void check_tree(const NodePool& pool, BlockIndex root, std::int64_t nodes_in_use) {
  const auto fail_if = [](bool broken, const char* what) {
    if (broken) throw std::logic_error(what);
  };
  std::int64_t nodes = 1;
  std::vector<const Node*> stack = {pool.node(root)};
  while (!stack.empty()) {
    const Node& node = *stack.back();
    stack.pop_back();
    const std::uint32_t visits = node.visits.load();
    fail_if(node.in_flight.load() != 0, "virtual loss is left");
    fail_if(node.status.load() & (Node::kClaimed | Node::kLocked), "a claim or lock is left");
    fail_if(std::abs(node.value_sum.load()) > visits * (1 + 1e-9) + 1e-9, "|Q| exceeds 1");
    if (!node.expanded()) {
      fail_if(node.num_children.load() != 0, "a leaf has children");
      continue;
    }
    const EdgeBlock* edges = pool.edges_of(node);
    double mass = 0;
    for (std::size_t i = 0; i < edges->count; ++i) mass += decode_prior(edges->get(i).prior);
    fail_if(std::abs(mass - 1.0) > 3e-3, "priors do not sum to 1");
    std::uint64_t sum = 0;
    ChildCursor cursor(pool, node);
    const std::size_t children = node.num_children.load();
    for (std::size_t i = 0; i < children; ++i, cursor.next()) {
      sum += cursor.get()->visits.load();
      stack.push_back(cursor.get());
      fail_if(cursor.get()->prior != edges->get(i).prior, "a child does not belong to its edge");
    }
    nodes += static_cast<std::int64_t>(children);
    const bool extended = node.status.load() & Node::kExtended;
    // A certain node is also visited for itself, and a repetition before it was expanded.
    const bool exact = !node.certain() && !RepeatingGame<G>;
    fail_if(sum + (extended ? 0 : 1) > visits && visits > 0, "children have too many visits");
    fail_if(exact && visits > 0 && sum + (extended ? 0 : 1) != visits, "visits do not add up");
  }
  fail_if(nodes != nodes_in_use, "nodes in use are not the nodes of the tree");
}

}  // namespace zermelo
