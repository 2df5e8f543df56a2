// The processor network's two layers of looked-up rows, forward and backward, for its trainer: a
// general tensor library takes many times as long for them. What lies between is the trainer's.
//
// Numbers are in the core's units, as floats; forward gives exactly what SparseNetwork computes.
// Work is shared out by columns or by positions, so results do not depend on the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "network/features.hpp"

namespace zermelo {

// The features of a batch, one position after the other; a position's begin at its offset.
struct FeatureBatch {
  std::span<const std::int32_t> rows;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> scaled;  // rows with a factor
  std::span<const std::int64_t> scaled_offsets;
  std::span<const float> factors;

  std::size_t size() const { return offsets.size(); }
};

// sums [B][hidden], limited to [0, 512] (512: beyond the largest that counts), and activations of
// the same shape, 0 to 127.
void hidden_forward(const FeatureBatch& batch, const float* table, std::size_t hidden,
                    std::int16_t* sums, float* activations, std::size_t threads);

// gradient [B][hidden] of the activations; adds to table_gradient [rows][hidden].
void hidden_backward(const FeatureBatch& batch, const std::int16_t* sums, const float* gradient,
                     std::size_t hidden, float* table_gradient, std::size_t threads);

// The actions of a batch: rows [B][actions][each], the first of each the action itself. Actions 0
// at the end of a position's list are padding, and equal.
struct ActionBatch {
  const std::int32_t* rows;
  std::size_t positions;
  std::size_t actions;
  std::size_t each;

  const std::int32_t* of(std::size_t position) const { return rows + position * actions * each; }
  // How many actions of a position are different from the ones before.
  std::size_t distinct(std::size_t position) const;
};

// logits [B][actions] of inputs [B][width]: sums over an action's rows of table [rows][width] and
// bias [rows].
void policy_forward(const ActionBatch& batch, const float* inputs, const float* table,
                    const float* bias, std::size_t width, float* logits, std::size_t threads);

// gradient [B][actions] of the logits; writes input_gradient [B][width], adds to the others.
void policy_backward(const ActionBatch& batch, const float* inputs, const float* table,
                     const float* gradient, std::size_t width, float* input_gradient,
                     float* table_gradient, float* bias_gradient, std::size_t threads);

}  // namespace zermelo
