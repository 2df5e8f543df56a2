// The search's view of a network: fill logits for the legal actions and a value for each position
// of a batch. An evaluator may throw; the search then undoes the batch and passes the error on.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "games/game.hpp"

namespace zermelo {

// One position that wants evaluating. Owner: the searching thread; valid during evaluate().
template <Game G>
struct Position {
  const typename G::State* state = nullptr;
  std::uint64_t hash = 0;
  std::span<const Action> actions;             // the legal actions
  const std::uint64_t* observation = nullptr;  // packed; null unless the evaluator wants it
  // Answers.
  std::span<float> logits;  // one per legal action
  float value = 0;          // in [-1, 1] for the player to move
  float draw = 0;           // probability of a draw, in [0, 1 - |value|]
  float plies_left = 0;     // until the game ends; from evaluators that tell
};

template <Game G>
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Thread rule: called by several searching threads at once unless it says otherwise.
  virtual void evaluate(std::span<Position<G>> batch) = 0;
  virtual bool wants_observations() const { return false; }
  virtual bool tells_plies_left() const { return false; }
  // A thread begins and ends a search with this evaluator (see gather.hpp).
  virtual void enter() {}
  virtual void leave() {}
};

// Tells an evaluator that this thread is searching with it.
template <Game G>
class Searching {
 public:
  explicit Searching(Evaluator<G>& evaluator) : evaluator_(evaluator) { evaluator_.enter(); }
  ~Searching() { evaluator_.leave(); }
  Searching(const Searching&) = delete;
  Searching& operator=(const Searching&) = delete;

 private:
  Evaluator<G>& evaluator_;
};

// The same value and policy for every position: shows what the search does on its own.
template <Game G>
class UniformEvaluator final : public Evaluator<G> {
 public:
  void evaluate(std::span<Position<G>> batch) override {
    for (auto& position : batch) {
      for (float& logit : position.logits) logit = 0;
      position.value = 0;
      position.draw = 1;
    }
  }
};

// A hash as the network: every position has its own policy and value, the same in C++ and in
// `zermelo.testing.HashEvaluator`, bit for bit, so that trees can be compared exactly.
template <Game G>
class HashEvaluator final : public Evaluator<G> {
 public:
  explicit HashEvaluator(std::uint64_t seed = 0) : salt_(mix64(seed + 0x5851F42D4C957F2Dull)) {}

  void evaluate(std::span<Position<G>> batch) override {
    for (auto& position : batch) {
      const std::uint64_t h = position.hash ^ salt_;
      for (std::size_t i = 0; i < position.actions.size(); ++i) {
        const std::uint64_t bits = mix64(h ^ mix64(position.actions[i] + 1ull));
        position.logits[i] = static_cast<float>(bits >> 40) * 0x1p-22f - 2.0f;
      }
      position.value = static_cast<float>(mix64(h ^ 0xA0761D6478BD642Full) >> 40) * 0x1p-23f - 1.0f;
      position.draw = 0.5f * (1.0f - std::abs(position.value));
      position.plies_left = static_cast<float>(mix64(h ^ 0x8EBC6AF09C88C6E3ull) >> 40) * 0x1p-18f;
    }
  }
  bool tells_plies_left() const override { return true; }

 private:
  std::uint64_t salt_;
};

// Uniform policy; the value is the mean result of random games. Seeded by the position, so that it
// is the same whichever thread asks.
template <Game G>
class RolloutEvaluator final : public Evaluator<G> {
 public:
  RolloutEvaluator(G game, int rollouts, int max_plies, std::uint64_t seed)
      : game_(std::move(game)), rollouts_(rollouts), max_plies_(max_plies), seed_(seed) {}

  void evaluate(std::span<Position<G>> batch) override {
    ActionList actions;
    for (auto& position : batch) {
      for (float& logit : position.logits) logit = 0;
      Random random(mix64(position.hash) ^ seed_);
      const Player mover = game_.player(*position.state);
      int total = 0;
      int draws = 0;
      for (int i = 0; i < rollouts_; ++i) {
        const int result = rollout(*position.state, mover, actions, random);
        total += result;
        draws += result == 0;
      }
      position.value = static_cast<float>(total) / static_cast<float>(rollouts_);
      position.draw = static_cast<float>(draws) / static_cast<float>(rollouts_);
    }
  }

 private:
  // A game longer than max_plies_ counts as a draw.
  int rollout(typename G::State state, Player mover, ActionList& actions, Random& random) const {
    if constexpr (requires { game_.passing(state); }) state = game_.passing(std::move(state));
    for (int ply = 0; ply < max_plies_; ++ply) {
      const Outcome outcome = game_.expand(state, actions);
      if (outcome != Outcome::kOngoing) return outcome_value(outcome, mover);
      game_.play(state, actions[random.below(actions.size())]);
    }
    return 0;
  }

  G game_;
  int rollouts_;
  int max_plies_;
  std::uint64_t seed_;
};

// Throws unless the answer is a finite policy and a value in range.
template <Game G>
void check_answer(const Position<G>& position) {
  for (const float logit : position.logits) {
    if (!std::isfinite(logit))
      throw std::runtime_error("the evaluator returned a policy that is not finite");
  }
  if (!(std::abs(position.value) <= 1.001f)) {
    throw std::runtime_error("the evaluator returned the value " + std::to_string(position.value) +
                             ", which is not in [-1, 1]");
  }
  if (!(position.plies_left >= 0 && std::isfinite(position.plies_left))) {
    throw std::runtime_error("the evaluator returned " + std::to_string(position.plies_left) +
                             " plies left");
  }
  if (!(position.draw >= -0.001f && position.draw <= 1.001f)) {
    throw std::runtime_error("the evaluator returned the draw probability " +
                             std::to_string(position.draw) + ", which is not in [0, 1]");
  }
}

}  // namespace zermelo
