// AVX2: 16 sums at a time. Compiled for any x86-64; run only where the processor has it.
#include "network/kernels.hpp"

#ifdef __x86_64__

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define ZERMELO_AVX2 __attribute__((target("avx2")))

namespace zermelo {

namespace {

constexpr std::size_t kLanes = 16;                    // int16 in a register
constexpr std::size_t kBlock = kHiddenStep / kLanes;  // registers of sums

ZERMELO_AVX2 inline __m256i load(const std::int16_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// Adds two rows of sums of int16 to sums of int32: low and high half.
ZERMELO_AVX2 inline void widen(const __m256i* narrow, __m256i* wide) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const __m256i low = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(narrow[i]));
    const __m256i high = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(narrow[i], 1));
    wide[2 * i] = _mm256_add_epi32(wide[2 * i], low);
    wide[2 * i + 1] = _mm256_add_epi32(wide[2 * i + 1], high);
  }
}

ZERMELO_AVX2 inline void scale(const std::int16_t* weights, std::int32_t factor, __m256i* wide) {
  const __m256i times = _mm256_set1_epi32(factor);
  const __m256i half = _mm256_set1_epi32(kFactorOne / 2);
  for (std::size_t i = 0; i < 2 * kBlock; ++i) {
    const __m256i weight =
        _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + i * 8)));
    const __m256i product = _mm256_add_epi32(_mm256_mullo_epi32(weight, times), half);
    wide[i] = _mm256_add_epi32(wide[i], _mm256_srai_epi32(product, kFactorBits));
  }
}

// int16 sums to activations.
ZERMELO_AVX2 inline void activate(const __m256i* sums, std::uint8_t* out) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i most = _mm256_set1_epi16(kHiddenOne - 1);
  __m256i squares[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) {
    const __m256i x = _mm256_min_epi16(_mm256_max_epi16(sums[i], zero), most);
    // (4x)(8x) / 2^16 = x * x / 2^11
    squares[i] = _mm256_mulhi_epu16(_mm256_slli_epi16(x, 2), _mm256_slli_epi16(x, 3));
  }
  for (std::size_t i = 0; i < kBlock; i += 2) {
    const __m256i mixed = _mm256_packus_epi16(squares[i], squares[i + 1]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * kLanes),
                        _mm256_permute4x64_epi64(mixed, 0b11011000));
  }
}

// Rows whose sums fit an int16, on so many blocks of columns at once.
template <std::size_t Blocks>
ZERMELO_AVX2 inline void few_rows(const std::int16_t* table, std::size_t hidden,
                                  std::span<const std::uint32_t> rows,
                                  std::span<const ScaledRow> scaled, std::uint8_t* out) {
  __m256i sums[Blocks * kBlock];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (const std::uint32_t row : rows) {
    const std::int16_t* weights = table + row * hidden;
    for (std::size_t i = 0; i < Blocks * kBlock; ++i) {
      sums[i] = _mm256_add_epi16(sums[i], load(weights + i * kLanes));
    }
  }
  for (const ScaledRow& row : scaled) {
    // (w * 2^8 f + 2^14) / 2^15 = (w * f + 64) / 2^7
    const __m256i times = _mm256_set1_epi16(static_cast<std::int16_t>(row.factor * kScaledUnit));
    const std::int16_t* weights = table + row.row * hidden;
    for (std::size_t i = 0; i < Blocks * kBlock; ++i) {
      sums[i] = _mm256_add_epi16(sums[i], _mm256_mulhrs_epi16(load(weights + i * kLanes), times));
    }
  }
  for (std::size_t i = 0; i < Blocks; ++i) activate(sums + i * kBlock, out + i * kHiddenStep);
}

