// The processor network: a sum of rows, two small tails, and a dot product per legal action.
//
//   features -> sum of rows (int16) -> clipped and squared, 0..127       [hidden]
//   value:   dense -> clipped [value_hidden] -> dense -> clipped [kValueLast] -> win, draw, loss
//   policy:  dense -> clipped [policy_hidden] -> dot product with the action's row, legal ones only
//            (policy_hidden 0: the dot product is with the hidden layer); where the game has inputs
//            for actions, with the sum of the action's rows
// Integers all the way to the logits, so every machine gets the same bits. Knows no game and no
// file; whoever makes it has the arrays. Thread rule: constant after making; a Scratch belongs to a
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "network/features.hpp"
#include "network/kernels.hpp"

namespace zermelo {

// Fixed point of the layers after the hidden one: 1.0 as a weight, by layer.
inline constexpr int kTailBits = 6;    // hidden -> tails
inline constexpr int kValueBits = 5;   // within the value's tail
inline constexpr int kActionBits = 4;  // an action's row
inline constexpr std::size_t kValueLast = 32;
inline constexpr std::size_t kValueOutputs = 4;  // win, draw, loss, plies left

// Arrays in the order that their shapes say, rows first.
struct SparseArrays {
  std::size_t hidden = 0;
  std::size_t policy_hidden = 0;  // 0: none
  std::size_t value_hidden = 0;
  std::size_t num_actions = 0;
  std::vector<std::int16_t> table;        // [rows][hidden]
  std::vector<std::int8_t> tail;          // [policy_hidden + value_hidden][hidden]
  std::vector<std::int32_t> tail_bias;    // [policy_hidden + value_hidden]
  std::vector<std::int8_t> actions;       // [action rows][policy_hidden or hidden]
  std::vector<std::int32_t> action_bias;  // [action rows]
  std::vector<std::int8_t> value1;        // [kValueLast][value_hidden]
  std::vector<std::int32_t> value1_bias;  // [kValueLast]
  std::vector<std::int8_t> value2;        // [kValueOutputs][kValueLast]
  std::vector<std::int32_t> value2_bias;  // [kValueOutputs]
};

// What a thread needs to evaluate; grows to the network's size and stays.
struct SparseScratch {
  Features features;
  std::vector<std::uint8_t> hidden;
  std::vector<std::uint8_t> tails;
  std::vector<std::int32_t> sums;
  std::vector<std::int32_t> dots;
  std::vector<std::uint16_t> rows;  // of the actions
};

struct SparseAnswer {
  std::array<float, 3> wdl = {};  // probabilities for the player to move
  float plies_left = 0;
};

class SparseNetwork {
 public:
  // Throws if an array has not the size, or a weight not the range, that it must have.
  SparseNetwork(FeatureSet features, SparseArrays arrays, const Kernels& kernels = best_kernels());

  const FeatureSet& features() const { return features_; }
  std::size_t num_actions() const { return arrays_.num_actions; }
  // One for each action, then those of the game's inputs.
  std::size_t num_action_rows() const {
    return arrays_.num_actions + (features_.inputs() ? features_.inputs()->action_rows : 0);
  }
  const char* kernels_name() const { return kernels_->name; }

  // `logits` gets one number per action of `actions`.
  SparseAnswer evaluate(const std::uint64_t* words, std::span<const Action> actions,
                        std::span<float> logits, SparseScratch& scratch) const;

 private:
  void check() const;
  void policy(const std::uint64_t* words, std::span<const Action> actions,
              std::span<const std::uint8_t> inputs, std::span<float> logits,
              SparseScratch& scratch) const;

  FeatureSet features_;
  std::size_t at_once_ = 0;  // the sums of any so many rows of the table fit an int16
  SparseArrays arrays_;      // dense layers repacked: [inputs / 4][outputs][4]
  const Kernels* kernels_;
};

}  // namespace zermelo
