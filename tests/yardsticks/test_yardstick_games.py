"""Yardsticks that play: every line of a small game, opponents, the perfect player."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from exact_player import ByScore

import zermelo
from zermelo.errors import UserError
from zermelo.games.protocol import State
from zermelo.matches.openings import make_openings
from zermelo.players.protocol import PlayerError
from zermelo.players.solver import Solver
from zermelo.search import RolloutEvaluator, UniformEvaluator
from zermelo.statistics.rating import ColourSplit
from zermelo.yardsticks.choosers import (
    Choice,
    PolicyChooser,
    RandomChooser,
    SearchChooser,
)
from zermelo.yardsticks.exhaustive import NeverLoses, walk
from zermelo.yardsticks.games import (
    FIRST_PAIRS,
    OpponentYardstick,
    figures,
    label_of,
    play_pairs,
)
from zermelo.yardsticks.labels import Connect4Labels
from zermelo.yardsticks.perfect import PerfectYardstick, best_replies

CONNECT4: Any = zermelo.game("connect4")
TICTACTOE: Any = zermelo.game("tictactoe")
CHESS: Any = zermelo.game("chess")


# ---- every line of tic-tac-toe ------------------------------------------------------------------


class Planted(ByScore):
    """Perfect but for one position."""

    def __init__(self, position: str, action: int) -> None:
        super().__init__(Solver(TICTACTOE).analyse)
        self.position = TICTACTOE.parse_position(position)
        self.mistake = action

    def one(self, state: State) -> Choice:
        return Choice(self.mistake) if state == self.position else super().one(state)


@pytest.mark.technique("E2")
def test_a_perfect_player_loses_no_line_of_play() -> None:
    perfect = ByScore(Solver(TICTACTOE).analyse)
    found = NeverLoses(TICTACTOE).judge(perfect)
    assert found["tictactoe.never_loses"] == 1.0
    assert found["tictactoe.losses_first"] == found["tictactoe.losses_second"] == 0.0
    walked = walk(TICTACTOE, perfect, 1)
    assert walked.wins > 0 and walked.draws > 0 and walked.positions > 100


def test_every_line_is_walked_for_a_player_that_always_takes_the_first_cell() -> None:
    """Counted by hand-written recursion."""

    class First:
        def choose(self, states: Sequence[State]) -> list[Choice]:
            return [Choice(min(TICTACTOE.legal_actions(state))) for state in states]

    def ends(state: State, side: int, seen: dict[State, Any]) -> None:
        outcome = TICTACTOE.outcome(state)
        seen[state] = outcome
        if outcome is None:
            actions = TICTACTOE.legal_actions(state)
            for action in [min(actions)] if TICTACTOE.player(state) == side else actions:
                ends(TICTACTOE.play(state, action), side, seen)

    for side, won in ((0, zermelo.Outcome.FIRST_WINS), (1, zermelo.Outcome.SECOND_WINS)):
        seen: dict[State, Any] = {}
        ends(TICTACTOE.initial(), side, seen)
        outcomes = Counter(outcome for outcome in seen.values() if outcome is not None)
        found = walk(TICTACTOE, First(), side)
        assert found.wins == outcomes[won]
        assert found.draws == outcomes[zermelo.Outcome.DRAW]
        assert found.losses == sum(outcomes.values()) - found.wins - found.draws


@pytest.mark.technique("E2")
def test_one_planted_mistake_is_found() -> None:
    # The second player answers a corner with an edge cell, which loses.
    planted = Planted("X../.../...", 1)
    found = NeverLoses(TICTACTOE).judge(planted)
    assert found["tictactoe.never_loses"] == 0.0
    assert found["tictactoe.losses_first"] == 0.0
    assert found["tictactoe.losses_second"] > 0.0


def test_a_deep_search_of_tictactoe_never_loses_and_a_blind_one_does() -> None:
    deep = NeverLoses(TICTACTOE, 3000).run(UniformEvaluator())
    assert deep["tictactoe.never_loses"] == 1.0
    blind = NeverLoses(TICTACTOE, 1).run(UniformEvaluator())
    assert blind["tictactoe.never_loses"] == 0.0


def test_a_walk_that_ran_out_of_time_does_not_say_never() -> None:
    found = NeverLoses(TICTACTOE, 3000).run(UniformEvaluator(), 1e-9)
    assert found["tictactoe.never_loses"] == 0.0


def test_a_large_game_is_refused_before_it_fills_the_memory(monkeypatch: Any) -> None:
    from zermelo.yardsticks import exhaustive as yardstick_exhaustive

    monkeypatch.setattr(yardstick_exhaustive, "MOST_POSITIONS", 2000)
    with pytest.raises(UserError, match="too large"):
        walk(CONNECT4, RandomChooser(CONNECT4, 1), 0)


# ---- games --------------------------------------------------------------------------------------


def played(*arguments: Any, **named: Any) -> ColourSplit:
    """The results of pairs of games, for the first chooser."""
    return ColourSplit.of_pairs(play_pairs(*arguments, **named))


def test_equal_players_share_the_points_of_every_pair() -> None:
    chooser = SearchChooser(CONNECT4, RolloutEvaluator(seed=1), 20)
    openings = make_openings(CONNECT4, "random:4", 6, seed=2)
    split = played(CONNECT4, (chooser, chooser), openings)
    assert split.total.games == 12 and split.pairs.pairs == (0, 0, 6, 0, 0)
    assert split.first.games == split.second.games == 6


def test_a_perfect_player_never_loses_a_pair_and_beats_chance() -> None:
    perfect = ByScore(Solver(TICTACTOE).analyse)
    openings = make_openings(TICTACTOE, "start", 30, seed=0)
    split = played(TICTACTOE, (perfect, RandomChooser(TICTACTOE, 4)), openings)
    assert split.total.losses == 0
    assert split.total.score > 0.8
    swapped = played(TICTACTOE, (RandomChooser(TICTACTOE, 4), perfect), openings)
    assert swapped.total.wins == 0 and swapped.total.score < 0.2


def test_a_game_that_is_too_long_is_a_draw() -> None:
    chance = (RandomChooser(CHESS, 1), RandomChooser(CHESS, 2))
    split = played(CHESS, chance, make_openings(CHESS, "random:4", 2, 0), max_plies=12)
    assert split.total.draws == 4


@pytest.mark.parametrize(
    "opponent", ["random", "policy", "rollout?simulations=5", "minimax?depth=1"]
)
def test_a_search_beats_weak_opponents_whether_they_play_side_by_side_or_not(opponent: str) -> None:
    yardstick = OpponentYardstick(CONNECT4, opponent, games=10, simulations=200)
    found = yardstick.run(RolloutEvaluator(seed=5))
    name = label_of(opponent)
    assert found[f"{name}.games"] == 10
    assert found[f"{name}.score"] >= 0.75
    assert found[f"{name}.score_low"] < found[f"{name}.score"] <= 1.0


def test_opponents_are_the_players_that_they_are_called() -> None:
    def of(spec: str) -> Any:
        return OpponentYardstick(CONNECT4, spec, seed=3)._many_boards(UniformEvaluator())

    assert isinstance(of("random"), RandomChooser)
    assert isinstance(of("policy"), PolicyChooser)
    assert of("rollout?simulations=7").simulations == 7
    for spec in ("rollout?seconds=0.1", "minimax?depth=1", "perfect"):  # one game at a time
        assert of(spec) is None


def test_games_are_the_same_again_with_the_same_seed() -> None:
    first, second, *others = (
        OpponentYardstick(CONNECT4, "rollout?simulations=30", 12, 30, seed=seed).run(
            RolloutEvaluator(seed=5)
        )
        for seed in (1, 1, 2, 3, 4, 5)
    )
    assert first == second
    assert any(other != first for other in others)


def bad_engine(manner: str) -> str:
    program = Path(__file__).parents[1] / "matches" / "bad_engine.py"
    return f"uci:{sys.executable} {program} {manner}?seconds=0.05&grace=10"


def test_an_engine_that_fails_in_every_game_is_told_and_not_counted() -> None:
    yardstick = OpponentYardstick(CHESS, bad_engine("crashes"), games=8, simulations=1)
    with pytest.raises(UserError, match="failed in every game: crash"):
        yardstick.run(UniformEvaluator())


def test_pairs_in_which_the_opponent_failed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Weak:
        """Gives up its second game, and plays the others."""

        name = "weak"
        games = 0

        def start_game(self) -> None:
            self.games += 1

        def choose(self, game: Any, state: State) -> int:
            if self.games == 2:
                raise PlayerError("crash", "it is gone")
            return int(min(game.legal_actions(state)))

    def find(spec: Any, _: Any) -> Any:
        return Weak() if isinstance(spec, str) else spec

    monkeypatch.setattr("zermelo.matches.play_game.find_player", find)
    yardstick = OpponentYardstick(TICTACTOE, "minimax?depth=1", games=6, simulations=1)
    found = yardstick.run(UniformEvaluator())
    assert found["minimax_1.games"] == 4
    assert found["minimax_1.failures"] == 1


@pytest.mark.parametrize("polls", [0, 3])
def test_games_one_at_a_time_hear_at_each_move_that_all_should_end(polls: int) -> None:
    """`polls` of them are passed; after the first, all come before choices of the network."""
    heard: list[int] = []

    def stop() -> None:
        if len(heard) == polls:
            raise KeyboardInterrupt
        heard.append(1)

    yardstick = OpponentYardstick(CONNECT4, "minimax?depth=1", games=2, simulations=1)
    with pytest.raises(KeyboardInterrupt):
        yardstick.run(UniformEvaluator(), 0.0, stop)


def test_a_short_budget_plays_whole_pairs_only() -> None:
    found = OpponentYardstick(CONNECT4, "random", 40, 1).run(UniformEvaluator(), 1e-9)
    assert found["random.games"] == 2 * FIRST_PAIRS
    slow = OpponentYardstick(CONNECT4, "minimax?depth=1", 40, 1).run(UniformEvaluator(), 1e-9)
    assert slow["minimax_1.games"] == 2


def test_opponents_have_names_that_metrics_can_have() -> None:
    assert label_of("random") == "random"
    assert label_of("perfect") == "perfect_player"
    assert label_of("rollout?simulations=200") == "rollout_200"
    assert label_of("uci:stockfish?UCI_Elo=1500&seconds=0.1") == "uci_stockfish_1500_0_1"


def test_the_interval_holds_the_score_also_at_the_ends() -> None:
    perfect = ByScore(Solver(TICTACTOE).analyse)
    openings = make_openings(TICTACTOE, "start", 5, seed=0)
    found = figures("self", played(TICTACTOE, (perfect, perfect), openings))
    assert found["self.score"] == 0.5
    assert 0.0 < found["self.score_low"] < 0.5 < found["self.score_high"] < 1.0


# ---- the perfect player of Connect Four ---------------------------------------------------------


class FirstPlayer(ByScore):
    """Perfect by the labels, but for one line."""

    def __init__(self, labels: Connect4Labels, moves: str = "", column: int = 0) -> None:
        super().__init__(labels.scores)
        self.position = CONNECT4.parse_position(moves) if moves else CONNECT4.initial()
        self.column = column if column else None

    def one(self, state: State) -> Choice:
        if self.column and state == self.position:
            return Choice(self.column - 1)
        return super().one(state)


def test_the_perfect_player_chooses_among_the_best_replies_only() -> None:
    labels = Connect4Labels()
    for moves, columns in (("4", [4]), ("444", [4]), ("44444", [1, 2, 3, 4, 5, 6, 7])):
        replies = best_replies(labels, CONNECT4.parse_position(moves))
        assert [column + 1 for column in replies] == columns


def test_a_perfect_first_player_wins_every_game_and_the_games_differ() -> None:
    labels = Connect4Labels()
    found = PerfectYardstick(CONNECT4, 8, labels=labels, seed=1).judge(FirstPlayer(labels))
    assert found["perfect.wins"] == found["perfect.games"] == 8
    assert found["perfect.unique_games"] > 4
    assert found["perfect.first_mistake"] == 0


@pytest.mark.parametrize(("moves", "column", "ply"), [("", 3, 1), ("44", 3, 3), ("4444", 5, 5)])
def test_the_move_that_gives_the_win_away_ends_the_game(moves: str, column: int, ply: int) -> None:
    labels = Connect4Labels()
    yardstick = PerfectYardstick(CONNECT4, 5, labels=labels)
    found = yardstick.judge(FirstPlayer(labels, moves, column))
    assert found["perfect.wins"] == 0
    assert found["perfect.first_mistake"] == ply
    assert yardstick.last is not None
    line = "".join(str(c + 1) for c in next(iter(yardstick.last.mistakes)))
    assert line == f"{moves}{column}"
    assert labels.solved == 0  # the opening's scores are in the package
