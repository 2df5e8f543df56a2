// All that can be chosen about a search. The defaults are those of play; a "full" search is what
// self-play uses for its policy targets: only it has root noise, discounting and forced root
// visits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/options.hpp"

namespace zermelo {

enum class Fpu : std::int64_t { kZero, kParent, kReduced, kLoss, kImputed, kSame };
enum class VirtualLoss : std::int64_t { kLoss, kVisit };
enum class Backup : std::int64_t { kMean, kRegularised };

struct SearchOptions {
  double c_puct = 1.5;
  double c_puct_factor = 0.0;
  double c_puct_base = 19652.0;
  double c_puct_root = 0.0;
  double c_puct_factor_root = -1.0;
  double impurity_slope = 0.0;
  double impurity_base = 0.463;
  double impurity_most = 2.26;
  double spread_weight = 0.0;
  double spread_prior = 0.4;
  double spread_prior_visits = 2.0;
  std::int64_t fpu = static_cast<std::int64_t>(Fpu::kZero);
  std::int64_t fpu_root = static_cast<std::int64_t>(Fpu::kSame);
  double fpu_reduction = 0.10;
  double fpu_slope = 0.15;
  std::int64_t virtual_loss = 1;
  std::int64_t virtual_loss_kind = static_cast<std::int64_t>(VirtualLoss::kLoss);
  std::int64_t max_collisions = 1;
  bool tree_reuse = true;
  bool renoise = true;
  double dirichlet_epsilon = 0.25;
  double dirichlet_alpha = 0.3;
  double keep_fraction = 0.6;
  std::int64_t min_root_visits = 1;
  double turn_discount = 0.99;
  double moves_left_slope = 0.0;
  double moves_left_cap = 0.0345;
  double moves_left_threshold = 0.8;
  double draw_score = 0.0;
  std::int64_t backup = static_cast<std::int64_t>(Backup::kMean);
  double backup_shrinkage = 3.0;
  double lcb_z = 0.0;
  double lcb_visit_share = 0.15;
  std::int64_t lcb_min_visits = 10;
  bool solver = true;
  double proof_weight = 0.0;
  double proof_threshold = 0.5;
  bool auto_extend = true;
  bool repetition_draw = true;
  std::int64_t cache_mib = 256;
  bool cache_symmetry = true;
  bool cache_history = true;
  bool cache_clock = true;
  double forced_playouts = 0.0;
  bool gumbel = false;
  std::int64_t gumbel_actions = 16;
  double gumbel_visit = 50.0;
  double gumbel_scale = 1.0;
  double prior_compression = 0.0;
  double prior_compression_decay = 1.0;
  double averaging_power = 1.0;
  double branching_power = 0.0;
  double branching_balance = 1.0;
  std::int64_t leaves_per_tree = 1;
  double leaves_share = 0.0;
  std::int64_t batch = 64;
  std::int64_t threads = 1;
  double policy_temperature = 1.0;
  double policy_temperature_root = 0.0;
  double stop_gain = 0.0;
  std::int64_t stop_interval = 100;
  std::int64_t stop_minimum = 100;
  std::int64_t max_nodes = 50'000'000;
  std::int64_t seed = 0;

  Fpu fpu_at(bool is_root) const {
    const auto root = static_cast<Fpu>(fpu_root);
    return is_root && root != Fpu::kSame ? root : static_cast<Fpu>(fpu);
  }
  // S25.
  bool regularised() const { return static_cast<Backup>(backup) == Backup::kRegularised; }
  // S23, S24: whether nodes keep the squares of their values.
  bool squared() const { return spread_weight > 0 || lcb_z > 0; }
  // S10: whether nodes keep how many plies are left; S29: how far they are from a proof.
  bool hurried() const { return moves_left_slope > 0; }
  bool proof_guided() const { return proof_weight > 0; }
  bool annexed() const { return squared() || regularised() || hurried() || proof_guided(); }
  // For self-play, which learns from what it searches: without what only play is better for: S23,
  // S28, S29 and the score of draws.
  SearchOptions of_self_play() const {
    SearchOptions options = *this;
    options.lcb_z = 0;
    options.impurity_slope = 0;
    options.proof_weight = 0;
    options.draw_score = 0;
    return options;
  }
  // S22: whether a descent in flight looks lost.
  bool waits_as_loss() const {
    return static_cast<VirtualLoss>(virtual_loss_kind) == VirtualLoss::kLoss;
  }
};

std::span<const Option<SearchOptions>> search_option_table();
// The end of that table, which is a file of its own.
std::vector<Option<SearchOptions>> later_search_options();

}  // namespace zermelo
