// The Game concept: all that search, self-play and the bindings know of a game.
//
// A game object holds the rules' parameters (a board size, say) and no position; positions are
// small values of type State. The verbs are those of the Python protocol in
// `zermelo/games/protocol.py`. A game knows nothing of search. Functions that take text throw
// Refused with one sentence that names what is wrong and where; everything else
// assumes legal input and is unchecked.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.hpp"
#include "games/observation.hpp"

namespace zermelo {

template <class G>
concept Game = std::copyable<G> && std::copyable<typename G::State> &&
               std::default_initializable<typename G::State> &&
               requires(const G& game, const typename G::State& state,
                        typename G::State& mutable_state, Action action, ActionList& actions,
                        std::uint64_t* words, int symmetry, int cell, std::string_view text) {
                 // Name with its parameters as the registry spells it: "connect4", "hex?size=7".
                 { game.name() } -> std::same_as<std::string>;
                 { game.num_actions() } -> std::same_as<int>;
                 { game.layout() } -> std::same_as<const ObservationLayout&>;

                 { game.initial() } -> std::same_as<typename G::State>;
                 // The outcome; while it is kOngoing also the legal actions, in a fixed order,
                 // appended to the cleared list. The search asks for both with one call.
                 { game.expand(state, actions) } -> std::same_as<Outcome>;
                 { game.outcome(state) } -> std::same_as<Outcome>;
                 // In place. The action must be legal.
                 { game.play(mutable_state, action) } -> std::same_as<void>;
                 { game.player(state) } -> std::same_as<Player>;
                 // Plies played since the initial position, or as the position's text tells.
                 { game.ply(state) } -> std::same_as<int>;
                 // Covers everything that observe() shows and the rules ask for, but older history.
                 { game.hash(state) } -> std::same_as<std::uint64_t>;
                 // Fills layout().words() words.
                 { game.observe(state, words) } -> std::same_as<void>;

                 // Exact symmetries; number 0 is the identity. `transform` maps a position,
                 // `transform_action` its actions, `transform_cell` the cells of its observation:
                 // the value is unchanged and the policy moves with the actions.
                 { game.num_symmetries(state) } -> std::same_as<int>;
                 { game.transform(state, symmetry) } -> std::same_as<typename G::State>;
                 { game.transform_action(action, symmetry) } -> std::same_as<Action>;
                 { game.transform_cell(cell, symmetry) } -> std::same_as<int>;

                 { game.action_text(state, action) } -> std::same_as<std::string>;
                 { game.parse_action(state, text) } -> std::same_as<Action>;  // legal, or it throws
                 { game.position_text(state) } -> std::same_as<std::string>;
                 { game.parse_position(text) } -> std::same_as<typename G::State>;
                 // rows * columns characters from the top row down, as a person sees the board:
                 // '.' is empty, other letters are the game's own pieces.
                 { game.cells(state) } -> std::same_as<std::string>;
               };

// Games in which a position can come back. `repeated_within` tells whether the position already
// stood on the board during the last `plies` plies (S13).
template <class G>
concept RepeatingGame =
    Game<G> && requires(const G& game, const typename G::State& state, int plies) {
      { game.repeated_within(state, plies) } -> std::same_as<bool>;
    };

}  // namespace zermelo
