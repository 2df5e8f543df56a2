// AVX-512 with VNNI: 32 sums at a time, four products in one instruction.
#include "network/kernels.hpp"

#ifdef __x86_64__

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of GCC's own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#ifdef __clang__  // the fuzz targets; it knows no preferred width
#define ZERMELO_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#else
#define ZERMELO_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,prefer-vector-width=512")))
#endif

namespace zermelo {

namespace {

constexpr std::size_t kLanes = 32;                    // int16 in a register
constexpr std::size_t kBlock = kHiddenStep / kLanes;  // registers of sums in a step
constexpr std::size_t kMostSteps = 4;                 // steps done together

ZERMELO_AVX512 inline __m512i load(const void* at) { return _mm512_loadu_si512(at); }

// int16 sums to 32 activations.
ZERMELO_AVX512 inline __m256i activated(__m512i sums) {
  const __m512i most = _mm512_set1_epi16(kHiddenOne - 1);
  const __m512i x = _mm512_min_epi16(_mm512_max_epi16(sums, _mm512_setzero_si512()), most);
  // (4x)(8x) / 2^16 = x * x / 2^11
  const __m512i square = _mm512_mulhi_epu16(_mm512_slli_epi16(x, 2), _mm512_slli_epi16(x, 3));
  return _mm512_cvtepi16_epi8(square);
}

// Rows whose sums fit an int16.
template <std::size_t Registers>
ZERMELO_AVX512 inline void add_rows(const std::int16_t* table, std::size_t hidden,
                                    const std::uint32_t* rows, std::size_t count, __m512i* sums) {
  for (std::size_t i = 0; i < Registers; ++i) sums[i] = _mm512_setzero_si512();
  for (std::size_t r = 0; r < count; ++r) {
    const std::int16_t* weights = table + rows[r] * hidden;
    for (std::size_t i = 0; i < Registers; ++i) {
      sums[i] = _mm512_add_epi16(sums[i], load(weights + i * kLanes));
    }
  }
}

template <std::size_t Registers>
ZERMELO_AVX512 inline void few_rows(const std::int16_t* table, std::size_t hidden,
                                    std::span<const std::uint32_t> rows,
                                    std::span<const ScaledRow> scaled, std::uint8_t* out) {
  __m512i sums[Registers];
  add_rows<Registers>(table, hidden, rows.data(), rows.size(), sums);
  for (const ScaledRow& row : scaled) {
    // (w * 2^8 f + 2^14) / 2^15 = (w * f + 64) / 2^7
    const __m512i times = _mm512_set1_epi16(static_cast<std::int16_t>(row.factor * kScaledUnit));
    const std::int16_t* weights = table + row.row * hidden;
    for (std::size_t i = 0; i < Registers; ++i) {
      sums[i] = _mm512_add_epi16(sums[i], _mm512_mulhrs_epi16(load(weights + i * kLanes), times));
    }
  }
  for (std::size_t i = 0; i < Registers; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * kLanes), activated(sums[i]));
  }
}

ZERMELO_AVX512 inline void many_rows(const std::int16_t* table, std::size_t hidden,
                                     std::span<const std::uint32_t> rows,
                                     std::span<const ScaledRow> scaled, std::uint8_t* out) {
  __m512i narrow[kBlock];
  __m512i wide[2 * kBlock];
  for (__m512i& sum : wide) sum = _mm512_setzero_si512();
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows.size() - first);
    add_rows<kBlock>(table, hidden, rows.data() + first, count, narrow);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const __m512i low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(narrow[i]));
      const __m512i high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(narrow[i], 1));
      wide[2 * i] = _mm512_add_epi32(wide[2 * i], low);
      wide[2 * i + 1] = _mm512_add_epi32(wide[2 * i + 1], high);
    }
  }
  const __m512i half = _mm512_set1_epi32(kFactorOne / 2);
  for (const ScaledRow& row : scaled) {
    const std::int16_t* weights = table + row.row * hidden;
    const __m512i times = _mm512_set1_epi32(row.factor);
    for (std::size_t i = 0; i < 2 * kBlock; ++i) {
      const __m512i weight = _mm512_cvtepi16_epi32(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + i * kLanes / 2)));
      const __m512i product = _mm512_add_epi32(_mm512_mullo_epi32(weight, times), half);
      wide[i] = _mm512_add_epi32(wide[i], _mm512_srai_epi32(product, kFactorBits));
    }
  }
  for (std::size_t i = 0; i < kBlock; ++i) {  // saturates, which the limits do anyway
    const __m512i both =
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtsepi32_epi16(wide[2 * i])),
                           _mm512_cvtsepi32_epi16(wide[2 * i + 1]), 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * kLanes), activated(both));
  }
}

