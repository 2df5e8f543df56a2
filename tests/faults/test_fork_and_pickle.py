"""Values that go to other processes, and processes that fork while threads search."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

import zermelo
from zermelo.search import Limits, LiveSearch, RolloutEvaluator, Search, SearchOptions

ROOT = Path(__file__).parents[2]
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


def public() -> dict[str, Any]:
    """One of everything that the package hands out."""
    search = zermelo.Search("connect4", zermelo.UniformEvaluator())
    result = search.run(GAME.initial(), simulations=20)
    own: Any = zermelo.game(str(ROOT / "examples" / "my_game.py"))
    return {
        "game": GAME, "own game": own, "state": GAME.initial(), "own state": own.initial(),
        "outcome": zermelo.Outcome.DRAW, "options": zermelo.SearchOptions(),
        "mistake": zermelo.UserError("x"), "best": result.best, "tree": search.tree(),
        "player": zermelo.load("connect4"), "rollout": zermelo.RolloutEvaluator(),
        "uniform": zermelo.UniformEvaluator(), "search": search, "result": result,
        "limits": Limits(), "live search": LiveSearch(GAME, RolloutEvaluator()),
    }  # fmt: skip


def test_every_public_object_is_pickled_or_says_that_it_cannot_be(record_property: Any) -> None:
    came_back = set()
    objects = public()
    for name, one in objects.items():
        try:
            back = pickle.loads(pickle.dumps(one))
        except TypeError as error:
            assert "cannot pickle" in str(error)  # noqa: PT017
            continue
        assert type(back).__name__ == type(one).__name__
        came_back.add(name)
    wanted = {"game", "own game", "state", "own state", "outcome", "options", "mistake", "limits"}
    assert came_back >= wanted
    record_property("tried", len(objects))
    record_property("objects that are pickled", f"{len(came_back)} of {len(objects)}")


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
