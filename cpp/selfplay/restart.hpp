// P8: how a game of self-play begins from a position of high regret, and what a finished one adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "games/game.hpp"
#include "selfplay/board.hpp"
#include "selfplay/options.hpp"
#include "selfplay/played.hpp"
#include "selfplay/regret.hpp"
#include "selfplay/sample.hpp"

namespace zermelo {

// The board stands at the start. A share of the games begins from a position, if there is one, and
// has no opening then.
template <Game G>
void begin_from_regret(const G& game, const RegretBuffer& regrets, const SelfPlayOptions& options,
                       PlayingBoard<G>& board) {
  board.judgements.clear();
  board.restart_plies = 0;
  if (options.regret_share <= 0 || board.random.uniform() >= options.regret_share) return;
  auto moves = regrets.draw(options.regret_rules(), board.random);
  // Positions of saved games may be later than a lowered max_plies allows.
  if (!moves || moves->size() >= static_cast<std::size_t>(options.max_plies)) return;
  for (const Action action : *moves) game.play(board.tree.state, action);
  board.history = std::move(*moves);
  board.restart_plies = board.history.size();
  board.opening_plies = 0;
}

// What a finished game says of its positions. `reason` is as in samples; a result that was not
// reached by the rules proves nothing.
template <Game G>
void note_regret(const PlayingBoard<G>& board, Outcome outcome, std::uint8_t reason,
                 const SelfPlayOptions& options, RegretBuffer& regrets,
                 SelfPlayStatistics& statistics) {
  statistics.restarts += board.restart_plies > 0;
  const auto& plies = board.judgements.plies;
  if (plies.empty() || (reason & kAdjudicated)) return;
  const std::vector<double> found =
      board.judgements.regrets(outcome_value(outcome, Player::kFirst));
  ++statistics.regretted;
  statistics.regret += found.front();
  if (options.regret_share <= 0) return;
  const RegretRules rules = options.regret_rules();
  const std::span<const Action> history(board.history);
  if (board.restart_plies > 0 && plies.front() == board.restart_plies) {
    regrets.again(history.first(board.restart_plies), found.front(), rules);
  }
  // Neighbours of one game regret the same: the worst stands for them.
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < plies.size(); ++i) {
    if (plies[i] > board.restart_plies && (!worst || found[i] > found[*worst])) worst = i;
  }
  if (worst) regrets.add(history.first(plies[*worst]), found[*worst], rules);
}

}  // namespace zermelo
