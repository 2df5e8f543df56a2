#include "bindings/py_game.hpp"

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

template <>
struct StateCaster<PyGame> {
  static PyGame::State get(const BoundGame<PyGame>& game, nb::handle state) {
    return game.rules->adopt(nb::borrow(state), 0);
  }
};

void bind_py_game(nb::module_& m) {
  m.def(
      "value_hash",
      [](nb::handle state) -> nb::object {
        const auto hash = ValueHash()(state);
        return hash ? nb::cast(*hash) : nb::none();
      },
      nb::arg("state"), nb::sig("def value_hash(state: object) -> int | None"),
      "64 bits for a plain value or a dataclass of plain values; None for other objects.");
  m.def(
      "bytes_hash", [](nb::bytes data) { return bytes_hash(data.c_str(), data.size()); },
      nb::arg("data"), "64 bits for bytes.");
  using Self = BoundGame<PyGame>;
  nb::class_<Self>(m, "PyGame", "A game written in Python, for the native search and perft.")
      .def(
          nb::new_([](nb::object game) { return Self{std::make_shared<PyGame>(std::move(game))}; }),
          nb::arg("game"))
      .def_prop_ro("name", [](const Self& g) { return g.rules->name(); })
      .def_prop_ro("num_actions", [](const Self& g) { return g.rules->num_actions(); })
      .def(
          "perft",
          [](const Self& g, nb::object state, int depth) {
            const auto position = g.rules->adopt(std::move(state), 0);
            nb::gil_scoped_release unlocked;
            return perft(*g.rules, position, depth);
          },
          nb::arg("state"), nb::arg("depth"));
  bind_search<PyGame>(m, "Py");
  bind_selfplay<PyGame>(m, "Py");
}

}  // namespace zermelo::bindings
