// The leaves of one thread that wait for the evaluator, and the positions that it will be asked.
// Equal positions are asked once (S14). Knows nothing of trees beyond a descent's path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "games/game.hpp"
#include "search/backup.hpp"
#include "search/board.hpp"
#include "search/cache.hpp"
#include "search/evaluator.hpp"

namespace zermelo {

// A simulation on its way. `state` and `actions` are those of its leaf.
template <Game G>
struct Descent {
  Tree<G>* tree = nullptr;
  Path path;
  typename G::State state;
  ActionList actions;
  std::vector<float> logits;
  std::vector<std::uint16_t> priors;
  CacheKey<G> key;
  std::size_t position = 0;  // among the batch's positions; several descents may share one
};

template <Game G>
class LeafBatch {
 public:
  LeafBatch(const G& game, std::size_t size, bool observed) : game_(game), descents_(size) {
    if (observed) observations_.resize(size * words());
  }

  // How many leaves wait; the descent that is the next to wait; it waits now.
  std::size_t waiting() const { return waiting_; }
  bool full() const { return waiting_ == descents_.size(); }
  Descent<G>& next() { return descents_[waiting_]; }
  void wait() { ++waiting_; }
  std::span<Descent<G>> leaves() { return {descents_.data(), waiting_}; }

  // Whether the evaluator sees observations, as a network does.
  bool observed() const { return !observations_.empty(); }
  std::span<Position<G>> positions() { return positions_; }
  const Position<G>& answer(const Descent<G>& d) const { return positions_[d.position]; }

  // Whether a position with the descent's key and actions will be asked anyway; then it is the
  // descent's. Symmetric positions of one batch share a key but not an order: they are asked again.
  bool share(Descent<G>& d) {
    const auto [entry, fresh] = queued_.try_emplace(d.key.key(), positions_.size());
    d.position = entry->second;
    return !fresh && same_actions(d, positions_[d.position]);
  }
  // Queues the descent's position.
  void ask(Descent<G>& d) {
    d.position = positions_.size();
    Position<G> position;
    position.state = &d.state;
    position.hash = game_.hash(d.state);
    position.actions = d.actions.span();
    d.logits.resize(d.actions.size());
    position.logits = d.logits;
    if (observed()) {
      std::uint64_t* packed = observations_.data() + d.position * words();
      std::fill(packed, packed + words(), 0);
      game_.observe(d.state, packed);
      position.observation = packed;
    }
    positions_.push_back(position);
  }

  void reset() {
    waiting_ = 0;
    positions_.clear();
    queued_.clear();
  }

 private:
  std::size_t words() const { return static_cast<std::size_t>(game_.layout().words()); }
  bool same_actions(const Descent<G>& d, const Position<G>& position) const {
    return (d.key.untransformed() || position.hash == game_.hash(d.state)) &&
           std::equal(d.actions.begin(), d.actions.end(), position.actions.begin(),
                      position.actions.end());
  }

  const G& game_;
  std::vector<Descent<G>> descents_;  // [0, waiting_) wait for positions_
  std::size_t waiting_ = 0;
  std::vector<Position<G>> positions_;
  std::vector<std::uint64_t> observations_;                // [batch * words], or none
  std::unordered_map<std::uint64_t, std::size_t> queued_;  // cache key -> index in positions_
};

}  // namespace zermelo
