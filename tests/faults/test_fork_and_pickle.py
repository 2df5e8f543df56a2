"""Values that go to other processes, and processes that fork while threads search."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
from typing import Any

import pytest

import zermelo
from zermelo.search import Limits, LiveSearch, RolloutEvaluator, Search, SearchOptions

GAME: Any = zermelo.game("connect4")


def best(state: Any) -> str:
    return str(Search(GAME, RolloutEvaluator()).run(state, simulations=50).best.text)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_states_go_to_new_processes(method: str) -> None:
    state = GAME.play(GAME.initial(), 3)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(best, (state,)).get(60) in set("1234567")


def test_states_and_options_come_back_as_they_were() -> None:
    for name in ("tictactoe", "connect4", "othello?size=6", "hex?size=5", "checkers", "chess"):
        game: Any = zermelo.game(name)
        state = game.play(game.initial(), game.legal_actions(game.initial())[0])
        back = pickle.loads(pickle.dumps(state))
        assert game.position_text(back) == game.position_text(state)
    options = SearchOptions(threads=3)
    assert pickle.loads(pickle.dumps(options)) == options


def test_a_live_search_says_that_it_cannot_be_pickled() -> None:
    live = LiveSearch(GAME, RolloutEvaluator())
    with pytest.raises((TypeError, pickle.PicklingError, AttributeError)):
        pickle.dumps(live)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_during_a_search_does_not_hang() -> None:
    live = LiveSearch(GAME, RolloutEvaluator(), SearchOptions(threads=2))
    live.follow(GAME.initial())
    live.start(Limits())
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if best(GAME.initial()) else 2
        finally:
            os._exit(code)
    until = time.monotonic() + 60.0
    ended, status = 0, 0
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.02)
    if not ended:
        os.kill(child, 9)
        os.waitpid(child, 0)
    live.stop()
    live.wait()
    assert ended and os.waitstatus_to_exitcode(status) == 0
