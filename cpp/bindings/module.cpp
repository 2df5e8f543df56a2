// The module `zermelo._core`.
#include <nanobind/nanobind.h>

#include "base/refused.hpp"
#include "base/types.hpp"
#include "bindings/bindings.hpp"

namespace nb = nanobind;
using namespace zermelo;

NB_MODULE(_core, m) {
  // An evaluator written in Python may refer to the search that uses it; such cycles live until
  // exit.
  nb::set_leak_warnings(false);
  m.doc() = "Zermelo's native core: games, search and self-play.";
  // A ValueError of its own, so that a program can tell it from a mistake of its own.
  nb::exception<Refused>(m, "RefusedError", PyExc_ValueError);
  nb::enum_<Outcome>(m, "Outcome", "How a game ended.", nb::is_arithmetic())
      .value("FIRST_WINS", Outcome::kFirstWins)
      .value("DRAW", Outcome::kDraw)
      .value("SECOND_WINS", Outcome::kSecondWins);
  bindings::bind_network(m);
  bindings::bind_training(m);
  bindings::bind_search_types(m);
  bindings::bind_tictactoe(m);
  bindings::bind_connect4(m);
  bindings::bind_othello(m);
  bindings::bind_hex(m);
  bindings::bind_checkers(m);
  bindings::bind_chess(m);
  bindings::bind_py_game(m);
}
