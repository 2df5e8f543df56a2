#include "games/tictactoe.hpp"

#include "bindings/bind_selfplay.hpp"
#include "bindings/bindings.hpp"

namespace zermelo::bindings {

void bind_tictactoe(nb::module_& m) {
  bind_game<TicTacToe>(m, "TicTacToe", "Three in a row on a board of 3 x 3.").def(nb::new_([] {
    return BoundGame<TicTacToe>{std::make_shared<TicTacToe>()};
  }));
  bind_search<TicTacToe>(m, "TicTacToe");
  bind_selfplay<TicTacToe>(m, "TicTacToe");
}

}  // namespace zermelo::bindings
