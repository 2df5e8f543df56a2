"""The newest self-play game of a run, played through again and again for whoever watches.

Reads the run's shards now and then; what cannot be read is not shown. One thread.
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.text import Text

from zermelo.errors import REFUSALS
from zermelo.games.notation import action_text, outcome_text
from zermelo.games.protocol import Game
from zermelo.games.render import rich_board
from zermelo.runs.recent_games import ListedGame, Ply, one_game, recent_games

LOOK_EVERY = 5.0  # seconds; reading a shard takes milliseconds
PLY_SECONDS = 0.6
END_SECONDS = 2.4  # that the end stays


class NewestGame:
    """A position of the newest game at any time."""

    def __init__(self, replay: Path, game: Game) -> None:
        self._replay = replay
        self._game = game
        self._looked = -LOOK_EVERY
        self._began = 0.0
        self._shown: ListedGame | None = None
        self._plies: list[Ply] = []

    def frame(self) -> Text | None:
        """The position to show now with the move that led there; None while there is no game."""
        now = time.monotonic()
        if now - self._looked >= LOOK_EVERY and self._is_over(now):
            self._looked = now
            self._look(now)
        if self._shown is None:
            return None
        number = min(int((now - self._began) / PLY_SECONDS), len(self._plies) - 1)
        return self._drawn(self._shown, number)

    def _is_over(self, now: float) -> bool:
        """A game under way is shown to its end, but no longer than a minute."""
        length = len(self._plies) * PLY_SECONDS + END_SECONDS
        return self._shown is None or now - self._began >= min(60.0, length)

    def _look(self, now: float) -> None:
        try:
            newest = recent_games(self._replay, self._game, 1)
            if newest:
                _, plies = one_game(self._replay, self._game, newest[0].shard, newest[0].number)
                self._shown, self._plies = newest[0], plies
        except REFUSALS:  # a shard that is removed or damaged meanwhile
            return
        self._began = now

    def _drawn(self, shown: ListedGame, number: int) -> Text:
        ply, last = self._plies[number], number == len(self._plies) - 1
        text = Text(f"self-play, iteration {shown.iteration}\n", "dim")
        before = self._plies[number - 1] if number else None
        action = None if before is None else before.action
        state = None if before is None else before.state
        text.append(rich_board(self._game, ply.state, action, state))
        if before is None or action is None:
            said = "\nthe start"
        else:
            said = f"\n{number}. {action_text(self._game, state, action)}"
            if before.search is not None:
                said += f"  value {before.search.value:+.2f}"
        text.append(said, "dim")
        if last:
            text.append(f"\n{outcome_text(shown.outcome)}", "bold")
        return text
