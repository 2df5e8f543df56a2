// The portable kernels, and the choice.
#include "network/kernels.hpp"

#include <algorithm>

namespace zermelo {

namespace {

void hidden(const std::int16_t* table, std::size_t hidden, std::size_t /*at_once*/,
            std::span<const std::uint32_t> rows, std::span<const ScaledRow> scaled,
            std::uint8_t* out) {
  std::int32_t sums[kHiddenStep];
  for (std::size_t begin = 0; begin < hidden; begin += kHiddenStep) {
    std::fill_n(sums, kHiddenStep, 0);
    for (const std::uint32_t row : rows) {
      const std::int16_t* weights = table + row * hidden + begin;
      for (std::size_t i = 0; i < kHiddenStep; ++i) sums[i] += weights[i];
    }
    for (const ScaledRow& row : scaled) {
      const std::int16_t* weights = table + row.row * hidden + begin;
      for (std::size_t i = 0; i < kHiddenStep; ++i) {
        sums[i] += (weights[i] * row.factor + kFactorOne / 2) >> kFactorBits;
      }
    }
    for (std::size_t i = 0; i < kHiddenStep; ++i) {
      const std::int32_t x = std::clamp(sums[i], 0, kHiddenOne - 1);
      out[begin + i] = static_cast<std::uint8_t>(x * x >> (2 * kHiddenBits - kActivationBits));
    }
  }
}

void dense(std::span<const std::uint8_t> inputs, const std::int8_t* weights,
           std::span<const std::int32_t> bias, std::int32_t* sums) {
  const std::size_t outputs = bias.size();
  std::copy(bias.begin(), bias.end(), sums);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == 0) continue;
    const std::int8_t* column = weights + i / 4 * outputs * 4 + i % 4;
    for (std::size_t n = 0; n < outputs; ++n) sums[n] += inputs[i] * column[n * 4];
  }
}

void dots(std::span<const std::uint8_t> inputs, const std::int8_t* table,
          std::span<const std::uint16_t> rows, std::int32_t* sums) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::int8_t* row = table + rows[k] * inputs.size();
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) sum += inputs[i] * row[i];
    sums[k] = sum;
  }
}

constexpr Kernels kPortable = {"portable", hidden, dense, dots};

const Kernels& choose() {
  if (const Kernels* kernels = avx512_kernels()) return *kernels;
  if (const Kernels* kernels = avx2_kernels()) return *kernels;
  return kPortable;
}

}  // namespace

const Kernels* portable_kernels() { return &kPortable; }

const Kernels& best_kernels() {
  static const Kernels& best = choose();
  return best;
}

}  // namespace zermelo
