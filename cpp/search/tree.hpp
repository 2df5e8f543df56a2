// The tree's memory layout: nodes of 32 bytes, and edges of 3 for actions not yet visited.
//
// A node is an action of its parent together with the position behind it. Expanding a position
// writes its edges (action and 13-bit prior), best prior first. An edge becomes a node only when it
// is first visited; since U grows with the prior, first visits come in edge order, so the nodes of
// a parent are a prefix of its edges: child i belongs to edge i. At the root, where noise and
// options change the order, all edges get their node at once.
//
// Children lie in chunks of 2, 2, 4, 8, ... nodes; chunks never move, so threads may hold pointers.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "search/arena.hpp"
#include "search/node.hpp"

namespace zermelo {

using NodeArena = Arena<sizeof(Node)>;
using EdgeArena = Arena<8>;

// With one byte of padding, so that get() may read four bytes at the last edge.
inline std::size_t edge_units(std::size_t count, std::size_t edge_bytes) {
  return (sizeof(EdgeBlock) + count * edge_bytes + 1 + 7) / 8;
}

// The chunks of a parent hold 2, 2, 4, 8, ... children, 256 at most: `before` is how many the
// chunks before it hold together.
inline constexpr std::size_t kFirstChunk = 2;
inline constexpr std::size_t kLastChunk = 256;
constexpr std::size_t chunk_size(std::size_t before) {
  return before == 0 ? kFirstChunk : before < kLastChunk ? before : kLastChunk;
}

// The arenas of one tree shared by threads, or of all trees of one thread.
class NodePool {
 public:
  // `annexed`: every node has an Annex.
  explicit NodePool(bool annexed = false) : annexed(annexed), nodes(annexed) {}

  Node* node(BlockIndex index) const { return reinterpret_cast<Node*>(nodes.at(index)); }
  EdgeBlock* edges_of(const Node& node) const {
    return reinterpret_cast<EdgeBlock*>(edges.at(node.edges.load(std::memory_order_acquire)));
  }

  // Forgets all nodes at once; then every allocator has to be reset too.
  void reset() {
    nodes.reset();
    edges.reset();
    node_count.store(0, std::memory_order_relaxed);
  }

  const bool annexed;
  NodeArena nodes;
  EdgeArena edges;
  std::atomic<std::int64_t> node_count{0};  // late by at most NodeAllocator::kUncounted a thread
};

// Calls visit(i, child) for the first `count` children. The next chunk is fetched while one is
// read.
template <class Visit>
[[gnu::always_inline]] inline void for_each_child(const NodePool& pool, const Node& parent,
                                                  std::size_t count, Visit&& visit) {
  if (count == 0) return;
  const Node* begin = pool.node(parent.first_chunk.load(std::memory_order_acquire));
  for (std::size_t before = 0;;) {
    const BlockIndex next = begin->next_chunk.load(std::memory_order_acquire);
    const Node* next_begin = nullptr;
    if (next != 0) {
      next_begin = pool.node(next);
      __builtin_prefetch(next_begin);
      __builtin_prefetch(next_begin + 2);
    }
    const std::size_t size = chunk_size(before);
    const std::size_t end = count - before < size ? count - before : size;
    for (std::size_t i = 0; i < end; ++i) visit(before + i, begin[i]);
    before += size;
    if (before >= count) return;
    begin = next_begin;
  }
}

// Walks the children of a node in edge order.
class ChildCursor {
 public:
  ChildCursor(const NodePool& pool, const Node& parent)
      : pool_(&pool), chunk_(parent.first_chunk.load(std::memory_order_acquire)) {
    if (chunk_ != 0) node_ = begin_ = pool.node(chunk_);
  }
  Node* get() const { return node_; }
  void next() {
    ++node_;
    if (--left_ != 0) return;
    const BlockIndex chunk = begin_->next_chunk.load(std::memory_order_acquire);
    if (chunk == 0) {
      node_ = nullptr;
      return;
    }
    before_ += size_;
    left_ = size_ = chunk_size(before_);
    node_ = begin_ = pool_->node(chunk);
  }

