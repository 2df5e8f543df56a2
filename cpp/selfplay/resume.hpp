// Games from files: nothing of them reaches the rules, the search or training unchecked.
//
// A game is its moves, its samples and small numbers; its positions follow from the moves. What is
// no legal game, or no sample of its positions, is Refused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/refused.hpp"
#include "games/game.hpp"
#include "selfplay/board.hpp"
#include "selfplay/columns.hpp"
#include "selfplay/regret.hpp"
#include "selfplay/sample.hpp"

namespace zermelo {

inline constexpr std::int64_t kMaxSavedPlies = 65535;

inline void require_possible(bool possible, const char* what) {
  if (!possible) throw Refused(std::string("a game in it cannot have been: ") + what);
}

// Columns have as many entries as rows need. Afterwards rows may be looked at.
inline void check_sample_lengths(const SampleColumns& all, std::size_t words) {
  const std::size_t rows = all.size();
  const std::size_t entries =
      std::accumulate(all.policy_counts.begin(), all.policy_counts.end(), std::size_t{0});
  const bool fit =
      all.policy_counts.size() == rows && all.values.size() == rows && all.draws.size() == rows &&
      all.plies.size() == rows && all.plies_left.size() == rows && all.iterations.size() == rows &&
      all.games.size() == rows && all.symmetries.size() == rows && all.flags.size() == rows &&
      all.played.size() == rows && all.policy_actions.size() == entries &&
      all.policy_shares.size() == entries && all.observations.size() == rows * words;
  require_possible(fit, "its columns do not fit each other");
}

// The row is the sample of this position, in which `action` was played, or the game was ended.
// `entry` is where its policy begins, and then where the next one's does. Lengths were checked.
template <Game G>
void check_sample(const G& game, const SampleColumns& all, const typename G::State& state,
                  const ActionList& legal, std::optional<Action> action, std::size_t row,
                  std::size_t& entry) {
  std::vector<std::uint64_t> words;
  const int symmetry = canonical_symmetry(game, state, words);
  const auto seen = all.observations.begin() + static_cast<std::ptrdiff_t>(row * words.size());
  require_possible(std::equal(words.begin(), words.end(), seen),
                   "a sample's observation is not that of its position");

  std::vector<Action> actions;
  for (const Action a : legal) actions.push_back(game.transform_action(a, symmetry));
  std::sort(actions.begin(), actions.end());
  const auto first = static_cast<std::ptrdiff_t>(entry);
  entry += all.policy_counts[row];
  require_possible(
      all.policy_counts[row] == actions.size() &&
          std::equal(actions.begin(), actions.end(), all.policy_actions.begin() + first),
      "a sample's actions are not the legal ones");
  const auto shares = all.policy_shares.begin() + first;
  const std::uint64_t sum =
      std::accumulate(shares, shares + all.policy_counts[row], std::uint64_t{0});
  require_possible(sum == ((all.flags[row] & kFull) ? kShareUnit : 0),
                   "a sample's policy is not whole");

  const bool known = all.played[row] != kNoAction;  // older versions did not say
  require_possible(
      !known || (action && all.played[row] == game.transform_action(*action, symmetry)),
      "another action was played than a sample says");
  require_possible(all.symmetries[row] == std::min(game.num_symmetries(state), 255),
                   "a sample has another number of symmetries than its position");
  // |value| + draw <= 1, where each was rounded to its own unit.
  constexpr auto kValue = static_cast<std::int64_t>(kValueUnit);
  constexpr auto kDraw = static_cast<std::int64_t>(kShareUnit);
  const std::int64_t total =
      std::abs(std::int64_t{all.values[row]}) * kDraw + std::int64_t{all.draws[row]} * kValue;
  require_possible(total <= kValue * kDraw + kValue + kDraw, "a sample's value is too large");
}

// A saved game goes on: sets the position by the moves.
template <Game G>
void replay_saved(const G& game, PlayingBoard<G>& board) {
  const SampleColumns& all = board.samples;
  require_possible(board.watches[0].possible() && board.watches[1].possible() &&
                       board.opening_plies >= 0 && board.opening_plies <= kMaxSavedPlies,
                   "its numbers are out of range");
  require_possible(board.judgements.possible(board.history.size()) &&
                       board.restart_plies <= board.history.size(),
                   "its numbers are out of range");
  check_sample_lengths(all, static_cast<std::size_t>(game.layout().words()));
  require_possible(board.movers.size() == all.size(), "its columns do not fit each other");
  typename G::State state = game.initial();
  ActionList legal;
  std::size_t row = 0;
  std::size_t entry = 0;
  for (const Action action : board.history) {
    legal.clear();
    require_possible(game.expand(state, legal) == Outcome::kOngoing, "it goes on after its end");
    require_possible(legal.contains(action), "a move is not legal");
    if (row < all.size() && all.plies[row] == std::min(game.ply(state), 65535)) {
      check_sample(game, all, state, legal, action, row, entry);
      require_possible((all.flags[row] & ~(kFull | kProven)) == 0, "a sample has other flags");
      require_possible(board.movers[row] == static_cast<std::uint8_t>(game.player(state)),
                       "a sample is of the other player");
      ++row;
    }
    game.play(state, action);
  }
  require_possible(game.outcome(state) == Outcome::kOngoing, "it is over");
  require_possible(row == all.size(), "a sample is of no position of it");
  board.tree.state = state;
}

// P8: every position can be reached, is not over, and has a possible regret.
template <Game G>
void check_regrets(const G& game, const RegretBuffer& buffer) {
  ActionList legal;
  for (const RegretPosition& position : buffer.positions()) {
    require_possible(position.regret >= 0 && position.regret <= kMostRegret &&
                         !position.moves.empty() &&
                         position.moves.size() <= static_cast<std::size_t>(kMaxSavedPlies),
                     "its numbers are out of range");
    typename G::State state = game.initial();
    for (const Action action : position.moves) {
      legal.clear();
      require_possible(game.expand(state, legal) == Outcome::kOngoing, "it goes on after its end");
      require_possible(legal.contains(action), "a move is not legal");
      game.play(state, action);
    }
    require_possible(game.outcome(state) == Outcome::kOngoing, "it is over");
  }
}

// Finished games with all their samples, which stand by game, then by ply.
template <Game G>
class FinishedGames {
 public:
  FinishedGames(const G& game, const SampleColumns& samples, const GameColumns& games)
      : game_(game), samples_(samples), games_(games) {}

