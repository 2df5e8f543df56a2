"""What a player is: a name and a choice."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from zermelo.games.protocol import Game, State


class Player(Protocol):
    """Chooses actions. One player may play any number of games, one after another."""

    @property
    def name(self) -> str:
        """As the registry spells it."""

    def choose(self, game: Game, state: State) -> int:
        """A legal action; the game must not be over."""


@runtime_checkable
class StartsGames(Protocol):
    """Players that remember something from move to move."""

    def start_game(self) -> None:
        """A new game begins: forget the last one."""
