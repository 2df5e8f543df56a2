"""A rating by an engine's levels while a run is under way."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from scripts import load_script

import zermelo
from zermelo.errors import UserError
from zermelo.games.protocol import State
from zermelo.players import player as find_player
from zermelo.players.protocol import PlayerError
from zermelo.search import UniformEvaluator
from zermelo.yardsticks.levels import LevelsYardstick, levels_among
from zermelo.yardsticks.measure import EvaluateOptions, headline, yardsticks_for
from zermelo.yardsticks.suite import CHESS_MATES

TICTACTOE: Any = zermelo.game("tictactoe")
CHESS: Any = zermelo.game("chess")
LEVELS = {float(rating): f"uci:engine?UCI_Elo={rating}" for rating in (1000, 1300, 1600)}


class Level:
    """Tic-tac-toe: the lowest loses by its first legal moves, others play well by minimax."""

    def __init__(self, spec: str) -> None:
        self.name = spec
        self.rating = float(spec.rpartition("=")[2])
        self.met.append(self.rating)

    met: list[float] = []  # noqa: RUF012

    def choose(self, game: Any, state: State) -> int:
        if self.rating == 1000:
            return int(min(game.legal_actions(state)))
        if self.rating == 1600:
            raise PlayerError("crash", "it is gone")
        return int(find_player("minimax?depth=9", game).choose(game, state))


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> type[Level]:
    def find(spec: Any, _: Any) -> Any:
        return Level(spec) if isinstance(spec, str) else spec

    monkeypatch.setattr("zermelo.matches.play_game.find_player", find)
    Level.met = []
    return Level


def test_games_are_played_where_they_tell_most_and_the_next_run_begins_there(
    engines: type[Level],
) -> None:
    levels = {rating: spec for rating, spec in LEVELS.items() if rating < 1600}
    yardstick = LevelsYardstick(TICTACTOE, levels, games=16, simulations=100, openings="start")
    found = yardstick.run(UniformEvaluator())
    assert found["performance.games"] == 16
    assert found["performance.1300.score"] < 0.5 < found["performance.1000.score"]
    assert found["performance.low"] < found["performance.elo"] < found["performance.high"]
    assert 1000 < found["performance.elo"] < 1300
    engines.met.clear()
    assert yardstick.near == found["performance.elo"]
    yardstick.near = 1010.0
    yardstick.run(UniformEvaluator(), 1e-9)
    assert engines.met == [1000]


def test_pairs_with_a_level_that_failed_are_left_out(engines: type[Level]) -> None:
    yardstick = LevelsYardstick(TICTACTOE, LEVELS, games=12, simulations=20, openings="start")
    yardstick.near = 1600.0
    with pytest.raises(UserError, match="failed in every game: crash"):
        yardstick.run(UniformEvaluator())
    assert engines.met


def test_a_network_below_all_levels_does_not_lose_many_games_to_say_so(
    engines: type[Level],
) -> None:
    class Hopeless:
        name = "loses"

        def choose(self, game: Any, state: State) -> int:
            raise PlayerError("stall", "")

    yardstick = LevelsYardstick(TICTACTOE, {1000.0: "a=1000", 1300.0: "a=1300"}, games=60)
    yardstick.near = 900.0

    def chooser(*_: Any, **__: Any) -> Hopeless:
        return Hopeless()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zermelo.yardsticks.levels.ChooserPlayer", chooser)
        found = yardstick.run(UniformEvaluator())
    assert found["performance.games"] <= 16 and found["performance.elo"] < 1000


def test_several_levels_are_one_yardstick_and_a_single_one_is_an_opponent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("zermelo.yardsticks.measure.installed", lambda _: True)
    monkeypatch.setattr("zermelo.yardsticks.measure.find_player", lambda *_: None)
    several = EvaluateOptions(opponents="random uci:engine?UCI_Elo=1350,1500,1700&seconds=0.1")
    names = [yardstick.name for yardstick in yardsticks_for(CHESS, several)]
    assert names == ["chess_mates", "performance", "random"]
    one = EvaluateOptions(opponents="uci:engine?UCI_Elo=1350", positions=0)
    assert [yardstick.name for yardstick in yardsticks_for(CHESS, one)] == ["uci_engine_1350"]


def test_levels_of_engines_that_are_not_installed_are_left_out() -> None:
    options = EvaluateOptions(opponents="random uci:no-such-engine?UCI_Elo=1350,1500")
    names = [yardstick.name for yardstick in yardsticks_for(CHESS, options)]
    assert names == ["chess_mates", "random"]


def test_two_players_of_one_rating_are_refused() -> None:
    with pytest.raises(UserError, match="have the same UCI_Elo"):
        levels_among(["uci:a?UCI_Elo=1500", "uci:b?UCI_Elo=1500"])
    with pytest.raises(UserError, match="UCI_Elo is 'high', not a number"):
        levels_among(["uci:a?UCI_Elo=high"])


def test_the_line_of_an_iteration_has_the_rating_and_not_each_levels_score() -> None:
    figures = {
        "performance.elo": 1742.0, "performance.low": 1650.0, "performance.high": 1830.0,
        "performance.games": 20.0, "performance.1700.score": 0.55, "performance.1700.games": 20.0,
    }  # fmt: skip
    assert headline(figures) == "performance 1,742 (1,650 to 1,830)"


# ---- the built-in suite --------------------------------------------------------------------------


def test_each_built_in_problem_has_one_first_move_that_mates_in_time() -> None:
    chess = pytest.importorskip("chess", reason="python-chess is not installed")
    made = load_script("tools/make_chess_set.py")
    lengths: Counter[int] = Counter()
    for line in CHESS_MATES.read_text().splitlines():
        board, known = chess.Board.from_epd(line)
        moves = int(known["id"].removeprefix("mate ").partition(".")[0])
        lengths[moves] += 1
        if moves < 3:  # longer ones take seconds each; the tool that made them tried all moves
            assert made.mating(board, moves) == known["bm"], line
            assert moves == 1 or not made.mating(board, moves - 1)
    assert lengths == made.WANTED


def test_the_built_in_suite_tells_a_search_that_looks_far_from_one_that_does_not() -> None:
    (suite,) = yardsticks_for(CHESS, EvaluateOptions(games=0, simulations=3000))
    far = suite.run(UniformEvaluator())
    (suite,) = yardsticks_for(CHESS, EvaluateOptions(games=0, simulations=10))
    near = suite.run(UniformEvaluator())
    assert far["chess_mates.positions"] == 44
    assert far["chess_mates.solved"] > 0.5 > near["chess_mates.solved"]
    assert near["chess_mates.policy_solved"] < 0.2
