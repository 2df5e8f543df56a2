#include "games/hex.hpp"

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_hex(nb::module_& m) {
  bind_game<Hex>(m, "Hex", "Hex on boards of 3 x 3 to 11 x 11.")
      .def(nb::new_([](int size, bool swap) {
             return BoundGame<Hex>{std::make_shared<Hex>(HexOptions{.size = size, .swap = swap})};
           }),
           nb::arg("size") = 11, nb::arg("swap") = false);
  bind_search<Hex>(m, "Hex");
  bind_selfplay<Hex>(m, "Hex");
}

}  // namespace zermelo::bindings
