// What draws a search to the end of the game: proof numbers (S29), and plies left as the network
// guesses them (S10). Both are kept in a node's annex, and only change what selection compares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/types.hpp"
#include "search/score.hpp"
#include "search/tree.hpp"

namespace zermelo {

// S29: a win that cannot be.
inline constexpr std::uint32_t kNever = 0xFFFFFFFF;

// S29: how many unknown positions must at least be won to prove that `winner` wins from `child`;
// `mover` moves at its parent.
inline std::uint32_t proof_number(const Node& child, Player mover, Player winner) {
  if (const Certain certain = child.certain()) {
    return certain.proof == (winner == mover ? Proof::kWin : Proof::kLoss) ? 0 : kNever;
  }
  return annex_of(child).proofs[static_cast<std::size_t>(winner)].load(std::memory_order_relaxed);
}

// S29: both numbers of a node anew, from its actions: the winner needs one of his own, but all of
// the other player's. An action that was never tried is one unknown position.
inline void count_proofs(const NodePool& pool, Node& node, Player mover) {
  if (node.certain() || !node.expanded()) return;
  const std::size_t children = node.num_children.load(std::memory_order_acquire);
  const std::size_t untried = pool.edges_of(node)->count - children;
  std::uint32_t least = untried > 0 ? 1 : kNever;
  std::uint64_t sum = untried;
  bool never = false;
  for_each_child(pool, node, children, [&](std::size_t, const Node& child) {
    least = std::min(least, proof_number(child, mover, mover));
    const std::uint32_t others = proof_number(child, mover, other(mover));
    never |= others == kNever;
    sum += others;
  });
  const auto all = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kNever - 1));
  auto& proofs = annex_of(node).proofs;
  proofs[static_cast<std::size_t>(mover)].store(least, std::memory_order_relaxed);
  proofs[static_cast<std::size_t>(other(mover))].store(never ? kNever : all,
                                                       std::memory_order_relaxed);
}

// S10: plies until the end, the mean of what was backed up; of a visited node.
inline double plies_left(const Node& node) {
  if (const Certain certain = node.certain()) return certain.distance;
  return annex_of(node).plies.load(std::memory_order_relaxed) /
         node.visits.load(std::memory_order_relaxed);
}

// S10: what an action with this Q gains because it ends the game `later` plies later than usual.
inline double hurry(const SearchOptions& options, double q, double later) {
  const double threshold = options.moves_left_threshold;
  const double weight = std::max(0.0, (std::abs(q) - threshold) / (1.0 - threshold));
  const double cap = options.moves_left_cap;
  const double effect = weight * std::clamp(options.moves_left_slope * later, -cap, cap);
  return q > 0 ? -effect : effect;
}

// Adds both to the Q of the tried actions. Their numerators are minus infinity where they are lost
// or not allowed.
inline void draw_to_end(const SelectConstants& constants, const NodePool& pool, const Node& node,
                        const Standpoint& at, std::size_t children, SelectScratch& scratch) {
  const SearchOptions& options = constants.options;
  const bool winning =
      options.proof_guided() && mean_for_mover(node, at.mover_is_chooser) > options.proof_threshold;
  const auto each_tried = [&](auto&& visit) {
    for_each_child(pool, node, children, [&](std::size_t i, const Node& child) {
      const bool open = scratch.numerator[i] > -std::numeric_limits<double>::infinity();
      if (open && child.visits.load(std::memory_order_relaxed) > 0) visit(i, child);
    });
  };
  std::uint32_t nearest = kNever;
  if (winning) {
    each_tried([&](std::size_t, const Node& child) {
      nearest = std::min(nearest, proof_number(child, at.mover, at.mover));
    });
  }
  const bool usual = options.hurried() && node.visits.load(std::memory_order_relaxed) > 0;
  if (!usual && nearest == kNever) return;
  const double plies = usual ? plies_left(node) : 0.0;
  each_tried([&](std::size_t i, const Node& child) {
    double q = scratch.numerator[i] / scratch.denominator[i];
    if (usual) q += hurry(options, q, 1.0 + plies_left(child) - plies);
    const std::uint32_t needed = proof_number(child, at.mover, at.mover);
    if (nearest > 0 && needed != kNever && nearest != kNever) {
      q += options.proof_weight * (static_cast<double>(nearest) / needed);
    }
    scratch.numerator[i] = q;
    scratch.denominator[i] = 1.0;
  });
}

}  // namespace zermelo
