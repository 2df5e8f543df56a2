#include "games/othello.hpp"

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_othello(nb::module_& m) {
  bind_game<Othello>(m, "Othello", "Othello on 8 x 8 or 6 x 6.")
      .def(nb::new_([](int size) {
             return BoundGame<Othello>{std::make_shared<Othello>(OthelloOptions{.size = size})};
           }),
           nb::arg("size") = 8)
      .def(
          "disc_difference",
          [](const BoundGame<Othello>& g, const BoundState<Othello>& s) {
            check_same_game(g, s);
            return g.rules->disc_difference(s.value);
          },
          nb::arg("state"), "The mover's discs less the other player's.")
      .def(
          "final_score",
          [](const BoundGame<Othello>& g, const BoundState<Othello>& s) {
            check_same_game(g, s);
            return g.rules->final_score(s.value);
          },
          nb::arg("state"), "The same with the empty cells given to the winner.");
  bind_search<Othello>(m, "Othello");
  bind_selfplay<Othello>(m, "Othello");
}

}  // namespace zermelo::bindings
