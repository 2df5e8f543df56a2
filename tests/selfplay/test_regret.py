"""P8: games that begin again where earlier ones were most wrong."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from native_games import native

from zermelo import _core

pytestmark = pytest.mark.technique("P8")
ALMOST_NEVER = 1e-12  # the buffer is kept, but no game begins from it
MASK = (1 << 64) - 1


def made(**options: Any) -> Any:
    rules: Any = native("connect4")
    chosen = {"games": 8, "simulations": 16, "full_search_probability": 1.0, "seed": 5, **options}
    search = _core.SearchOptions(solver=False, cache_mib=0)
    return _core.make_selfplay(
        rules, _core.HashEvaluator(3), search, _core.SelfPlayOptions(**chosen), None
    )


def games(played: dict[str, Any]) -> list[list[int]]:
    """The moves of each game."""
    ends = np.cumsum(played["game_lengths"])[:-1]
    return [list(map(int, moves)) for moves in np.split(played["game_actions"], ends)]


def regrets(played: dict[str, Any]) -> list[list[tuple[int, float]]]:
    """Of each game by ply, by the definition, from what the samples say of searches and results."""
    values = played["values"] / 32767.0
    errors = np.square(values - played["results"])
    found = []
    for number in range(len(played["game_lengths"])):
        rows = np.flatnonzero(played["games"] == number)
        found.append([(int(played["plies"][r]), float(errors[rows[i:]].mean()))
                      for i, r in enumerate(rows)])  # fmt: skip
    return found


def test_the_positions_of_most_regret_are_kept_one_of_each_game() -> None:
    runner = made(regret_share=ALMOST_NEVER, regret_positions=10)
    played = runner.play(1200)
    expected = {}
    for moves, of_game in zip(games(played), regrets(played), strict=True):
        ply, regret = max((e for e in of_game if e[0] > 0), key=lambda each: each[1])
        expected[tuple(moves[:ply])] = regret
    kept = {tuple(moves): regret for moves, regret in runner.regrets}
    best = sorted(expected.values(), reverse=True)[:10]
    assert sorted(kept.values(), reverse=True) == pytest.approx(best, abs=2e-3)
    assert kept.keys() <= expected.keys()
    mean = np.mean([of_game[0][1] for of_game in regrets(played)])
    statistics = played["statistics"]
    assert statistics["regret"] / statistics["regretted"] == pytest.approx(mean, abs=1e-3)
    assert statistics["restarts"] == 0


def test_a_share_of_the_games_begins_from_kept_positions() -> None:
    runner = made(regret_share=ALMOST_NEVER, regret_positions=6)
    runner.play(600)
    kept = {tuple(moves) for moves, _ in runner.regrets}
    options = runner.options
    changed = {**options.to_dict(), "regret_share": 0.5, "regret_rate": 0.0}
    runner.set_options(_core.SelfPlayOptions(**changed))
    played = runner.play(1500)
    number = len(played["game_lengths"])
    restarts = played["statistics"]["restarts"]
    assert 0.3 < restarts / number < 0.7
    first = {n: int(played["plies"][played["games"] == n].min()) for n in range(number)}
    again = [tuple(games(played)[n][:ply]) for n, ply in first.items() if ply > 0]
    assert len(again) == restarts
    assert kept & set(again)
    for moves, _ in runner.regrets:  # positions are of games, and not over
        state = native("connect4").initial()
        for action in moves:
            state = native("connect4").play(state, action)
        assert native("connect4").outcome(state) is None


def test_positions_are_drawn_in_proportion_to_a_power_of_their_regret() -> None:
    buffer = _core.RegretBuffer(4, 0.5, 0.5)
    weights = [0.5, 1.0, 2.0, 3.0]
    for action, regret in enumerate(weights):
        buffer.add([action], regret)
    random = _core.Random(3)
    counts = np.zeros(4)
    for _ in range(4000):
        moves = buffer.draw(random)
        assert moves is not None
        counts[moves[0]] += 1
    expected = np.square(weights) / np.square(weights).sum()
    assert counts / 4000 == pytest.approx(expected, abs=0.03)


def test_the_buffer_keeps_the_most_and_averages_what_is_played_again() -> None:
    buffer = _core.RegretBuffer(2, 1.0, 0.25)
    for moves, regret in (([1], 1.0), ([2], 2.0), ([3], 0.5), ([4], 3.0)):
        buffer.add(moves, regret)
    assert {moves[0]: regret for moves, regret in buffer.positions} == {2: 2.0, 4: 3.0}
    assert buffer.again([2], 0.0)
    assert not buffer.again([7], 0.0)
    assert {moves[0]: regret for moves, regret in buffer.positions} == {2: 1.5, 4: 3.0}
    buffer.add([], 4.0)  # the start is no place to begin again
    assert len(buffer.positions) == 2
    assert _core.RegretBuffer(2, 1.0, 0.5).draw(_core.Random(1)) is None


def test_saved_games_go_on_alike_with_their_regrets() -> None:
    runner = made(regret_share=0.5, regret_positions=20)
    runner.play(400)
    runner.drop_trees()
    other = made(regret_share=0.5, regret_positions=20)
    other.load(runner.save())
    assert other.regrets == runner.regrets
    assert other.regrets
    a, b = runner.play(300), other.play(300)
    for name in ("observations", "values", "game_actions", "policy_shares"):
        assert np.array_equal(a[name], b[name])
    assert runner.save() == other.save()


def resealed(body: bytes) -> bytes:
    total = 0xCBF29CE484222325
    for byte in body:
        total = (total ^ byte) * 0x100000001B3 & MASK
    return body + struct.pack("<Q", total)


@pytest.mark.parametrize("regret", [math.nan, -1.0, 4.5, math.inf])
def test_an_impossible_regret_in_a_file_is_refused(regret: float) -> None:
    runner = made(regret_share=0.5, regret_positions=3)
    runner.play(300)
    runner.drop_trees()
    body = bytearray(runner.save()[:-8])  # the buffer stands last, each regret behind its moves
    struct.pack_into("<d", body, len(body) - 8, regret)
    with pytest.raises(_core.RefusedError, match="out of range"):
        runner.load(resealed(bytes(body)))


def test_an_illegal_move_to_a_position_is_refused() -> None:
    runner = made(regret_share=0.5, regret_positions=3)
    runner.play(300)
    runner.drop_trees()
    body = bytearray(runner.save()[:-8])
    struct.pack_into("<H", body, len(body) - 10, 77)
    with pytest.raises(_core.RefusedError, match="not legal"):
        runner.load(resealed(bytes(body)))


def test_without_a_share_nothing_is_kept_and_games_are_what_they_were() -> None:
    runner = made()
    played = runner.play(300)
    assert not runner.regrets
    assert played["statistics"]["restarts"] == 0
    kept = made(regret_share=ALMOST_NEVER)
    kept.play(300)
    assert kept.regrets
