"""The commands that play or solve on a cluster, with one that is no cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from zermelo.cli import main
from zermelo.cluster import connection, matches, needed, suites
from zermelo.matches.hall import Played
from zermelo.matches.pairing import Task
from zermelo.matches.workers import Setup, play_tasks
from zermelo.suites.files import Suite
from zermelo.suites.solve import Answer, SuiteSolver

Asked = list[tuple[str, int]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What went to the cluster, which plays here: where, and how many games or problems."""
    found: Asked = []

    @contextlib.contextmanager
    def connect(where: str) -> Iterator[str]:
        yield where

    def play_on(where: Any) -> Callable[[Setup, list[Task]], Generator[Played, None, None]]:
        def played(setup: Setup, tasks: list[Task]) -> Generator[Played, None, None]:
            found.append((where, len(tasks)))
            yield from play_tasks(replace(setup, elsewhere=None), tasks)

        return played

    def answers_on(where: Any, suite: Suite, spec: str) -> Iterator[Answer]:
        found.append((where, len(suite.problems)))
        return SuiteSolver(suite, spec).answers()

    monkeypatch.setattr(needed, "need_ray", lambda: None)
    monkeypatch.setattr(connection, "connect", connect)
    monkeypatch.setattr(matches, "play_on", play_on)
    monkeypatch.setattr(suites, "answers_on", answers_on)
    return found


def test_each_pairing_of_a_tournament_is_played_on_the_cluster(asked: Asked) -> None:
    words = ["tournament", "random", "rollout?simulations=2", "search?simulations=2"]
    more = ["--game", "tictactoe", "--games", "4", "--cluster", "head:6379"]
    assert main([*words, *more]) == 0
    assert sum(games for _, games in asked) == 12
    assert {where for where, _ in asked} == {"head:6379"}


def test_each_comparison_of_an_ablation_is_played_on_the_cluster(asked: Asked) -> None:
    words = ["ablate", "tictactoe", "--options", "c_puct=1:2", "--simulations", "4"]
    assert main([*words, "--games", "6", "--cluster", "auto"]) == 0
    assert asked == [("auto", 6), ("auto", 6)]


def test_a_suite_is_solved_on_the_cluster(asked: Asked, tmp_path: Path) -> None:
    file = tmp_path / "mates.epd"
    file.write_text("6k1/5ppp/8/8/8/8/8/R3K2R w KQ - bm Ra8#;\n")
    words = ["solve", str(file), "--player", "search?simulations=8", "--cluster", "local"]
    assert main(words) == 0
    assert asked == [("local", 1)]
