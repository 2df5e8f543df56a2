// Includes what clang-tidy is to read: the search over a game, and every game.
#include "games/checkers.hpp"
#include "games/chess/chess.hpp"
#include "games/connect4.hpp"
#include "games/connect4_solver.hpp"
#include "games/hex.hpp"
#include "games/othello.hpp"
#include "games/tictactoe.hpp"
#include "search/search.hpp"
#include "selfplay/runner.hpp"

template class zermelo::Search<zermelo::TicTacToe>;
template class zermelo::Runner<zermelo::TicTacToe>;
