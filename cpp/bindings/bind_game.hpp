// One template that shows any Game to Python, with the verbs of the Python protocol.
//
// In Python a game is an object with its rules (`Connect4()`), a state an immutable value that
// remembers which rules made it, so that a state of another game or board size is refused.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "games/game.hpp"
#include "games/perft.hpp"
#include "games/text.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

using PackedArray = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Expands all rows into memory for `rows` of them.
template <Game G>
void expand_rows(const G& game, const PackedArray& packed, float* out, std::size_t rows) {
  const auto& layout = game.layout();
  if (packed.shape(1) != static_cast<std::size_t>(layout.words())) {
    misuse("packed observations of '", game.name(), "' have ", layout.words(), " words, not ",
           packed.shape(1));
  }
  if (packed.shape(0) > rows) misuse(packed.shape(0), " positions do not fit into ", rows, " rows");
  for (std::size_t i = 0; i < packed.shape(0); ++i) {
    expand_observation(layout, packed.data() + i * layout.words(), out + i * layout.floats());
  }
}

template <Game G>
struct BoundGame {
  std::shared_ptr<const G> rules;
};

template <Game G>
struct BoundState {
  std::shared_ptr<const G> rules;
  typename G::State value;
};

template <Game G>
void check_same_game(const BoundGame<G>& game, const BoundState<G>& state) {
  if (game.rules == state.rules || game.rules->name() == state.rules->name()) return;
  misuse("the state belongs to the game '", state.rules->name(), "', not to '", game.rules->name(),
         "'");
}

inline std::string join(std::span<const Action> actions) {
  std::string text;
  for (const Action action : actions) text += (text.empty() ? "" : ", ") + std::to_string(action);
  return text;
}

// Throws unless `action` can be played in `state`.
template <Game G>
void check_legal(const G& rules, const typename G::State& state, int action) {
  ActionList actions;
  if (rules.expand(state, actions) != Outcome::kOngoing) {
    misuse("action ", action, " cannot be played: the game is over");
  }
  if (action < 0 || action >= rules.num_actions() ||
      !actions.contains(static_cast<Action>(action))) {
    misuse("action ", action, " is not legal here; legal actions are ", join(actions.span()));
  }
}

inline std::optional<Outcome> optional_outcome(Outcome outcome) {
  return outcome == Outcome::kOngoing ? std::nullopt : std::optional(outcome);
}

