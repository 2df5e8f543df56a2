"""`go perft`: counts the leaves of the tree of legal moves, root move by root move.

Counts in pieces, so that it can be stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from zermelo.errors import UserError
from zermelo.games.protocol import State

PIECE = 4  # plies counted by one call into the core
LONGEST_PIECE = 8  # where a game is over by a draw rule the core alone can go on


def perft_lines(game: Any, state: State, depth: int, stopped: Callable[[], bool]) -> Iterator[str]:
    """`move: leaves` for each root move, then the sum; draw rules do not apply."""
    total = 0
    if depth < 1:
        total = 1
    elif game.outcome(state) is not None:
        total = _drawn(game, state, depth)
    else:
        for action in game.legal_actions(state):
            count = _count(game, game.play(state, action), depth - 1, stopped)
            if stopped():
                yield "info string error perft was stopped"
                return
            total += count
            yield f"{game.action_text(state, action)}: {count}"
    yield f"Nodes searched: {total}"


def _count(game: Any, state: State, depth: int, stopped: Callable[[], bool]) -> int:
    """Means nothing when stopped."""
    if stopped():
        return 0
    if depth <= PIECE:
        return int(game.perft(state, depth))
    if game.outcome(state) is not None:
        return _drawn(game, state, depth)
    actions = game.legal_actions(state)
    return sum(_count(game, game.play(state, a), depth - 1, stopped) for a in actions)


def _drawn(game: Any, state: State, depth: int) -> int:
    if depth > LONGEST_PIECE:
        raise UserError(f"perft counts {LONGEST_PIECE} plies after a draw, not {depth}")
    return int(game.perft(state, depth))