  void check() {
    check_sample_lengths(samples_, static_cast<std::size_t>(game_.layout().words()));
    const std::size_t moves =
        std::accumulate(games_.game_lengths.begin(), games_.game_lengths.end(), std::size_t{0});
    require_possible(games_.game_outcomes.size() == games_.size() &&
                         games_.game_flags.size() == games_.size() &&
                         games_.game_actions.size() == moves,
                     "its columns do not fit each other");
    std::size_t first = 0;
    for (std::size_t number = 0; number < games_.size(); ++number) {
      check_game(number, first);
      first += games_.game_lengths[number];
    }
    require_possible(row_ == samples_.size(), "a sample is of no position of it");
  }

 private:
  // `first` is the place of its first action.
  void check_game(std::size_t number, std::size_t first) {
    typename G::State state = game_.initial();
    for (std::size_t i = first; i < first + games_.game_lengths[number]; ++i) {
      const Action action = games_.game_actions[i];
      legal_.clear();
      require_possible(game_.expand(state, legal_) == Outcome::kOngoing,
                       "it goes on after its end");
      require_possible(legal_.contains(action), "a move is not legal");
      check_row(number, state, action);
      game_.play(state, action);
    }
    legal_.clear();
    const Outcome outcome = game_.expand(state, legal_);
    const std::uint8_t cut = games_.game_flags[number] & (kResigned | kAdjudicated | kProven);
    require_possible((outcome == Outcome::kOngoing) == (cut != 0), "it did not end so");
    if (cut) return check_row(number, state, {});
    require_possible(games_.game_outcomes[number] == static_cast<std::uint8_t>(outcome),
                     "its result is another");
  }

  void check_row(std::size_t number, const typename G::State& state, std::optional<Action> action) {
    const auto ply = static_cast<std::int64_t>(game_.ply(state));
    if (row_ == samples_.size() || samples_.games[row_] != number ||
        samples_.plies[row_] != std::min<std::int64_t>(ply, 65535)) {
      return;  // not every position is a sample
    }
    check_sample(game_, samples_, state, legal_, action, row_, entry_);
    const std::uint8_t flags = games_.game_flags[number];
    require_possible((samples_.flags[row_] & ~(kFull | kProven)) == (flags & ~kProven),
                     "a sample has other flags");
    const auto outcome = static_cast<Outcome>(games_.game_outcomes[number]);
    require_possible(samples_.results[row_] == outcome_value(outcome, game_.player(state)),
                     "a sample has another result than its game");
    const std::int64_t left =
        std::min<std::int64_t>(std::int64_t{games_.game_lengths[number]} - ply, 65535);
    const bool longer = (flags & kProven) && samples_.plies_left[row_] >= left;
    require_possible(longer || samples_.plies_left[row_] == left,
                     "a sample is not so far from the end");
    ++row_;
  }

  const G& game_;
  const SampleColumns& samples_;
  const GameColumns& games_;
  ActionList legal_;
  std::size_t row_ = 0;    // the next sample
  std::size_t entry_ = 0;  // where its policy begins
};

}  // namespace zermelo
