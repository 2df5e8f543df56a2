// T1: one position of a game as training sees it, packed.
//
// Everything is from the mover's side. The observation is that of the position's canonical
// symmetry, the one with the smallest words, so that equal positions have equal words (T4).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "games/game.hpp"
#include "search/result.hpp"
#include "selfplay/columns.hpp"

namespace zermelo {

// Shares of kShareUnit that add up to it exactly: rounded down, the rest to the largest remainders.
inline void quantise_policy(std::span<const double> policy, std::vector<std::uint16_t>& shares) {
  std::vector<double> rest(policy.size());
  std::vector<std::size_t> order(policy.size());
  std::uint32_t given = 0;
  const std::size_t first = shares.size();
  for (std::size_t i = 0; i < policy.size(); ++i) {
    const double exact = std::clamp(policy[i], 0.0, 1.0) * kShareUnit;
    const double whole = std::floor(exact);
    shares.push_back(static_cast<std::uint16_t>(whole));
    rest[i] = exact - whole;
    given += shares.back();
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  // Rounding leaves less than one unit an action; more would mean that the policy is none.
  for (std::size_t i = 0; given < kShareUnit && i < order.size(); ++i, ++given) {
    if (shares[first + order[i]] < kShareUnit) ++shares[first + order[i]];
  }
}

// The symmetry whose observation has the smallest words; `words` receives them.
template <Game G>
int canonical_symmetry(const G& game, const typename G::State& state,
                       std::vector<std::uint64_t>& words) {
  const auto size = static_cast<std::size_t>(game.layout().words());
  words.assign(size, 0);
  game.observe(state, words.data());
  int best = 0;
  std::vector<std::uint64_t> other(size);
  const int symmetries = game.num_symmetries(state);
  for (int symmetry = 1; symmetry < symmetries; ++symmetry) {
    std::fill(other.begin(), other.end(), 0);
    if constexpr (requires { game.observe_image(state, symmetry, other.data()); }) {
      game.observe_image(state, symmetry, other.data());
    } else {
      game.observe(game.transform(state, symmetry), other.data());
    }
    if (other < words) {
      words.swap(other);
      best = symmetry;
    }
  }
  return best;
}

// Policy target of a search (S20). With `exact`, what the solver proved is taken at its word: the
// shortest wins share the whole, losses get nothing unless all actions lose.
inline std::vector<double> policy_target(const SearchResult& result, bool exact) {
  std::vector<double> target = result.target;
  if (!exact) return target;
  const ActionResult& best = result.actions[result.best];
  double total = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const Certain certain = result.actions[i].certain;
    if (best.certain.proof == Proof::kWin) {
      target[i] = certain.proof == Proof::kWin && certain.distance == best.certain.distance;
    } else if (certain.proof == Proof::kLoss && best.certain.proof != Proof::kLoss) {
      target[i] = 0;
    }
    total += target[i];
  }
  if (total <= 0) {  // every visit went to moves that turned out to lose
    target[result.best] = total = 1;
  }
  for (double& t : target) t /= total;
  return target;
}

// Value target of a search. With `exact`, a proof's result does not fade with its distance (S10).
inline double value_target(const SearchResult& result, bool exact) {
  if (exact && result.certain) return result.certain.result();
  return std::clamp(result.value, -1.0, 1.0);
}

// Draw probability of the root: that of the actions that were tried, as the target weighs them.
inline double root_draw(const SearchResult& result) {
  if (result.certain) return result.certain.proof == Proof::kDraw;
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < result.actions.size(); ++i) {
    if (result.actions[i].visits == 0) continue;
    total += result.target[i];
    sum += result.target[i] * result.actions[i].draw;
  }
  return total > 0 ? sum / total : 0.0;
}

// Appends the sample of a searched position and returns the symmetry that it stands in. What is
// played follows when it is chosen; result, plies left and the game's flags when the game is over.
template <Game G>
int add_sample(const G& game, const typename G::State& state, const SearchResult& result, bool full,
               bool exact, std::uint32_t iteration, SampleColumns& out) {
  std::vector<std::uint64_t> words;
  const int symmetry = canonical_symmetry(game, state, words);
  const std::vector<double> target = policy_target(result, exact);
  std::vector<std::size_t> order(result.actions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Action> actions;
  for (const ActionResult& a : result.actions) {
    actions.push_back(game.transform_action(a.action, symmetry));
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return actions[a] < actions[b]; });
  std::vector<double> policy;
  for (const std::size_t i : order) {
    out.policy_actions.push_back(actions[i]);
    policy.push_back(target[i]);
  }
  if (full) {
    quantise_policy(policy, out.policy_shares);
  } else {
    out.policy_shares.resize(out.policy_actions.size(), 0);
  }
  out.observations.insert(out.observations.end(), words.begin(), words.end());
  out.policy_counts.push_back(static_cast<std::uint16_t>(order.size()));
  const double value = value_target(result, exact);
  out.values.push_back(static_cast<std::int16_t>(std::lround(value * kValueUnit)));
  const double draw = std::min(root_draw(result), 1.0 - std::abs(value));
  out.draws.push_back(static_cast<std::uint16_t>(std::floor(draw * kShareUnit)));
  out.plies.push_back(static_cast<std::uint16_t>(std::min(game.ply(state), 65535)));
  out.iterations.push_back(iteration);
  out.symmetries.push_back(static_cast<std::uint8_t>(std::min(game.num_symmetries(state), 255)));
  out.flags.push_back(
      static_cast<std::uint8_t>((full ? kFull : 0) | (result.certain ? kProven : 0)));
  out.results.push_back(0);
  out.plies_left.push_back(0);
  out.games.push_back(0);
  out.played.push_back(kNoAction);
  return symmetry;
}

// Expands packed observations, each under its symmetry: cell c of the observation becomes cell
// `cells[symmetry][c]`. `out` has layout.floats() floats a row.
inline void decode_observation(const ObservationLayout& layout, const std::uint64_t* words,
                               std::span<const int> cells, float* out) {
  const auto count = static_cast<std::size_t>(layout.cells());
  const auto per_plane = static_cast<std::size_t>(layout.words_per_plane());
  std::fill_n(out, static_cast<std::size_t>(layout.binary_planes) * count, 0.0f);
  for (int plane = 0; plane < layout.binary_planes; ++plane, out += count) {
    for (std::size_t w = 0; w < per_plane; ++w) {
      for (std::uint64_t bits = *words++; bits != 0; bits &= bits - 1) {
        out[cells[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))]] = 1.0f;
      }
    }
  }
  for (int plane = 0; plane < layout.scalar_planes(); ++plane, out += count) {
    const auto byte = static_cast<std::uint8_t>(words[plane / 8] >> (plane % 8 * 8));
    std::fill_n(out, count, static_cast<float>(byte) * layout.scalar_scales[plane]);
  }
  words += layout.scalar_words();
  const auto* dense = reinterpret_cast<const float*>(words);
  for (int plane = 0; plane < layout.dense_planes; ++plane, out += count, dense += count) {
    for (std::size_t c = 0; c < count; ++c) out[cells[c]] = dense[c];
  }
}

}  // namespace zermelo