// Binds `Name` (the game) and `NameState`. The caller adds the constructor.
template <Game G>
nb::class_<BoundGame<G>> bind_game(nb::module_& m, const char* name, const char* doc) {
  using Self = BoundGame<G>;
  using State = BoundState<G>;
  const std::string state_name = std::string(name) + "State";

  nb::class_<State>(m, state_name.c_str(), "An immutable position.")
      .def("__eq__",
           [](const State& a, const State& b) {
             return a.value == b.value && a.rules->name() == b.rules->name();
           })
      .def("__eq__", [](const State&, nb::handle) { return false; })
      .def("__hash__",
           [](const State& s) { return static_cast<Py_hash_t>(s.rules->hash(s.value) >> 1); })
      .def("__str__", [](const State& s) { return s.rules->position_text(s.value); })
      .def("__repr__",
           [](const State& s) {
             return "<" + s.rules->name() + " '" + s.rules->position_text(s.value) + "'>";
           })
      // The position as the bytes of its value: pickles keep the repetition history too.
      .def("__reduce__", [](nb::handle self) {
        const auto& s = nb::cast<const State&>(self);
        nb::object restore = nb::module_::import_("zermelo.games.pickling").attr("restore_state");
        return nb::make_tuple(restore,
                              nb::make_tuple(s.rules->name(), state_bytes(*s.rules, s.value)));
      });

  nb::class_<Self> game(m, name, doc);
  game.def_prop_ro(
          "name", [](const Self& g) { return g.rules->name(); },
          "Name with parameters, as the registry spells it.")
      .def_prop_ro("num_actions", [](const Self& g) { return g.rules->num_actions(); })
      .def_prop_ro(
          "observation_shape",
          [](const Self& g) {
            const auto& layout = g.rules->layout();
            return std::make_tuple(layout.planes(), layout.rows, layout.columns);
          },
          "(planes, rows, columns)")
      .def_prop_ro(
          "observation_layout",
          [](const Self& g) {
            const auto& layout = g.rules->layout();
            return std::make_tuple(layout.rows, layout.columns, layout.binary_planes,
                                   layout.scalar_scales, layout.dense_planes);
          },
          "Of packed observations: rows, columns, binary planes, scales of scalar planes, dense "
          "planes.")
      .def_prop_ro(
          "packed_words", [](const Self& g) { return g.rules->layout().words(); },
          "64-bit words of one packed observation.")
      .def("initial", [](const Self& g) { return State{g.rules, g.rules->initial()}; })
      .def(
          "legal_actions",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            ActionList actions;
            if (g.rules->expand(s.value, actions) != Outcome::kOngoing) return std::vector<int>{};
            return std::vector<int>(actions.begin(), actions.end());
          },
          nb::arg("state"), "Legal actions in the game's fixed order; empty when it is over.")
      .def(
          "play",
          [](const Self& g, const State& s, int action) {
            check_same_game(g, s);
            check_legal(*g.rules, s.value, action);
            State next = s;
            g.rules->play(next.value, static_cast<Action>(action));
            return next;
          },
          nb::arg("state"), nb::arg("action"), "The position after `action`.")
      .def(
          "player",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return static_cast<int>(g.rules->player(s.value));
          },
          nb::arg("state"), "Who moves: 0 is the first player, 1 the second.")
      .def(
          "outcome",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return optional_outcome(g.rules->outcome(s.value));
          },
          nb::arg("state"), "None while the game goes on.")
      .def(
          "observe",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            const auto& layout = g.rules->layout();
            std::vector<std::uint64_t> words(layout.words());
            g.rules->observe(s.value, words.data());
            auto planes = new_array<float>({static_cast<std::size_t>(layout.planes()),
                                            static_cast<std::size_t>(layout.rows),
                                            static_cast<std::size_t>(layout.columns)});
            expand_observation(layout, words.data(), planes.data());
            return planes.numpy();
          },
          nb::arg("state"), "What a network sees: float32 [planes, rows, columns], mover's side.")
      .def(
          "observe_packed",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            auto words =
                new_array<std::uint64_t>({static_cast<std::size_t>(g.rules->layout().words())});
            std::memset(words.data(), 0, sizeof(std::uint64_t) * g.rules->layout().words());
            g.rules->observe(s.value, words.data());
            return words.numpy();
          },
          nb::arg("state"), "The same, packed: uint64 [packed_words].")
      .def(
          "expand_observations",
          [](const Self& g, PackedArray packed) {
            const auto& layout = g.rules->layout();
            auto planes = new_array<float>(
                {packed.shape(0), static_cast<std::size_t>(layout.planes()),
                 static_cast<std::size_t>(layout.rows), static_cast<std::size_t>(layout.columns)});
            expand_rows(*g.rules, packed, planes.data(), packed.shape(0));
            return planes.numpy();
          },
          nb::arg("packed"),
          "uint64 [batch, packed_words] to float32 [batch, planes, rows, columns].")
      .def(
          "expand_observations",
          [](const Self& g, PackedArray packed,
             nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu> out) {
            const auto floats = static_cast<std::size_t>(g.rules->layout().floats());
            if (out.size() != out.shape(0) * floats) {
              misuse("the planes of '", g.rules->name(), "' are ", floats, " numbers a position");
            }
            expand_rows(*g.rules, packed, out.data(), out.shape(0));
          },
          nb::arg("packed"), nb::arg("out"), "The same into the first rows of `out`.")
      .def(
          "hash",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return g.rules->hash(s.value);
          },
          nb::arg("state"), "64 bits that cover all that the observation shows.")
      .def(
          "ply",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return g.rules->ply(s.value);
          },
          nb::arg("state"), "Plies played so far.")
      .def(
          "num_symmetries",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return g.rules->num_symmetries(s.value);
          },
          nb::arg("state"), "Exact symmetries of this position, the identity (number 0) included.")
      .def(
          "transform",
          [](const Self& g, const State& s, int symmetry) {
            check_same_game(g, s);
            if (symmetry < 0 || symmetry >= g.rules->num_symmetries(s.value)) {
              misuse("symmetry ", symmetry, " is not below ", g.rules->num_symmetries(s.value));
            }
            return State{g.rules, g.rules->transform(s.value, symmetry)};
          },
          nb::arg("state"), nb::arg("symmetry"))
      .def(
          "transform_action",
          [](const Self& g, int action, int symmetry) {
            if (action < 0 || action >= g.rules->num_actions())
              misuse("action ", action, " is out of range");
            return static_cast<int>(
                g.rules->transform_action(static_cast<Action>(action), symmetry));
          },
          nb::arg("action"), nb::arg("symmetry"))
      .def(
          "transform_cell",
          [](const Self& g, int cell, int symmetry) {
            if (cell < 0 || cell >= g.rules->layout().cells())
              misuse("cell ", cell, " is out of range");
            return g.rules->transform_cell(cell, symmetry);
          },
          nb::arg("cell"), nb::arg("symmetry"))
      .def(
          "action_text",
          [](const Self& g, const State& s, int action) {
            check_same_game(g, s);
            check_legal(*g.rules, s.value, action);
            return g.rules->action_text(s.value, static_cast<Action>(action));
          },
          nb::arg("state"), nb::arg("action"))
      .def(
          "parse_action",
          [](const Self& g, const State& s, std::string_view text) {
            check_same_game(g, s);
            return static_cast<int>(g.rules->parse_action(s.value, text));
          },
          nb::arg("state"), nb::arg("text"),
          "The legal action that `text` names; ValueError if none.")
      .def(
          "position_text",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return g.rules->position_text(s.value);
          },
          nb::arg("state"))
      .def(
          "parse_position",
          [](const Self& g, std::string_view text) {
            return State{g.rules, g.rules->parse_position(text)};
          },
          nb::arg("text"),
          "The position that `text` describes; ValueError with the reason if none.")
      .def(
          "cells",
          [](const Self& g, const State& s) {
            check_same_game(g, s);
            return g.rules->cells(s.value);
          },
          nb::arg("state"), "rows * columns letters from the top row down; '.' is an empty cell.")
      .def(
          "perft",
          [](const Self& g, const State& s, int depth) {
            check_same_game(g, s);
            if (depth < 0) fail("depth ", depth, " is negative");
            nb::gil_scoped_release unlocked;
            return perft(*g.rules, s.value, depth);
          },
          nb::arg("state"), nb::arg("depth"), "Number of action sequences of length `depth`.")
      .def(
          "repeated_within",
          [](const Self& g, const State& s, [[maybe_unused]] int plies) {
            check_same_game(g, s);
            if constexpr (RepeatingGame<G>) return g.rules->repeated_within(s.value, plies);
            return false;
          },
          nb::arg("state"), nb::arg("plies"),
          "Whether the position already stood on the board during the last `plies` plies.")
      .def("_state_from_bytes",
           [](const Self& g, nb::bytes bytes) {
             return State{g.rules, state_from_bytes(*g.rules, bytes)};
           })
      .def("__eq__",
           [](const Self& a, const Self& b) { return a.rules->name() == b.rules->name(); })
      .def("__eq__", [](const Self&, nb::handle) { return false; })
      .def("__hash__",
           [](const Self& g) {
             return static_cast<Py_hash_t>(std::hash<std::string>{}(g.rules->name()) >> 1);
           })
      .def("__repr__", [](const Self& g) { return "<game '" + g.rules->name() + "'>"; })
      .def("__reduce__", [](const Self& g) {
        nb::object make = nb::module_::import_("zermelo.games").attr("game");
        return nb::make_tuple(make, nb::make_tuple(g.rules->name()));
      });
  return game;
}

}  // namespace zermelo::bindings
