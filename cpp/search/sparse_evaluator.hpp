// The processor network as an evaluator: in the searching thread, at once, without Python.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "network/sparse.hpp"
#include "search/evaluator.hpp"

namespace zermelo {

// A network that may be exchanged while searches use it; they take the new one for the next batch.
class SparseSlot {
 public:
  explicit SparseSlot(std::shared_ptr<const SparseNetwork> network) { set(std::move(network)); }

  // Thread rule: any thread.
  void set(std::shared_ptr<const SparseNetwork> network) {
    static std::atomic<std::uint64_t> versions{0};
    const std::lock_guard guard(mutex_);
    network_ = std::move(network);
    version_.store(++versions, std::memory_order_release);
  }
  std::shared_ptr<const SparseNetwork> get() const {
    const std::lock_guard guard(mutex_);
    return network_;
  }
  // Of the network; no two slots ever have the same.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const SparseNetwork> network_;  // guarded by mutex_
  std::atomic<std::uint64_t> version_{0};
};

template <Game G>
class SparseEvaluator final : public Evaluator<G> {
 public:
  explicit SparseEvaluator(std::shared_ptr<const SparseSlot> slot) : slot_(std::move(slot)) {}

  bool wants_observations() const override { return true; }

  void evaluate(std::span<Position<G>> batch) override {
    // Several threads evaluate at once; each keeps the network that it used last.
    thread_local SparseScratch scratch;
    thread_local std::shared_ptr<const SparseNetwork> network;
    thread_local std::uint64_t version = 0;
    if (const std::uint64_t current = slot_->version(); version != current) {
      network = slot_->get();
      version = current;
    }
    for (auto& position : batch) {
      const SparseAnswer answer =
          network->evaluate(position.observation, position.actions, position.logits, scratch);
      position.value = answer.wdl[0] - answer.wdl[2];
      position.draw = answer.wdl[1];
    }
  }

 private:
  std::shared_ptr<const SparseSlot> slot_;
};

}  // namespace zermelo
