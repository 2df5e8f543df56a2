// P3: how a move of self-play is chosen from a search.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "selfplay/options.hpp"

namespace zermelo {

// Falls linearly from start to end over temperature_plies; 0 (greedy) afterwards.
inline double temperature_at(const SelfPlayOptions& options, int ply) {
  if (ply >= options.temperature_plies) return 0.0;
  const double share = static_cast<double>(ply) / static_cast<double>(options.temperature_plies);
  return options.temperature_start + share * (options.temperature_end - options.temperature_start);
}

// An index with probability proportional to weight^(1 / temperature). Weights are not negative and
// not all zero; the temperature is positive.
inline std::size_t sample_index(std::span<const double> weights, double temperature,
                                Random& random) {
  double largest = 0;
  for (const double w : weights) largest = std::max(largest, w);
  std::vector<double> powers;
  double total = 0;
  for (const double w : weights) {
    total += powers.emplace_back(w > 0 ? std::pow(w / largest, 1.0 / temperature) : 0.0);
  }
  double left = random.uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] <= 0) continue;
    last = i;
    left -= powers[i];
    if (left < 0) break;
  }
  return last;
}

}  // namespace zermelo
