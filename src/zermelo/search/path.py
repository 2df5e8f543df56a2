"""The way from one position to another: what a kept tree or board has to be moved along.

Knows the rules of games only, nothing of trees.
"""

from __future__ import annotations

from zermelo.games.native import is_native
from zermelo.games.protocol import Game, State, state_hash


def path_between(game: Game, before: State, after: State, turns: int = 1) -> list[int] | None:
    """The actions of at most so many turns that lead to an equal position; None if none do.

    Actions in a row of one player are one turn. Equal means to the eye: pasts may differ. A search
    compares them itself before it goes on with a tree.
    """
    wanted = state_hash(game, after)
    compared = is_native(game)  # states of a game in Python may be of any type

    def there(state: State) -> bool:
        return state_hash(game, state) == wanted and (not compared or state == after)

    if there(before):
        return []
    ends: list[tuple[State, list[int]]] = [(before, [])]  # where a turn begins
    for _ in range(turns):
        begun, ends = ends, []
        while begun:  # by the number of actions
            within: list[tuple[State, list[int]]] = []
            for state, path in begun:
                if game.outcome(state) is not None:
                    continue
                mover = game.player(state)
                for action in game.legal_actions(state):
                    reached = game.play(state, action)
                    if there(reached):
                        return [*path, action]
                    goes_on = game.player(reached) == mover
                    (within if goes_on else ends).append((reached, [*path, action]))
            begun = within
    return None
