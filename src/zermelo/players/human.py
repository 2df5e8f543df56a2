"""A person at the terminal, asked for each action."""

from __future__ import annotations

from collections.abc import Callable

from zermelo.errors import REFUSALS
from zermelo.games.notation import parse_action
from zermelo.games.protocol import Game, State
from zermelo.games.render import ascii_board


class HumanPlayer:
    """Asks until the answer is a legal action."""

    name = "human"

    def __init__(self, ask: Callable[[str], str] = input) -> None:
        self._ask = ask

    def choose(self, game: Game, state: State) -> int:
        """Shows the board and reads one action."""
        print(ascii_board(game, state))
        while True:
            try:
                return parse_action(game, state, self._ask("your action> ").strip())
            except REFUSALS as error:
                print(error)