ZERMELO_AVX512 void hidden(const std::int16_t* table, std::size_t hidden, std::size_t at_once,
                           std::span<const std::uint32_t> rows, std::span<const ScaledRow> scaled,
                           std::uint8_t* out) {
  std::size_t begin = 0;
  if (fit_int16(at_once, rows, scaled)) {
    constexpr std::size_t kTogether = kMostSteps * kHiddenStep;
    for (; begin + kTogether <= hidden; begin += kTogether) {
      few_rows<kMostSteps * kBlock>(table + begin, hidden, rows, scaled, out + begin);
    }
    for (; begin < hidden; begin += kHiddenStep) {
      few_rows<kBlock>(table + begin, hidden, rows, scaled, out + begin);
    }
    return;
  }
  for (; begin < hidden; begin += kHiddenStep) {
    many_rows(table + begin, hidden, rows, scaled, out + begin);
  }
}

// Registers of sixteen sums each.
template <std::size_t Registers>
ZERMELO_AVX512 inline void dense_part(std::span<const std::uint8_t> inputs,
                                      const std::int8_t* weights, std::size_t outputs,
                                      const std::int32_t* bias, std::int32_t* sums) {
  __m512i acc[Registers];
  for (std::size_t j = 0; j < Registers; ++j) acc[j] = load(bias + j * 16);
  for (std::size_t i = 0; i < inputs.size(); i += 4) {
    std::int32_t four = 0;
    std::memcpy(&four, inputs.data() + i, 4);
    if (four == 0) continue;
    const __m512i same = _mm512_set1_epi32(four);
    const std::int8_t* at = weights + i * outputs;
    for (std::size_t j = 0; j < Registers; ++j) {
      acc[j] = _mm512_dpbusd_epi32(acc[j], same, load(at + j * 64));
    }
  }
  for (std::size_t j = 0; j < Registers; ++j) _mm512_storeu_si512(sums + j * 16, acc[j]);
}

ZERMELO_AVX512 void dense(std::span<const std::uint8_t> inputs, const std::int8_t* weights,
                          std::span<const std::int32_t> bias, std::int32_t* sums) {
  const std::size_t outputs = bias.size();
  std::size_t begin = 0;
  const auto part = [&]<std::size_t Registers>() ZERMELO_AVX512 {
    for (; begin + Registers * 16 <= outputs; begin += Registers * 16) {
      dense_part<Registers>(inputs, weights + begin * 4, outputs, bias.data() + begin,
                            sums + begin);
    }
  };
  part.template operator()<6>();
  part.template operator()<4>();
  part.template operator()<2>();
  part.template operator()<1>();
}

ZERMELO_AVX512 void dots(std::span<const std::uint8_t> inputs, const std::int8_t* table,
                         std::span<const std::uint16_t> rows, std::int32_t* sums) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::int8_t* row = table + rows[k] * inputs.size();
    __m256i acc = _mm256_setzero_si256();
    for (std::size_t i = 0; i < inputs.size(); i += 32) {
      acc = _mm256_dpbusd_epi32(
          acc, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(inputs.data() + i)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i)));
    }
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(acc), _mm256_extracti128_si256(acc, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0b01001110));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0b10110001));
    sums[k] = _mm_cvtsi128_si32(sum);
  }
}

constexpr Kernels kAvx512 = {"avx512", hidden, dense, dots};

}  // namespace

const Kernels* avx512_kernels() {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vnni");
  return has ? &kAvx512 : nullptr;
}

}  // namespace zermelo

#else

namespace zermelo {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace zermelo

#endif
