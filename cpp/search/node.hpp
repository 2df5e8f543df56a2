// One node of the search tree and the edges of one position, as they lie in memory. How nodes are
// made, found and shared between threads is tree.hpp's.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/types.hpp"
#include "search/arena.hpp"

namespace zermelo {

// A prior in 13 bits: 5 of exponent, 8 of mantissa; 2^-31 to 1, rounded to nearest; 0 is 0.
// `stored_prior` in reference/puct.py is the same.
inline constexpr std::uint32_t kPriorBase = 96u << 23;
inline std::uint16_t encode_prior(double probability) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(probability)) + (1u << 14);
  return bits < kPriorBase ? 0 : static_cast<std::uint16_t>((bits - kPriorBase) >> 15);
}
inline double decode_prior(std::uint32_t code) {
  const float value = std::bit_cast<float>((code << 15) + kPriorBase);
  return code == 0 ? 0.0 : value;
}

// ln p of a prior; one that is too small to keep counts as the next power of two.
inline constexpr double kLeastPrior = 0x1p-32;
inline double log_prior(double prior) { return std::log(std::max(prior, kLeastPrior)); }
// The same by code: a node's priors are asked for at every step.
inline double log_of_code(std::uint32_t code) {
  static const std::vector<double> table = [] {
    std::vector<double> logs(1 << 13);
    for (std::uint32_t c = 0; c < logs.size(); ++c) logs[c] = log_prior(decode_prior(c));
    return logs;
  }();
  return table[code];
}

// Sums over a position's priors.
struct PriorSums {
  double logs = 0;     // p ln p
  double squares = 0;  // p^2
  void add(double prior, double log) {
    logs += prior * log;
    squares += prior * prior;
  }
};

struct Edge {
  Action action;
  std::uint16_t prior;  // encode_prior()
};

// A proven result for the player who chose a node, `distance` plies away; or nothing.
enum class Proof : std::uint16_t { kNone, kLoss, kDraw, kWin };

struct Certain {
  Proof proof = Proof::kNone;
  int distance = 0;
  explicit operator bool() const { return proof != Proof::kNone; }
  int result() const { return static_cast<int>(proof) - 2; }
};

// Whether `a` is what a player would rather choose: wins soon, losses late.
constexpr bool better_certain(Certain a, Certain b) {
  if (a.proof != b.proof) return a.proof > b.proof;
  return a.proof == Proof::kWin ? a.distance < b.distance : a.distance > b.distance;
}

constexpr Proof flipped(Proof proof) {
  if (proof == Proof::kWin) return Proof::kLoss;
  return proof == Proof::kLoss ? Proof::kWin : proof;
}

struct Node {
  // Atomic during a search. `value_sum` is for the player who chose this node (at the root: who
  // moves there); `in_flight` counts descents below that are not backed up yet (S4).
  std::atomic<double> value_sum{0.0};
  std::atomic<std::uint32_t> visits{0};
  std::atomic<BlockIndex> edges{0};        // edge block; 0 until the position is expanded
  std::atomic<BlockIndex> first_chunk{0};  // children
  std::atomic<BlockIndex> next_chunk{0};   // in the first node of a chunk: the parent's next chunk
  std::atomic<std::uint16_t> num_children{0};
  std::uint16_t prior = 0;  // constant after creation: encode_prior() of the network's prior
  std::atomic<std::uint16_t> status{0};
  std::atomic<std::uint16_t> in_flight{0};

  // Status bits: proof and distance, then flags.
  static constexpr std::uint16_t kProofMask = 0x3;
  static constexpr std::uint16_t kMaxDistance = 0x3FF;
  static constexpr std::uint16_t kLocked = 1u << 12;   // a child is being added
  static constexpr std::uint16_t kClaimed = 1u << 13;  // its position is being evaluated
  static constexpr std::uint16_t kExtended =
      1u << 14;  // only one action; never evaluated itself (S12)

  bool expanded() const { return edges.load(std::memory_order_acquire) != 0; }
  Certain certain() const {
    const unsigned bits = status.load(std::memory_order_relaxed);
    return {static_cast<Proof>(bits & kProofMask), static_cast<int>(bits >> 2 & kMaxDistance)};
  }
};
static_assert(sizeof(Node) == 32, "two nodes to a cache line");

// What some options keep of a node beside it; only the nodes of an annexed arena have one.
struct alignas(32) Annex {
  std::atomic<double> squares{0.0};  // S23, S24: sum of the squares of the values backed up
  std::atomic<double> own_sum{0.0};  // S25: values of visits that ended here, for who moves here
  std::atomic<double> plies{0.0};    // S10: sum of the plies left that were backed up
  // S29: for a win of the first and of the second player; see ending.hpp.
  std::atomic<std::uint32_t> proofs[2] = {1, 1};
};
static_assert(sizeof(Annex) == sizeof(Node));

inline Annex& annex_of(Node& node) {
  return *reinterpret_cast<Annex*>(reinterpret_cast<std::byte*>(&node) +
                                   Arena<sizeof(Node)>::kSegmentBytes);
}
inline const Annex& annex_of(const Node& node) { return annex_of(const_cast<Node&>(node)); }

// The edges of a position, best prior first, in 3 bytes each (11 bits of action, 13 of prior) or,
// in games with more than 2,048 actions, in 4 (16 and 13).
class EdgeBlock {
 public:
  std::uint16_t count;
  std::uint16_t edge_bytes;

  Edge get(std::size_t i) const {
    std::uint32_t bits;
    std::memcpy(&bits, data() + i * edge_bytes, sizeof(bits));  // may read a byte of padding
    if (edge_bytes == 4)
      return {static_cast<Action>(bits & 0xFFFF), static_cast<std::uint16_t>(bits >> 16)};
    return {static_cast<Action>(bits & 0x7FF), static_cast<std::uint16_t>(bits >> 11 & 0x1FFF)};
  }
  void set(std::size_t i, Edge edge) {
    const std::uint32_t bits = edge_bytes == 4 ? edge.action | std::uint32_t{edge.prior} << 16
                                               : edge.action | std::uint32_t{edge.prior} << 11;
    std::memcpy(data() + i * edge_bytes, &bits, edge_bytes);
  }

  static constexpr int kMostNarrowActions = 2048;

 private:
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(this + 1); }
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(EdgeBlock) == 4);

}  // namespace zermelo