ZERMELO_AVX2 inline void many_rows(const std::int16_t* table, std::size_t hidden,
                                   std::span<const std::uint32_t> rows,
                                   std::span<const ScaledRow> scaled, std::uint8_t* out) {
  __m256i narrow[kBlock];
  __m256i wide[2 * kBlock] = {};
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
    std::fill_n(narrow, kBlock, _mm256_setzero_si256());
    const std::size_t last = std::min(rows.size(), first + kRowsAtOnce);
    for (std::size_t r = first; r < last; ++r) {
      const std::int16_t* weights = table + rows[r] * hidden;
      for (std::size_t i = 0; i < kBlock; ++i) {
        narrow[i] = _mm256_add_epi16(narrow[i], load(weights + i * kLanes));
      }
    }
    widen(narrow, wide);
  }
  for (const ScaledRow& row : scaled) scale(table + row.row * hidden, row.factor, wide);
  for (std::size_t i = 0; i < kBlock; ++i) {  // saturates, which the limits do anyway
    narrow[i] =
        _mm256_permute4x64_epi64(_mm256_packs_epi32(wide[2 * i], wide[2 * i + 1]), 0b11011000);
  }
  activate(narrow, out);
}

ZERMELO_AVX2 void hidden(const std::int16_t* table, std::size_t hidden, std::size_t at_once,
                         std::span<const std::uint32_t> rows, std::span<const ScaledRow> scaled,
                         std::uint8_t* out) {
  std::size_t begin = 0;
  if (fit_int16(at_once, rows, scaled)) {
    constexpr std::size_t kTogether = 2 * kHiddenStep;
    for (; begin + kTogether <= hidden; begin += kTogether) {
      few_rows<2>(table + begin, hidden, rows, scaled, out + begin);
    }
    for (; begin < hidden; begin += kHiddenStep) {
      few_rows<1>(table + begin, hidden, rows, scaled, out + begin);
    }
    return;
  }
  for (; begin < hidden; begin += kHiddenStep) {
    many_rows(table + begin, hidden, rows, scaled, out + begin);
  }
}

// Sums of four products; u8 <= 127, so the intermediate int16 does not saturate.
ZERMELO_AVX2 inline __m256i multiply_add(__m256i sums, __m256i inputs, __m256i weights) {
  const __m256i pairs = _mm256_maddubs_epi16(inputs, weights);
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

ZERMELO_AVX2 void dense(std::span<const std::uint8_t> inputs, const std::int8_t* weights,
                        std::span<const std::int32_t> bias, std::int32_t* sums) {
  const std::size_t outputs = bias.size();
  constexpr std::size_t kAtOnce = 4;  // registers of eight sums
  for (std::size_t begin = 0; begin < outputs; begin += kAtOnce * 8) {
    const std::size_t registers = std::min(kAtOnce, (outputs - begin) / 8);
    __m256i acc[kAtOnce];
    for (std::size_t j = 0; j < registers; ++j) {
      acc[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bias.data() + begin + j * 8));
    }
    for (std::size_t i = 0; i < inputs.size(); i += 4) {
      std::int32_t four = 0;
      std::memcpy(&four, inputs.data() + i, 4);
      if (four == 0) continue;
      const __m256i same = _mm256_set1_epi32(four);
      const std::int8_t* at = weights + i * outputs + begin * 4;
      for (std::size_t j = 0; j < registers; ++j) {
        acc[j] = multiply_add(acc[j], same,
                              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + j * 32)));
      }
    }
    for (std::size_t j = 0; j < registers; ++j) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + begin + j * 8), acc[j]);
    }
  }
}

ZERMELO_AVX2 void dots(std::span<const std::uint8_t> inputs, const std::int8_t* table,
                       std::span<const std::uint16_t> rows, std::int32_t* sums) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::int8_t* row = table + rows[k] * inputs.size();
    __m256i acc = _mm256_setzero_si256();
    for (std::size_t i = 0; i < inputs.size(); i += 32) {
      acc =
          multiply_add(acc, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(inputs.data() + i)),
                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i)));
    }
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(acc), _mm256_extracti128_si256(acc, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0b01001110));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0b10110001));
    sums[k] = _mm_cvtsi128_si32(sum);
  }
}

constexpr Kernels kAvx2 = {"avx2", hidden, dense, dots};

}  // namespace

const Kernels* avx2_kernels() { return __builtin_cpu_supports("avx2") ? &kAvx2 : nullptr; }

}  // namespace zermelo

#else

namespace zermelo {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace zermelo

#endif
