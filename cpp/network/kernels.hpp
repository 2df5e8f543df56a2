// The arithmetic of the processor network: sums of rows and products of small integers.
//
// Three versions of the same functions (portable, AVX2, AVX-512 with VNNI) give the same integers;
// `best_kernels` is what this machine runs fastest. Nothing here can overflow: see each function.
// Thread rule: pure functions of their arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "network/features.hpp"

namespace zermelo {

// Fixed point. A hidden sum of kHiddenOne is 1.0; activations are 0 to 127, 128 would be 1.0.
inline constexpr int kHiddenBits = 9;
inline constexpr int kHiddenOne = 1 << kHiddenBits;
inline constexpr int kActivationBits = 7;
// Largest weight of a row. Sums of kRowsAtOnce of them fit an int16; of a trained table's, many
// more.
inline constexpr int kMostRowWeight = 1023;
inline constexpr std::size_t kRowsAtOnce = 32;
// What a factor below one is multiplied by for a product whose upper half is rounded (mulhrs).
inline constexpr int kScaledUnit = 1 << (15 - kFactorBits);
inline constexpr std::size_t kHiddenStep = 64;  // hidden units come in multiples of it
inline constexpr std::size_t kOutputStep = 16;  // outputs of a dense layer likewise
inline constexpr std::size_t kInputStep = 32;   // inputs of dense layers and dots likewise

struct Kernels {
  const char* name;

  // The activations of the hidden layer: with x the sum of the rows, limited to [0, 511],
  // out = floor(x * x / 2048). `table` is [rows][hidden]; scaled rows are rounded half up. The sums
  // of any `at_once` rows of the table fit an int16.
  void (*hidden)(const std::int16_t* table, std::size_t hidden, std::size_t at_once,
                 std::span<const std::uint32_t> rows, std::span<const ScaledRow> scaled,
                 std::uint8_t* out);

  // sums[n] = bias[n] + sum over i of inputs[i] * weights[i / 4][n][i % 4].
  void (*dense)(std::span<const std::uint8_t> inputs, const std::int8_t* weights,
                std::span<const std::int32_t> bias, std::int32_t* sums);

  // sums[k] = sum over i of inputs[i] * table[rows[k]][i].
  void (*dots)(std::span<const std::uint8_t> inputs, const std::int8_t* table,
               std::span<const std::uint16_t> rows, std::int32_t* sums);
};

// Whether the sums of these rows of a table fit an int16; see `Kernels::hidden`.
inline bool fit_int16(std::size_t at_once, std::span<const std::uint32_t> rows,
                      std::span<const ScaledRow> scaled) {
  return rows.size() + scaled.size() <= at_once &&
         std::all_of(scaled.begin(), scaled.end(), [](const ScaledRow& row) {
           return row.factor > -kFactorOne && row.factor < kFactorOne;
         });
}

// Null where this machine or this build has none.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avx512_kernels();
const Kernels& best_kernels();

}  // namespace zermelo
