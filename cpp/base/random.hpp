// Seeded random numbers that are the same on every machine and in `reference/puct.py`, which
// standard-library distributions are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace zermelo {

// The finaliser of SplitMix64: a bijection of 64-bit words with good avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// SplitMix64. One owner, not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ull;
    return mix64(state_);
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Uniform in {0, ..., bound-1}; the bias of the multiplication is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // Standard normal by Box and Muller; the second value is not kept.
  double normal() {
    const double u = 1.0 - uniform();
    const double v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

  // Gamma(shape, 1) by Marsaglia and Tsang (2000); shapes below 1 are lifted by u^(1/shape).
  double gamma(double shape) {
    if (shape < 1.0) {
      const double u = 1.0 - uniform();
      return gamma(shape + 1.0) * std::pow(u, 1.0 / shape);
    }
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
      const double x = normal();
      const double t = 1.0 + c * x;
      if (t <= 0.0) continue;
      const double v = t * t * t;
      const double u = 1.0 - uniform();
      if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

  // A symmetric Dirichlet sample. Small shapes can underflow to all zeros: then it is uniform.
  void dirichlet(double alpha, std::span<double> out) {
    double sum = 0.0;
    for (double& x : out) sum += (x = gamma(alpha));
    for (double& x : out) x = sum > 0.0 ? x / sum : 1.0 / static_cast<double>(out.size());
  }

  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace zermelo
