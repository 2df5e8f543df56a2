// The processor network as an evaluator: in the searching thread, at once, without Python.
#pragma once

#include <memory>

#include "network/sparse.hpp"
#include "search/evaluator.hpp"

namespace zermelo {

template <Game G>
class SparseEvaluator final : public Evaluator<G> {
 public:
  explicit SparseEvaluator(std::shared_ptr<const SparseNetwork> network)
      : network_(std::move(network)) {}

  bool wants_observations() const override { return true; }

  void evaluate(std::span<Position<G>> batch) override {
    thread_local SparseScratch scratch;  // several threads evaluate at once
    for (auto& position : batch) {
      const SparseAnswer answer =
          network_->evaluate(position.observation, position.actions, position.logits, scratch);
      position.value = answer.wdl[0] - answer.wdl[2];
      position.draw = answer.wdl[1];
    }
  }

 private:
  std::shared_ptr<const SparseNetwork> network_;
};

}  // namespace zermelo
