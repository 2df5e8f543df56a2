// All that can be chosen about self-play (P1-P6, P8), beside the search's own options.
#pragma once

#include <cstdint>
#include <span>

#include "base/options.hpp"
#include "selfplay/regret.hpp"

namespace zermelo {

enum class Adjudicate : std::int64_t { kDraw, kMaterial };

struct SelfPlayOptions {
  std::int64_t games = 64;
  std::int64_t simulations = 100;
  double full_search_probability = 0.25;
  double fast_fraction = 0.25;
  std::int64_t always_full_plies = 0;
  bool fast_samples = false;
  double resign_threshold = -1.0;
  std::int64_t resign_plies = 3;
  double resign_playthrough = 0.1;
  double temperature_start = 1.3;
  double temperature_end = 0.1;
  std::int64_t temperature_plies = 30;
  double opening_share = 0.0;
  std::int64_t opening_plies = 0;
  double opening_temperature = 1.0;
  double regret_share = 0.0;
  std::int64_t regret_positions = 1000;
  double regret_temperature = 1.0;
  double regret_rate = 0.5;
  std::int64_t max_plies = 512;
  std::int64_t adjudicate = static_cast<std::int64_t>(Adjudicate::kDraw);
  bool end_when_proven = false;
  bool exact_targets = true;
  std::int64_t seed = 0;

  RegretRules regret_rules() const {
    return {static_cast<std::size_t>(regret_positions), regret_temperature, regret_rate};
  }
  bool resigns() const { return resign_threshold > -1.0; }
  // P1: of a fast search, at least one.
  std::int64_t fast_simulations() const {
    const auto fast = static_cast<std::int64_t>(static_cast<double>(simulations) * fast_fraction);
    return fast < 1 ? 1 : fast;
  }
};

std::span<const Option<SelfPlayOptions>> selfplay_option_table();

}  // namespace zermelo