 private:
  const NodePool* pool_;
  BlockIndex chunk_;
  Node* begin_ = nullptr;
  Node* node_ = nullptr;
  std::size_t before_ = 0;
  std::size_t size_ = kFirstChunk;
  std::size_t left_ = kFirstChunk;
};

inline Node* child_at(const NodePool& pool, const Node& parent, std::size_t index) {
  Node* begin = pool.node(parent.first_chunk.load(std::memory_order_acquire));
  std::size_t before = 0;
  while (index >= before + chunk_size(before)) {
    before += chunk_size(before);
    begin = pool.node(begin->next_chunk.load(std::memory_order_acquire));
  }
  return begin + (index - before);
}

// How a searching thread touches nodes: alone on its trees, or with others on one tree. Alone, the
// atomics cost nothing.
template <bool Shared>
struct Access {
  template <class T, class D>
  static void add(std::atomic<T>& target, D delta) {
    if constexpr (!Shared) {
      target.store(static_cast<T>(target.load(std::memory_order_relaxed) + delta),
                   std::memory_order_relaxed);
    } else if constexpr (std::is_floating_point_v<T>) {
      T old = target.load(std::memory_order_relaxed);
      while (!target.compare_exchange_weak(old, old + delta, std::memory_order_relaxed)) {
      }
    } else {
      target.fetch_add(static_cast<T>(delta), std::memory_order_relaxed);
    }
  }

  // Sets flag bits; returns the bits before.
  static std::uint16_t set(std::atomic<std::uint16_t>& bits, std::uint16_t flags) {
    if constexpr (Shared) return bits.fetch_or(flags, std::memory_order_acquire);
    const std::uint16_t before = bits.load(std::memory_order_relaxed);
    bits.store(before | flags, std::memory_order_relaxed);
    return before;
  }
  static void clear(std::atomic<std::uint16_t>& bits, std::uint16_t flags) {
    const auto keep = static_cast<std::uint16_t>(~flags);
    if constexpr (Shared) {
      bits.fetch_and(keep, std::memory_order_release);
    } else {
      bits.store(bits.load(std::memory_order_relaxed) & keep, std::memory_order_relaxed);
    }
  }

  static void lock(Node& node) {
    if constexpr (Shared) {
      while (set(node.status, Node::kLocked) & Node::kLocked) {
      }
    }
  }
  static void unlock(Node& node) {
    if constexpr (Shared) clear(node.status, Node::kLocked);
  }

  static void set_certain(Node& node, Certain certain) {
    const int distance =
        certain.distance < Node::kMaxDistance ? certain.distance : Node::kMaxDistance;
    const auto bits = static_cast<std::uint16_t>(static_cast<unsigned>(certain.proof) |
                                                 static_cast<unsigned>(distance) << 2);
    constexpr auto kFlags =
        static_cast<std::uint16_t>(~(Node::kProofMask | Node::kMaxDistance << 2));
    std::uint16_t old = node.status.load(std::memory_order_relaxed);
    if constexpr (!Shared) {
      node.status.store(static_cast<std::uint16_t>((old & kFlags) | bits),
                        std::memory_order_relaxed);
    } else {
      while (!node.status.compare_exchange_weak(
          old, static_cast<std::uint16_t>((old & kFlags) | bits), std::memory_order_relaxed)) {
      }
    }
  }
};

// One thread's hand on a pool: makes and frees nodes. Not thread-safe itself.
class NodeAllocator {
 public:
  NodeAllocator(NodePool& pool, int num_actions)
      : pool_(&pool),
        nodes_(pool.nodes),
        edges_(pool.edges),
        edge_bytes_(num_actions <= EdgeBlock::kMostNarrowActions ? 3 : 4) {}

  NodePool& pool() const { return *pool_; }

  BlockIndex make_root() {
    const BlockIndex index = nodes_.allocate(kFirstChunk);
    make_nodes(index, kFirstChunk);
    count(1);
    return index;
  }

  // Writes an edge block and publishes it: the node counts as expanded from here on.
  void make_edges(Node& node, std::span<const Edge> edges) {
    const BlockIndex index = edges_.allocate(edge_units(edges.size(), edge_bytes_));
    auto* block = reinterpret_cast<EdgeBlock*>(pool_->edges.at(index));
    block->count = static_cast<std::uint16_t>(edges.size());
    block->edge_bytes = edge_bytes_;
    for (std::size_t i = 0; i < edges.size(); ++i) block->set(i, edges[i]);
    node.edges.store(index, std::memory_order_release);
  }

