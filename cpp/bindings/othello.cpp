#include "games/othello.hpp"

#include "bindings/bind_search.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_othello(nb::module_& m) {
  bind_game<Othello>(m, "Othello", "Othello on 8 x 8 or 6 x 6.")
      .def(nb::new_([](int size) {
             return BoundGame<Othello>{std::make_shared<Othello>(OthelloOptions{.size = size})};
           }), nb::arg("size") = 8);
  bind_search<Othello>(m, "Othello");
}

}  // namespace zermelo::bindings
