"""The owner of a board's search: its tree goes on, and everybody hears of the end."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from live_boards import CHESS, chess_board
from native_games import native

from zermelo import game
from zermelo.search import (
    Limits,
    LiveSearch,
    Search,
    SearchOptions,
    SearchResult,
    UniformEvaluator,
)
from zermelo.search.notebook import NotebookView
from zermelo.search.path import path_between
from zermelo.testing import HashEvaluator

CONNECT4 = native("connect4")
LONG = Limits(simulations=10**9)
PATIENCE = 60.0  # seconds; far beyond what anything here takes


def searched(live: LiveSearch, simulations: int, own_thread: bool) -> SearchResult:
    if not own_thread:
        return live.run(Limits(simulations=simulations))
    live.start(Limits(simulations=simulations))
    result = live.wait(PATIENCE)
    assert result is not None
    return result


class Failing:
    """Fails from its second batch on."""

    def __init__(self) -> None:
        self.calls = 0
        self.broken = True

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        if self.broken and self.calls > 1:
            raise ArithmeticError("no numbers today")
        return np.zeros((len(observations), 7), np.float32), np.zeros(len(observations))


# --- the tree ---------------------------------------------------------------------------------


@pytest.mark.parametrize("own_thread", [False, True])
def test_it_searches_as_a_plain_search_does_visit_for_visit(own_thread: bool) -> None:
    options = SearchOptions(cache_mib=1, seed=5)
    live = LiveSearch(CONNECT4, HashEvaluator(), options)
    plain = Search(CONNECT4, HashEvaluator(), options)
    state = CONNECT4.initial()
    for _ in range(4):
        live.follow(state)
        found = searched(live, 300, own_thread)
        expected = plain.run(state, 300)
        assert found.to_dict() | {"seconds": 0} == expected.to_dict() | {"seconds": 0}
        assert found.root_visits >= 300
        plain.advance(expected.best_action)
        state = CONNECT4.play(state, expected.best_action)


@pytest.mark.parametrize("known", [False, True])
def test_the_tree_is_kept_when_the_board_moves_on(known: bool) -> None:
    live = LiveSearch(CONNECT4, HashEvaluator(), SearchOptions(cache_mib=0))
    state = live.follow(CONNECT4.initial())
    first = live.run(Limits(simulations=300))
    action = first.best_action
    after = CONNECT4.play(state, action)
    assert live.follow(after, [action] if known else None) is after
    kept = live.run(Limits(simulations=0))
    assert kept.root_visits == first.best.visits > 1


def test_a_position_elsewhere_starts_anew_and_the_same_one_goes_on() -> None:
    live = LiveSearch(CONNECT4, HashEvaluator())
    live.follow(CONNECT4.initial())
    live.run(Limits(simulations=100))
    live.follow(CONNECT4.initial())
    assert live.run(Limits(simulations=100)).root_visits == 201
    elsewhere = CONNECT4.parse_position("......./......./......./......./...O.../..OXX..")
    live.follow(elsewhere)
    assert live.run(Limits(simulations=50)).root_visits == 51


def test_known_actions_do_not_move_a_tree_that_stands_elsewhere() -> None:
    live = LiveSearch(CONNECT4, HashEvaluator())
    live.follow(CONNECT4.initial())
    live.run(Limits(simulations=100))
    elsewhere = CONNECT4.parse_position("......./......./......./......./...O.../..OXX..")
    live.follow(elsewhere)  # not searched
    action = CONNECT4.legal_actions(elsewhere)[0]
    live.follow(CONNECT4.play(elsewhere, action), [action])
    assert live.run(Limits(simulations=50)).root_visits == 51


def test_a_bare_position_is_searched_with_the_past_that_the_tree_knows() -> None:
    live = chess_board()
    live.run(Limits(simulations=500))
    played = CHESS.play(CHESS.initial(), CHESS.parse_action(CHESS.initial(), "g1f3"))
    bare = CHESS.parse_position(CHESS.position_text(played))
    live.follow(bare, bare=True)
    assert live.run(Limits(simulations=0)).root_visits > 1


def test_nodes_count_what_the_tree_already_has() -> None:
    live = chess_board()
    live.run(Limits(simulations=100))
    assert live.run(Limits(nodes=250)).root_visits == 250
    assert live.run(Limits(nodes=200)).root_visits == 250
    assert live.run(Limits(nodes=200, least=1)).root_visits == 251


def test_a_restricted_search_counts_its_own_nodes() -> None:
    live = chess_board()
    live.run(Limits(simulations=500))
    allowed = (CHESS.parse_action(CHESS.initial(), "a2a3"),)
    assert live.run(Limits(nodes=200, allowed=allowed)).root_visits > 600


def test_forget_leaves_neither_tree_nor_evaluations() -> None:
    live = LiveSearch(CONNECT4, HashEvaluator(), SearchOptions(cache_mib=1))
    live.follow(CONNECT4.initial())
    first = live.run(Limits(simulations=100))
    live.forget()
    assert (live.state, live.result) == (None, None)
    live.follow(CONNECT4.initial())
    again = live.run(Limits(simulations=100))
    assert again.to_dict()["actions"] == first.to_dict()["actions"]
    assert again.counters["evaluations"] == first.counters["evaluations"]


def test_gumbel_without_a_known_number_of_simulations_is_searched_without_it() -> None:
    def board(gumbel: bool) -> LiveSearch:
        live = LiveSearch(CONNECT4, HashEvaluator(), SearchOptions(gumbel=gumbel, cache_mib=0))
        live.follow(CONNECT4.initial())
        return live

    planned, usual = board(True), board(False)
    assert planned.run(Limits(nodes=100)).visits.tolist() == (
        usual.run(Limits(nodes=100)).visits.tolist()
    )
    known = board(True).run(Limits(simulations=99)).visits.tolist()
    assert known != usual.run(Limits(simulations=0)).visits.tolist()


@pytest.mark.parametrize("name", ["connect4", "checkers", "othello", "hex?size=5&swap=on"])
def test_the_way_of_two_turns_is_found(name: str) -> None:
    rules = game(name)
    state = before = rules.initial()
    for _ in range(2):
        state = rules.play(state, rules.legal_actions(state)[-1])
    path = path_between(rules, before, state, turns=2)
    assert path is not None
    for action in path:
        before = rules.play(before, action)
    assert before == state
    assert path_between(rules, state, rules.initial(), turns=2) is None
    assert path_between(rules, state, state, turns=0) == []


# --- failures and the end ---------------------------------------------------------------------


@pytest.mark.parametrize("own_thread", [False, True])
def test_what_an_evaluator_raises_reaches_the_caller(own_thread: bool) -> None:
    evaluator = Failing()
    live = LiveSearch(CONNECT4, evaluator, SearchOptions(cache_mib=0))
    live.follow(CONNECT4.initial())
    finals: list[SearchResult] = []
    ends: list[BaseException | None] = []
    live.subscribe(finals.append, ends.append)
    with pytest.raises(ArithmeticError, match="no numbers today"):
        searched(live, 50, own_thread)
    assert [result.final for result in finals] == [True]  # the root was known
    assert [type(error) for error in ends] == [ArithmeticError]
    evaluator.broken = False
    assert live.run(Limits(simulations=50)).root_visits >= 51
    assert ends[1:] == [None]


def test_a_listener_that_fails_ends_the_search_and_the_others_hear_of_it() -> None:
    live = chess_board()
    heard: list[SearchResult] = []

    def bad(_result: SearchResult) -> None:
        raise LookupError("no screen")

    live.subscribe(bad)
    live.subscribe(heard.append)
    live.start(LONG)
    with pytest.raises(LookupError, match="no screen"):
        live.wait(PATIENCE)
    assert heard[-1].final


def test_there_must_be_a_position_that_can_be_searched() -> None:
    live = LiveSearch("tictactoe", UniformEvaluator())
    with pytest.raises(ValueError, match="follow one first"):
        live.start(LONG)
    live.follow(live.game.parse_position("XXX/OO./..."))
    with pytest.raises(ValueError, match="the game is over"):
        live.run(LONG)


def test_a_refused_search_leaves_the_tree_where_it_was() -> None:
    live = LiveSearch(CONNECT4, HashEvaluator(), SearchOptions(cache_mib=0))
    state = live.follow(CONNECT4.initial())
    live.run(Limits(simulations=100))
    live.follow(CONNECT4.parse_position("......./......./......./......./...O.../..OXX.."))
    with pytest.raises(ValueError, match="not legal here"):
        live.run(Limits(simulations=100, allowed=(99,)))
    with pytest.raises(ValueError, match="not legal here"):
        live.wait()
    assert live.result is None
    live.follow(CONNECT4.play(state, 3), [3])  # not from where the tree stands
    assert live.run(Limits(simulations=50)).root_visits == 51


def test_a_closed_board_is_silent() -> None:
    live = chess_board()
    live.start(LONG)
    live.close()
    assert not live.running
    live.close()
    with pytest.raises(RuntimeError, match="closed"):
        live.start(LONG)


ENDS_EARLY = """
import threading, time
import numpy as np
from zermelo import game
from zermelo.search import Limits, LiveSearch, SearchOptions, UniformEvaluator

def slow(observations):
    time.sleep(0.001)
    return np.zeros((len(observations), 7), np.float32), np.zeros(len(observations))

connect4 = game("connect4")
for evaluator in (slow, UniformEvaluator()):
    live = LiveSearch(connect4, evaluator, SearchOptions(solver=False, cache_mib=0))
    live.follow(connect4.initial())
    live.start(Limits())
other = LiveSearch(connect4, slow, SearchOptions(solver=False, cache_mib=0))
other.follow(connect4.initial())
threading.Thread(target=other.run, args=(Limits(),), daemon=True).start()
time.sleep(0.1)
"""


def test_the_interpreter_may_end_while_searches_run() -> None:
    command = [sys.executable, "-c", ENDS_EARLY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_notebook_draws_the_end_of_a_live_search() -> None:
    shown: list[Any] = []

    class Handle:
        def update(self, picture: Any) -> None:
            shown.append(picture._repr_html_())

    def display(picture: Any, display_id: bool) -> Handle:
        assert display_id
        Handle().update(picture)
        return Handle()

    live = chess_board()
    live.subscribe(NotebookView(frames_per_second=0.001, display=display))
    result = live.run(Limits(seconds=0.2))
    assert len(shown) == 2
    assert shown[-1] == result._repr_html_()
