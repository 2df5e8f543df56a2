#include "games/chess/chess.hpp"

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_chess(nb::module_& m) {
  bind_game<Chess>(m, "Chess", "Chess and Chess960.")
      .def(
          nb::new_([](bool chess960, std::string_view encoder, bool mirror) {
            return BoundGame<Chess>{std::make_shared<Chess>(ChessOptions{
                .chess960 = chess960, .encoder = chess::parse_encoder(encoder), .mirror = mirror})};
          }),
          nb::arg("chess960") = false, nb::arg("encoder") = "compact", nb::arg("mirror") = false)
      .def(
          "chess960_start",
          [](const BoundGame<Chess>& g, int number) {
            return BoundState<Chess>{g.rules, g.rules->chess960_start(number)};
          },
          nb::arg("number"), "The Chess960 start position of that number, 0 to 959.")
      .def(
          "legal_moves",
          [](const BoundGame<Chess>& g, const BoundState<Chess>& s) {
            check_same_game(g, s);
            ActionList actions;
            g.rules->legal_moves(s.value, actions);
            return std::vector<int>(actions.begin(), actions.end());
          },
          nb::arg("state"), "The position's moves, also where a draw rule has ended the game.");
  bind_search<Chess>(m, "Chess");
  bind_selfplay<Chess>(m, "Chess");
}

}  // namespace zermelo::bindings
