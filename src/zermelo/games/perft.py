"""Counts paths of the game tree: in the core where the game is native, else in Python."""

from __future__ import annotations

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.protocol import Game, State


def perft(game: Game, state: State, depth: int) -> int:
    """Number of action sequences of length `depth`, as the game itself counts them.

    Native chess looks at no draw rule, native checkers takes a multi-jump as one.
    """
    if depth < 0:
        raise UserError(f"depth {depth} is negative")
    native = getattr(game, "perft", None)
    return plain_perft(game, state, depth) if native is None else int(native(state, depth))


def plain_perft(game: Game, state: State, depth: int) -> int:
    """The definition: finished games have no actions, every action is one ply."""
    if depth == 0:
        return 1
    if game.outcome(state) is not None:
        return 0
    actions = game.legal_actions(state)
    if depth == 1:
        return len(actions)
    return sum(plain_perft(game, game.play(state, action), depth - 1) for action in actions)


def divide(game: Game, state: State, depth: int) -> dict[int, int]:
    """The count below each action; together they are `perft(game, state, depth)`."""
    if depth < 1:
        raise UserError(f"depth {depth} cannot be divided: it must be 1 or more")
    counts = {}
    whole_moves = isinstance(game, getattr(_core, "Checkers", ()))
    for action in game.legal_actions(state):
        after = game.play(state, action)
        same_move = whole_moves and game.player(after) == game.player(state)
        counts[action] = perft(game, after, depth if same_move else depth - 1)
    return counts
