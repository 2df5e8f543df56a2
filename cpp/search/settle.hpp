// P9: ends a search whose visits no longer shift. What one tree's search remembers for that.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/options.hpp"
#include "search/tree.hpp"

namespace zermelo {

class Settling {
 public:
  // At the start of a search of an expanded root; visits of an earlier search count as known.
  void begin(const NodePool& pool, const Node& root, const SearchOptions& options) {
    settled_.store(false, std::memory_order_relaxed);
    // Sequential halving shares out its whole budget by a plan, so nothing can be left out.
    on_ = options.stop_gain > 0 && !options.gumbel;
    if (!on_) return;
    first_ = root.visits.load(std::memory_order_relaxed);
    due_.store(first_ + interval(options), std::memory_order_relaxed);
    before_.clear();  // of another root
    look(pool, root);
  }

  // Whether the search is over; looks once in `stop_interval` simulations. Any thread of the tree.
  template <bool Shared>
  bool over(const NodePool& pool, const Node& root, const SearchOptions& options) {
    if (!on_) return false;
    if (settled()) return true;
    const std::uint32_t visits = root.visits.load(std::memory_order_relaxed);
    if (visits < due_.load(std::memory_order_relaxed)) return false;
    if (Shared && looking_.exchange(true, std::memory_order_acquire)) return false;
    // Another thread may have looked between our look at the clock and the exchange.
    if (visits >= due_.load(std::memory_order_relaxed)) {
      due_.store(visits + interval(options), std::memory_order_relaxed);
      const double gain = look(pool, root);
      const bool enough = visits - first_ >= static_cast<std::uint32_t>(options.stop_minimum);
      if (enough && gain < options.stop_gain) settled_.store(true, std::memory_order_relaxed);
    }
    if (Shared) looking_.store(false, std::memory_order_release);
    return settled();
  }
  bool settled() const { return settled_.load(std::memory_order_relaxed); }

 private:
  static std::uint32_t interval(const SearchOptions& options) {
    return static_cast<std::uint32_t>(options.stop_interval);
  }

  // Nats per visit: the divergence KL(old shares || new shares), by the visits since the last look.
  // Large where there is nothing to compare. Remembers the visits of now.
  double look(const NodePool& pool, const Node& root) {
    const double old_total = total_;
    now_.clear();
    total_ = 0;
    for_each_child(pool, root, root.num_children.load(), [&](std::size_t, const Node& child) {
      now_.push_back(child.visits.load(std::memory_order_relaxed));
      total_ += now_.back();
    });
    double divergence = 0;
    for (std::size_t i = 0; i < now_.size() && i < before_.size(); ++i) {
      if (before_[i] == 0) continue;
      const double before = before_[i] / old_total;
      divergence += before * std::log(before / (now_[i] / total_));
    }
    const bool comparable = old_total > 0 && before_.size() == now_.size() && total_ > old_total;
    before_.swap(now_);
    return comparable ? divergence / (total_ - old_total) : 1.0;
  }

  // Constant during search.
  bool on_ = false;
  std::uint32_t first_ = 0;  // the root's visits at the start

  std::atomic<bool> settled_{false};
  std::atomic<bool> looking_{false};
  std::atomic<std::uint32_t> due_{0};  // the root's visits at the next look

  // Guarded by looking_.
  std::vector<double> before_;  // visits of the root's actions at the last look
  std::vector<double> now_;
  double total_ = 0;
};

}  // namespace zermelo
