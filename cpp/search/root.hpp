// What only the root has: noisy priors, forced visits, allowed actions, the Gumbel schedule.
// It is rebuilt from the tree at the start of every search, so noise is never mixed into noise
// (S6).
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "search/options.hpp"
#include "search/tree.hpp"

namespace zermelo {

// One action of the root; index i belongs to edge i and child i.
struct RootAction {
  Action action = 0;
  double network_prior = 0;
  double prior = 0;  // with noise
  bool allowed = true;
  double gumbel = 0;                      // Gumbel sample + log prior (S16)
  std::atomic<std::uint32_t> forced{0};   // visits of this search that no score asked for (S9)
  std::atomic<std::uint32_t> backups{0};  // visits of this search ...
  std::atomic<double> draw_sum{0};        // ... and their draw probabilities

  template <bool Shared>
  void add(std::uint32_t visits, std::uint32_t owed, double draw) {
    Access<Shared>::add(backups, visits);
    Access<Shared>::add(draw_sum, draw);
    if (owed > 0) Access<Shared>::add(forced, owed);
  }
};

struct RootTable {
  std::vector<RootAction> actions;
  bool full = false;        // a full search of self-play
  bool restricted = false;  // not every action is allowed
  PriorSums sums;           // of the priors that the search uses
  // S16: visits that the action chosen by simulation i must have had so far.
  std::vector<std::uint32_t> gumbel_schedule;
  std::atomic<std::uint32_t> gumbel_step{0};
};

// S7: alpha 0 is 10 / legal actions.
inline double noise_alpha(const SearchOptions& options, std::size_t actions) {
  return options.dirichlet_alpha > 0 ? options.dirichlet_alpha
                                     : 10.0 / static_cast<double>(actions);
}

// S27: the root's own policy temperature, p^(T / T of the root), in 13 bits like any prior.
inline void temper_root(RootTable& table, const SearchOptions& options) {
  if (options.policy_temperature_root <= 0 || table.actions.empty()) return;
  const double power = options.policy_temperature / options.policy_temperature_root;
  const double largest = table.actions[0].network_prior;
  if (power == 1.0 || largest <= 0) return;
  double total = 0;
  for (RootAction& a : table.actions) {
    a.prior = std::pow(a.network_prior / largest, power);
    total += a.prior;
  }
  for (RootAction& a : table.actions) {
    a.network_prior = a.prior = decode_prior(encode_prior(a.prior / total));
  }
}

inline void add_noise(RootTable& table, const SearchOptions& options, Random& random) {
  std::vector<double> noise(table.actions.size());
  random.dirichlet(noise_alpha(options, noise.size()), noise);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    RootAction& a = table.actions[i];
    a.prior = (1.0 - options.dirichlet_epsilon) * a.network_prior;
    a.prior += options.dirichlet_epsilon * noise[i];
  }
}

// S16, sequential halving: with m actions and n simulations, each of ceil(log2 m) phases gives the
// surviving actions equally many visits, then the better half survives.
inline std::vector<std::uint32_t> halving_schedule(std::size_t considered,
                                                   std::int64_t simulations) {
  std::vector<std::uint32_t> schedule;
  if (considered <= 1) {
    for (std::int64_t i = 0; i < simulations; ++i)
      schedule.push_back(static_cast<std::uint32_t>(i));
    return schedule;
  }
  const auto phases =
      static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(considered))));
  std::vector<std::uint32_t> visits(considered, 0);
  std::size_t alive = considered;
  while (static_cast<std::int64_t>(schedule.size()) < simulations) {
    const auto extra =
        std::max<std::int64_t>(1, simulations / (phases * static_cast<std::int64_t>(alive)));
    for (std::int64_t round = 0; round < extra; ++round) {
      for (std::size_t i = 0; i < alive; ++i) schedule.push_back(visits[i]++);
    }
    alive = std::max<std::size_t>(2, alive / 2);
  }
  schedule.resize(static_cast<std::size_t>(simulations));
  return schedule;
}

// S11 at the root: what the allowed actions prove for the player to move.
inline Certain root_certain(const NodePool& pool, const Node& root, const RootTable& table) {
  if (!table.restricted) return root.certain();
  Certain best;
  bool all = true;
  for_each_child(pool, root, table.actions.size(), [&](std::size_t i, const Node& child) {
    if (!table.actions[i].allowed) return;
    const Certain certain = child.certain();
    if (!certain) all = false;
    if (certain && better_certain(certain, best)) best = certain;
  });
  if (best.proof != Proof::kWin && !all) return {};
  return {best.proof, best.distance + 1};
}

// sigma(q) = (c_visit + max visits) * c_scale * q.
inline double gumbel_sigma(const SearchOptions& options, std::uint32_t max_visits, double q) {
  return (options.gumbel_visit + max_visits) * options.gumbel_scale * q;
}

// Prepares S16: Gumbel samples in full searches, none in play (then the choice is deterministic).
inline void start_gumbel(RootTable& table, const SearchOptions& options, std::int64_t simulations,
                         Random& random) {
  std::size_t allowed = 0;
  for (RootAction& a : table.actions) {
    const double sample =
        table.full ? -std::log(-std::log(1.0 - random.uniform() * 0.999999)) : 0.0;
    a.gumbel = sample + std::log(std::max(a.network_prior, 1e-12));
    allowed += a.allowed;
  }
  const auto most = static_cast<std::size_t>(options.gumbel_actions);
  // Sequential halving is for small budgets; what exceeds the schedule is left to PUCT.
  constexpr std::int64_t kLongest = 1 << 16;
  table.gumbel_schedule =
      halving_schedule(std::min(allowed, most), std::min(simulations, kLongest));
  table.gumbel_step.store(0);
}

}  // namespace zermelo
