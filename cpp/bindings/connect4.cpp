#include "games/connect4.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"
#include "games/connect4_solver.hpp"

namespace zermelo::bindings {

namespace {

// Lets Ctrl-C end a long solution; called without the interpreter's lock.
bool check_ctrl_c() {
  nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return false;
}

}  // namespace

void bind_connect4(nb::module_& m) {
  bind_game<Connect4>(m, "Connect4", "Four in a row, 7 columns by 6 rows.").def(nb::new_([] {
    return BoundGame<Connect4>{std::make_shared<Connect4>()};
  }));
  bind_search<Connect4>(m, "Connect4");
  bind_selfplay<Connect4>(m, "Connect4");

  using State = BoundState<Connect4>;
  nb::class_<Connect4Solver>(m, "Connect4Solver",
                             "Exact scores: positive wins for the mover, magnitude 22 minus the "
                             "winner's stones at the end.")
      .def(nb::init<int>(), nb::arg("table_mib") = Connect4Solver::kDefaultTableMib)
      .def(
          "solve",
          [](Connect4Solver& self, const State& state) {
            return self.solve(state.value, check_ctrl_c);
          },
          nb::arg("state"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "solve_weak",
          [](Connect4Solver& self, const State& state) {
            return self.solve_weak(state.value, check_ctrl_c);
          },
          nb::arg("state"), nb::call_guard<nb::gil_scoped_release>(), "Only who wins: 1, 0 or -1.")
      .def(
          "analyse",
          [](Connect4Solver& self, const State& state) {
            return self.analyse(state.value, check_ctrl_c);
          },
          nb::arg("state"), nb::call_guard<nb::gil_scoped_release>(),
          "The score of every column for the mover; None for full columns.")
      .def(
          "build_book",
          [](Connect4Solver& self, int max_plies, const std::string& path) {
            self.build_book(max_plies, path, check_ctrl_c);
          },
          nb::arg("max_plies"), nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def("load_book", &Connect4Solver::load_book, nb::arg("path"))
      .def_prop_ro("nodes", &Connect4Solver::nodes)
      .def("reset", &Connect4Solver::reset);
}

}  // namespace zermelo::bindings
