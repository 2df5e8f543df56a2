// Counts the paths of the game tree: the standard test that a move generator is right.
#pragma once

#include <cstdint>

#include "games/game.hpp"

namespace zermelo {

// Number of action sequences of length `depth` from `state`. Finished games have none. The last ply
// is counted without being played ("bulk counting").
template <Game G>
std::uint64_t perft(const G& game, const typename G::State& state, int depth) {
  if (depth == 0) return 1;
  if constexpr (requires { game.perft(state, depth); }) return game.perft(state, depth);
  ActionList actions;
  if (game.expand(state, actions) != Outcome::kOngoing) return 0;
  if (depth == 1) return actions.size();
  std::uint64_t paths = 0;
  for (const Action action : actions) {
    auto next = state;
    game.play(next, action);
    paths += perft(game, next, depth - 1);
  }
  return paths;
}

}  // namespace zermelo
