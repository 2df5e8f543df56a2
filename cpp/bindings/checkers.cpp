#include "games/checkers.hpp"

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_checkers(nb::module_& m) {
  bind_game<Checkers>(m, "Checkers", "English draughts.")
      .def(nb::new_([](int quiet_plies) {
             return BoundGame<Checkers>{
                 std::make_shared<Checkers>(CheckersOptions{.quiet_plies = quiet_plies})};
           }),
           nb::arg("quiet_plies") = 80);
  bind_search<Checkers>(m, "Checkers");
  bind_selfplay<Checkers>(m, "Checkers");
}

}  // namespace zermelo::bindings
