#include "games/chess/chess.hpp"

#include "bindings/bind_search.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_chess(nb::module_& m) {
  bind_game<Chess>(m, "Chess", "Chess and Chess960.")
      .def(nb::new_([](bool chess960, std::string_view encoder, bool mirror) {
             return BoundGame<Chess>{std::make_shared<Chess>(ChessOptions{
                 .chess960 = chess960, .encoder = chess::parse_encoder(encoder), .mirror = mirror})};
           }),
           nb::arg("chess960") = false, nb::arg("encoder") = "compact", nb::arg("mirror") = false);
  bind_search<Chess>(m, "Chess");
}

}  // namespace zermelo::bindings
