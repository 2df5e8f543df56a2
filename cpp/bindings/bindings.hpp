// What each file of this folder adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace zermelo::bindings {

void bind_tictactoe(nanobind::module_& m);
void bind_connect4(nanobind::module_& m);
void bind_othello(nanobind::module_& m);
void bind_hex(nanobind::module_& m);
void bind_checkers(nanobind::module_& m);
void bind_chess(nanobind::module_& m);
void bind_py_game(nanobind::module_& m);
void bind_network(nanobind::module_& m);
void bind_training(nanobind::module_& m);
void bind_search_types(nanobind::module_& m);

}  // namespace zermelo::bindings
