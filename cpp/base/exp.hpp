// e^x by additions and multiplications alone: the same bits on every machine and with every C
// library, and quick in loops, which the compiler can turn into vectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace zermelo {

// Within a unit or two in the last place; x is limited to [-700, 700].
inline double portable_exp(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRound = 0x1.8p52;  // a number plus this has no fraction
  x = std::min(std::max(x, -700.0), 700.0);
  const double rounded = x * 1.4426950408889634074 + kRound;
  const double n = rounded - kRound;
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln(2) / 2
  double sum = 1.0 / 6227020800;                      // 1 / 13!
  sum = sum * r + 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 1.0 / 2;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  // 2^n, its exponent taken from the low bits of n + kRound.
  const std::uint64_t power = (std::bit_cast<std::uint64_t>(rounded) + 1023) << 52;
  return sum * std::bit_cast<double>(power);
}

}  // namespace zermelo
