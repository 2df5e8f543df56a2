// The tree's memory: sizes, blocks that come back, priors in few bits.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "search/arena.hpp"
#include "search/backup.hpp"
#include "search/reuse.hpp"
#include "search/tree.hpp"
#include "tests/check.hpp"

using namespace zermelo;

namespace {

std::vector<Edge> edges_of(std::size_t count) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    edges.push_back({static_cast<Action>(i), encode_prior(1.0 / static_cast<double>(count))});
  }
  return edges;
}

// Expands a node and gives it all its children.
void grow(NodeAllocator& allocator, Node& node, std::size_t children) {
  const auto edges = edges_of(children);
  allocator.make_edges(node, edges);
  for (const Edge& edge : edges) allocator.add_child(node, edge.prior);
}

}  // namespace

TEST("a node has 32 bytes") { CHECK_EQUAL(sizeof(Node), 32u); }

TEST("a stored prior differs from the probability by less than a 500th of it") {
  CHECK_EQUAL(decode_prior(encode_prior(0.0)), 0.0);
  CHECK_EQUAL(decode_prior(encode_prior(1.0)), 1.0);
  CHECK_EQUAL(decode_prior(encode_prior(1e-12)), 0.0);
  double before = 0;
  for (double p = 1e-9; p <= 1.0; p *= 1.0007) {
    const double stored = decode_prior(encode_prior(p));
    CHECK(std::abs(stored - p) <= p / 500);
    CHECK(stored >= before);  // the order of priors is kept
    before = stored;
  }
}

TEST("every code of a prior decodes to a number that has this code") {
  const std::uint16_t last = encode_prior(1.0);
  for (std::uint32_t code = 0; code <= last; ++code) {
    CHECK_EQUAL(encode_prior(decode_prior(static_cast<std::uint16_t>(code))), code);
  }
}

TEST("an edge block keeps every action and prior of small and large action spaces") {
  for (const int actions : {9, 1858, 2048, 2049, 65535}) {
    NodePool pool;
    NodeAllocator allocator(pool, actions);
    const BlockIndex root = allocator.make_root();
    std::vector<Edge> edges;
    for (int i = 0; i < 200; ++i) {
      const auto action = static_cast<Action>(actions - 1 - i * (actions - 1) / 199);
      edges.push_back({action, encode_prior(1.0 / (1 + i))});
    }
    allocator.make_edges(*pool.node(root), edges);
    const EdgeBlock* block = pool.edges_of(*pool.node(root));
    CHECK_EQUAL(block->count, 200);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      CHECK_EQUAL(block->get(i).action, edges[i].action);
      CHECK_EQUAL(block->get(i).prior, edges[i].prior);
    }
    allocator.free_root(root);
    CHECK_EQUAL(allocator.bytes_in_use(), 0);
  }
}

TEST("edges stand by prior, and equal priors in the order of the actions, however many there are") {
  Random random(5);
  std::vector<std::uint32_t> keys;
  std::vector<Edge> edges;
  for (std::size_t n = 1; n <= 218; ++n) {
    std::vector<Action> actions(n);
    std::vector<std::uint16_t> priors(n);
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) {
      actions[i] = static_cast<Action>(random.below(2000));
      priors[i] = static_cast<std::uint16_t>(random.below(i % 2 ? 1 << 13 : 4));
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return priors[a] > priors[b]; });
    sorted_edges(actions, priors, keys, edges);
    CHECK_EQUAL(edges.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK_EQUAL(edges[i].action, actions[order[i]]);
      CHECK_EQUAL(edges[i].prior, priors[order[i]]);
    }
  }
}

TEST("children are found by index and by cursor and never move") {
  NodePool pool;
  NodeAllocator allocator(pool, 2000);
  const BlockIndex root = allocator.make_root();
  Node& node = *pool.node(root);
  const auto edges = edges_of(1000);
  allocator.make_edges(node, edges);
  std::vector<Node*> made;
  for (const Edge& edge : edges) made.push_back(allocator.add_child(node, edge.prior));
  CHECK_EQUAL(std::set<Node*>(made.begin(), made.end()).size(), 1000u);
  ChildCursor cursor(pool, node);
  for (std::size_t i = 0; i < made.size(); ++i, cursor.next()) {
    CHECK(child_at(pool, node, i) == made[i]);
    CHECK(cursor.get() == made[i]);
  }
  CHECK_EQUAL(allocator.nodes_in_use(), 1001);
  allocator.free_root(root);
  CHECK_EQUAL(allocator.nodes_in_use(), 0);
  CHECK_EQUAL(allocator.bytes_in_use(), 0);
}

TEST("freed nodes and edges are used again before the arena grows") {
  NodePool pool;
  NodeAllocator allocator(pool, 2000);
  std::size_t reserved = 0;
  for (int round = 0; round < 50; ++round) {
    const BlockIndex root = allocator.make_root();
    Node& node = *pool.node(root);
    grow(allocator, node, 218);
    for (std::size_t i = 0; i < 218; ++i) grow(allocator, *child_at(pool, node, i), 1 + i);
    allocator.free_root(root);
    CHECK_EQUAL(allocator.bytes_in_use(), 0);
    const std::size_t now = pool.nodes.reserved_bytes() + pool.edges.reserved_bytes();
    if (round == 0) reserved = now;
    CHECK_EQUAL(now, reserved);
  }
}

TEST("blocks of an arena do not overlap and block 0 is never handed out") {
  Arena<32> arena;
  Allocator<32> allocator(arena);
  std::set<BlockIndex> taken;
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t units = 1 + i * 7 % 300;
    const BlockIndex block = allocator.allocate(units);
    CHECK(block != 0);
    for (std::size_t k = 0; k < units; ++k) {
      CHECK(taken.insert(block + static_cast<BlockIndex>(k)).second);
    }
  }
}

TEST("a proof and its distance leave the flags alone") {
  for (const Proof proof : {Proof::kLoss, Proof::kDraw, Proof::kWin}) {
    for (const int distance : {0, 1, 100, int{Node::kMaxDistance}, Node::kMaxDistance + 50}) {
      Node node;
      Access<false>::set(node.status, Node::kExtended);
      Access<true>::set_certain(node, {proof, distance});
      CHECK(node.certain().proof == proof);
      CHECK_EQUAL(node.certain().distance, std::min<int>(distance, Node::kMaxDistance));
      CHECK(node.status.load() & Node::kExtended);
      Access<false>::set_certain(node, {flipped(proof), distance});
      CHECK(node.certain().proof == flipped(proof));
    }
  }
}

TEST("advancing keeps the child's subtree and frees all else") {
  NodePool pool;
  NodeAllocator allocator(pool, 2000);
  BlockIndex root = allocator.make_root();
  grow(allocator, *pool.node(root), 30);
  Node& child = *child_at(pool, *pool.node(root), 17);
  grow(allocator, child, 5);
  child.visits = 6;
  child.value_sum = 2.5;
  Access<false>::set_certain(child, {Proof::kWin, 3});
  root = advance_root(allocator, root, 17, true);
  const Node& node = *pool.node(root);
  CHECK_EQUAL(node.visits.load(), 6u);
  CHECK_EQUAL(node.value_sum.load(), -2.5);
  CHECK(node.certain().proof == Proof::kLoss);
  CHECK_EQUAL(node.certain().distance, 3);
  CHECK_EQUAL(allocator.nodes_in_use(), 6);
  root = advance_root(allocator, root, 99, true);  // an action that the tree does not know
  CHECK_EQUAL(allocator.nodes_in_use(), 1);
  CHECK(!pool.node(root)->expanded());
}
