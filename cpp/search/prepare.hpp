// Makes an expanded root ready for a search: a node for every action, noise, the budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "search/board.hpp"
#include "search/options.hpp"
#include "search/root.hpp"
#include "search/tree.hpp"

namespace zermelo {

struct RootRequest {
  std::int64_t simulations = 0;
  bool full = false;                  // a full search of self-play: with noise
  bool reused = false;                // the root's subtree was searched before
  std::span<const Action> allowed{};  // empty: all
};

template <Game G>
void prepare_root(NodeAllocator& allocator, Tree<G>& tree, const SearchOptions& options,
                  const RootRequest& request, Random& random) {
  NodePool& pool = allocator.pool();
  Node& root = *pool.node(tree.root);
  const EdgeBlock* edges = pool.edges_of(root);
  while (root.num_children.load() < edges->count) {
    allocator.add_child(root, edges->get(root.num_children.load()).prior);
  }
  RootTable& table = tree.table;
  const auto allowed = request.allowed;
  table.full = request.full;
  table.restricted = !allowed.empty();
  table.actions = std::vector<RootAction>(edges->count);
  for (std::size_t i = 0; i < edges->count; ++i) {
    RootAction& a = table.actions[i];
    a.action = edges->get(i).action;
    a.network_prior = a.prior = decode_prior(edges->get(i).prior);
    a.allowed =
        allowed.empty() || std::find(allowed.begin(), allowed.end(), a.action) != allowed.end();
  }
  temper_root(table, options);
  const bool noisy =
      request.full && options.dirichlet_epsilon > 0 && (!request.reused || options.renoise);
  if (noisy && !options.gumbel) add_noise(table, options, random);
  table.sums = {};
  for (const RootAction& a : table.actions) table.sums.add(a.prior, log_prior(a.prior));
  if (options.gumbel) start_gumbel(table, options, request.simulations, random);
  tree.budget.store(request.simulations);
  tree.settling.begin(pool, root, options);
}

}  // namespace zermelo
