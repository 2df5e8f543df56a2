"""S29 and the preference for fewer plies left (S10): what draws a search to the end of a game."""

import random
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import DRAW, TableEvaluator, TreeGame, random_position

from zermelo import _core, reference
from zermelo.games.native import native_game
from zermelo.reference import ending
from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

NARROW_AND_WIDE = [[5, 5], [5] * 8]  # the other player has two answers, or eight


def visits(
    tree: list[Any], value: float, plies: dict[int, float] | None = None, **options: Any
) -> Any:
    """Of the root's actions, where every position is worth `value` to the first player."""
    game = TreeGame(tree)

    def worth(path: tuple[int, ...]) -> float:
        return value if len(path) % 2 == 0 else -value

    evaluator: Any = TableEvaluator(game, worth)
    if plies is not None:
        evaluator = WithPlies(evaluator, plies)
    chosen = SearchOptions(
        **{"cache_mib": 0, "solver": False, "turn_discount": 1.0, "fpu": "parent", **options}
    )
    return Search(game, evaluator, chosen).run((), simulations=200).visits.tolist()


class WithPlies:
    """A table that also tells plies left, by the root's action that leads to a position."""

    def __init__(self, table: TableEvaluator, plies: dict[int, float]) -> None:
        self.table, self.plies = table, plies

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.table(observations)

    def with_plies_left(self, observations: np.ndarray) -> tuple[np.ndarray, ...]:
        paths = [self.table.game.paths[int(number)] for number in observations.ravel()]
        left = [self.plies[path[0]] - len(path) if path else 30.0 for path in paths]
        return (*self.table(observations), np.array(left, np.float32)[:, None])


@pytest.mark.technique("S29")
def test_who_is_winning_prefers_what_leaves_fewer_answers() -> None:
    narrow, wide = visits(NARROW_AND_WIDE, 0.8)
    assert abs(narrow - wide) <= 1
    narrow, wide = visits(NARROW_AND_WIDE, 0.8, proof_weight=0.1)
    assert narrow > 1.5 * wide
    wide, narrow = visits(NARROW_AND_WIDE[::-1], 0.8, proof_weight=0.1)
    assert narrow > 1.5 * wide


@pytest.mark.technique("S29")
def test_who_is_not_winning_searches_as_ever() -> None:
    for value, threshold in ((0.4, 0.5), (0.8, 0.9)):
        plain = visits(NARROW_AND_WIDE, value)
        assert visits(NARROW_AND_WIDE, value, proof_weight=1.0, proof_threshold=threshold) == plain


@pytest.mark.technique("S29")
def test_proof_numbers_are_those_of_the_whole_tree() -> None:
    """Counted anew from the finished tree, by the definition."""
    found = set()
    for name in ("tictactoe", "connect4"):
        game = native(name)
        for seed in range(6):
            state = random_position(game, random.Random(f"{name} {seed}"), 30)
            options = reference.Options(proof_weight=0.3, proof_threshold=-1.0)
            root = reference.search(game, state, HashEvaluator(seed), 120, options)

            def number(node: Any, chooser: int, state: Any, winner: int, game: Any = game) -> float:
                if node.certain:
                    wins = 1 if chooser == winner else -1
                    return 0 if node.certain.result == wins else ending.NEVER
                if not node.children:
                    return 1
                mover = game.player(state)
                below = [
                    number(c, mover, game.play(state, c.action), winner) for c in node.children
                ]
                if mover == winner:
                    return min(below)
                return ending.NEVER if ending.NEVER in below else sum(below)

            mover = game.player(state)
            for child in root.children:
                for winner in (0, 1):
                    known = ending.proof_number(child, mover, winner)
                    expected = number(child, mover, game.play(state, child.action), winner)
                    assert known == expected, (name, seed, child.action)
                    found.add(known)
    assert len(found) > 5


@pytest.mark.technique("S29")
def test_drawn_and_lost_actions_get_no_bonus() -> None:
    options: dict[str, Any] = {
        "solver": True, "proof_weight": 1.0, "proof_threshold": -1.0, "auto_extend": False,
    }  # fmt: skip
    drawn, open_ = visits([[DRAW], [5, 5]], 0.0, **options)
    assert open_ > 10 * drawn


@pytest.mark.technique("S29")
def test_self_play_searches_without_proof_numbers() -> None:
    game = native("tictactoe")

    def samples(**chosen: float) -> bytes:
        runner: Any = _core.make_selfplay(
            native_game(game), _core.HashEvaluator(1), SearchOptions(cache_mib=0, **chosen),
            _core.SelfPlayOptions(simulations=30), None,
        )  # fmt: skip
        return bytes(np.asarray(runner.play(200, 0.0, None)["policy_shares"]).tobytes())

    assert samples() == samples(proof_weight=5.0, proof_threshold=-1.0)


@pytest.mark.technique("S10")
def test_who_wins_prefers_fewer_plies_and_who_loses_more() -> None:
    plies = {0: 40.0, 1: 10.0}
    options = {"moves_left_slope": 0.01, "moves_left_cap": 0.2, "moves_left_threshold": 0.5}
    long, short = visits([5, 5], 0.9, plies)
    assert abs(long - short) <= 1
    long, short = visits([5, 5], 0.9, plies, **options)
    assert short > 2 * long
    long, short = visits([5, 5], -0.9, plies, **options)
    assert long > 2 * short
    assert visits([5, 5], 0.4, plies, **options) == visits([5, 5], 0.4, plies)
    slight = {**options, "moves_left_cap": 0.001}
    long, short = visits([5, 5], 0.9, plies, **slight)
    assert abs(long - short) < 10


@pytest.mark.technique("S10")
def test_plies_left_need_a_network_that_tells_them() -> None:
    with pytest.raises(ValueError, match="needs a network with a moves-left head"):
        visits([5, 5], 0.9, moves_left_slope=0.01)


@pytest.mark.technique("S10", "S14")
def test_plies_left_come_from_the_cache_too() -> None:
    game = native("connect4")
    found = []
    for cache_mib in (0, 1):
        options = SearchOptions(
            moves_left_slope=0.02, moves_left_cap=0.5, moves_left_threshold=0.0,
            cache_mib=cache_mib, cache_symmetry=False,
        )  # fmt: skip
        result = Search(game, HashEvaluator(2), options).run(game.initial(), simulations=400)
        found.append(result.visits.tolist())
    assert found[0] == found[1]
    plain = Search(game, HashEvaluator(2), SearchOptions(cache_mib=0))
    assert found[0] != plain.run(game.initial(), simulations=400).visits.tolist()


@pytest.mark.technique("S10", "S29")
def test_nodes_grow_only_where_an_option_asks_for_it() -> None:
    game = native("connect4")

    def node_bytes(**chosen: float) -> float:
        options = SearchOptions(cache_mib=0, **chosen)
        result = Search(game, HashEvaluator(2), options).run(game.initial(), simulations=2000)
        return float(result.bytes) / result.nodes

    plain = node_bytes()
    for chosen in ({"proof_weight": 0.1}, {"moves_left_slope": 0.01}):
        assert plain + 30 < node_bytes(**chosen) < plain + 50