  // Appends the node of the parent's next edge and returns it. The caller holds the parent's lock.
  Node* add_child(Node& parent, std::uint16_t prior) {
    const std::size_t index = parent.num_children.load(std::memory_order_relaxed);
    std::atomic<BlockIndex>* link = &parent.first_chunk;
    std::size_t before = 0;
    while (index >= before + chunk_size(before)) {
      before += chunk_size(before);
      link = &pool_->node(link->load(std::memory_order_relaxed))->next_chunk;
    }
    BlockIndex chunk = link->load(std::memory_order_relaxed);
    if (index == before) {
      const std::size_t size = chunk_size(before);
      chunk = nodes_.allocate(size);
      make_nodes(chunk, size);
      link->store(chunk, std::memory_order_release);
    }
    Node* child = pool_->node(chunk) + (index - before);
    child->prior = prior;
    count(1);
    parent.num_children.store(static_cast<std::uint16_t>(index + 1), std::memory_order_release);
    return child;
  }

  // Frees everything below `node` and makes it a leaf. No other thread may be searching.
  void free_below(Node& node) {
    stack_.clear();
    drop(node);
    while (!stack_.empty()) {
      const auto [first, size] = stack_.back();
      stack_.pop_back();
      for (std::size_t i = 0; i < size; ++i) drop(pool_->node(first)[i]);
      nodes_.free(first, size);
    }
  }

  void free_root(BlockIndex index) {
    free_below(*pool_->node(index));
    nodes_.free(index, kFirstChunk);
    count(-1);
  }

  // After the pool's reset().
  void reset() {
    nodes_.reset();
    edges_.reset();
    count_.store(0, std::memory_order_relaxed);
    uncounted_ = 0;
  }

  // Any thread may ask.
  std::int64_t nodes_in_use() const { return count_.load(std::memory_order_relaxed); }
  std::int64_t bytes_in_use() const {
    return nodes_.used_bytes() * (pool_->annexed ? 2 : 1) + edges_.used_bytes();
  }

  static constexpr std::int64_t kUncounted = 64;

 private:
  void make_nodes(BlockIndex first, std::size_t size) {
    Node* nodes = pool_->node(first);
    for (std::size_t i = 0; i < size; ++i) new (nodes + i) Node();
    if (!pool_->annexed) return;
    for (std::size_t i = 0; i < size; ++i) new (&annex_of(nodes[i])) Annex();
  }

  void count(std::int64_t nodes) {
    count_.store(count_.load(std::memory_order_relaxed) + nodes, std::memory_order_relaxed);
    uncounted_ += nodes;
    if (uncounted_ < kUncounted && uncounted_ > -kUncounted) return;
    pool_->node_count.fetch_add(uncounted_, std::memory_order_relaxed);
    uncounted_ = 0;
  }

  // Frees the node's edges and puts its chunks on the stack.
  void drop(Node& node) {
    if (node.expanded()) {
      const EdgeBlock* block = pool_->edges_of(node);
      const std::size_t units = edge_units(block->count, block->edge_bytes);
      edges_.free(node.edges.load(std::memory_order_relaxed), units);
      node.edges.store(0, std::memory_order_relaxed);
    }
    count(-std::int64_t{node.num_children.load(std::memory_order_relaxed)});
    BlockIndex chunk = node.first_chunk.load(std::memory_order_relaxed);
    for (std::size_t before = 0; chunk != 0;) {
      const std::size_t size = chunk_size(before);
      before += size;
      stack_.push_back({chunk, size});
      chunk = pool_->node(chunk)->next_chunk.load(std::memory_order_relaxed);
    }
    node.first_chunk.store(0, std::memory_order_relaxed);
    node.num_children.store(0, std::memory_order_relaxed);
  }

  NodePool* pool_;
  Allocator<sizeof(Node)> nodes_;
  Allocator<8> edges_;
  std::uint16_t edge_bytes_;
  std::atomic<std::int64_t> count_{0};  // nodes made less nodes freed by this thread
  std::int64_t uncounted_ = 0;          // of these, not yet in the pool's count
  std::vector<std::pair<BlockIndex, std::size_t>> stack_;
};

}  // namespace zermelo
