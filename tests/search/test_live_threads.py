"""Many threads start, stop, steer and watch one board's search."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from live_boards import CHESS, chess_board
from native_games import native

from zermelo.search import (
    Limits,
    LiveSearch,
    SearchOptions,
    SearchResult,
)

CONNECT4 = native("connect4")
LONG = Limits(simulations=10**9)
PATIENCE = 60.0  # seconds; far beyond what anything here takes


class Slow:
    """A thousand simulations a second at most: nothing ends such a search but a stop."""

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        time.sleep(0.001)
        return np.zeros((len(observations), 7), np.float32), np.zeros(len(observations))


def slow_board() -> LiveSearch:
    live = LiveSearch(CONNECT4, Slow(), SearchOptions(cache_mib=0, solver=False))
    live.follow(CONNECT4.initial())
    return live


def test_everybody_gets_the_last_update_whenever_they_come() -> None:
    live = slow_board()
    heard: list[list[SearchResult]] = [[] for _ in range(20)]

    def come(number: int) -> None:
        time.sleep(number * 0.005)
        live.subscribe(heard[number].append)

    live.start(LONG)
    comers = [threading.Thread(target=come, args=(i,)) for i in range(20)]
    for thread in comers:
        thread.start()
    for thread in comers:
        thread.join()
    live.stop()
    final = live.wait(PATIENCE)
    assert final is not None
    assert final.stop == "stopped"
    for results in heard:
        assert results[-1] is final
        assert [result.final for result in results].count(True) == 1


def test_whoever_comes_while_the_end_is_told_hears_it_too() -> None:
    live = chess_board()
    late: list[SearchResult] = []

    def first(result: SearchResult) -> None:
        if result.final:
            live.subscribe(late.append)

    live.subscribe(first)
    live.start(Limits(simulations=10))
    assert live.wait(PATIENCE) is late[-1]


def test_nobody_is_told_after_unsubscribing() -> None:
    live = chess_board()
    heard: list[SearchResult] = []
    live.subscribe(heard.append)()
    live.run(Limits(simulations=10))
    assert heard == []


def test_a_listener_of_one_run_hears_only_that() -> None:
    live = chess_board()
    heard: list[SearchResult] = []
    first = live.run(Limits(simulations=10), heard.append)
    live.run(Limits(simulations=10))
    assert heard == [first]


def test_a_stop_just_after_the_start_is_never_lost() -> None:
    live = slow_board()
    for _ in range(30):
        live.start(LONG)
        live.stop()
        result = live.wait(PATIENCE)
        assert result is not None
        assert result.stop == "stopped"


def test_a_stop_before_the_start_stops_nothing() -> None:
    live = chess_board()
    live.stop()
    assert live.run(Limits(simulations=100)).stop == ""
    live.stop()
    assert live.run(Limits(simulations=100)).root_visits == 201


def test_starting_and_following_end_the_search_that_runs() -> None:
    live = slow_board()
    finals: list[SearchResult] = []
    live.subscribe(lambda result: finals.append(result) if result.final else None)
    live.start(LONG)
    live.start(LONG)
    live.follow(CONNECT4.parse_position("......./......./......./......./...O.../..OXX.."))
    assert not live.running
    assert [result.stop for result in finals] == ["stopped", "stopped"]
    assert live.run(Limits(simulations=20)).root_visits == 21


def test_a_stop_while_another_thread_follows_ends_one_search_at_most() -> None:
    live = chess_board()
    over = threading.Event()

    def stop_all_the_time() -> None:
        while not over.is_set():
            live.stop()

    stopper = threading.Thread(target=stop_all_the_time)
    stopper.start()
    try:
        state = CHESS.initial()
        for _ in range(20):
            state = CHESS.play(state, CHESS.legal_actions(state)[0])
            live.follow(state)
            live.start(Limits(simulations=3_000))
            live.follow(state)
            assert live.state == state
    finally:
        over.set()
        stopper.join(PATIENCE)
    visits = live.run(Limits(simulations=0)).root_visits
    assert live.run(Limits(simulations=50)).root_visits == visits + 50


def test_listeners_come_and_go_during_a_search() -> None:
    live = slow_board()
    live.start(LONG)
    for _ in range(10):
        heard: list[SearchResult] = []
        arrived = threading.Event()

        def listener(
            result: SearchResult,
            heard: list[SearchResult] = heard,
            arrived: threading.Event = arrived,
        ) -> None:
            heard.append(result)
            arrived.set()

        unsubscribe = live.subscribe(listener)
        assert arrived.wait(PATIENCE)
        unsubscribe()
        unsubscribe()  # once more does nothing
        assert not heard[0].final
    live.forget()
    assert not any(result.final for result in heard)


def test_the_newest_result_can_be_read_while_the_search_runs() -> None:
    live = slow_board()
    arrived = threading.Event()
    live.subscribe(lambda _result: arrived.set())
    live.start(LONG)
    assert arrived.wait(PATIENCE)
    assert live.running
    newest = live.result
    assert newest is not None
    assert not newest.final
    live.stop()
    assert live.wait(PATIENCE) is live.result


def test_many_threads_may_steer_stop_and_watch_one_board() -> None:
    live = chess_board()
    failures: list[BaseException] = []

    def meddle(number: int) -> None:
        try:
            for turn in range(15):
                unsubscribe = live.subscribe(lambda _result: None)
                live.start(Limits(simulations=2_000))
                if (turn + number) % 3 == 0:
                    live.stop()
                if (turn + number) % 4 == 0:
                    live.follow(CHESS.initial())
                live.wait(PATIENCE)
                unsubscribe()
        except BaseException as error:
            failures.append(error)

    meddlers = [threading.Thread(target=meddle, args=(i,)) for i in range(4)]
    for thread in meddlers:
        thread.start()
    for thread in meddlers:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert failures == []
    live.follow(CHESS.initial())
    live.forget()
    live.follow(CHESS.initial())
    assert live.run(Limits(simulations=30)).root_visits == 31


def test_a_search_that_begins_as_the_last_one_ends_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live = slow_board()
    tell_end = live._tell_end

    def tell_end_and_lose_the_race(run: Any) -> None:
        tell_end(run)
        monkeypatch.undo()
        other = threading.Thread(target=live.start, args=(LONG,))
        other.start()
        other.join(PATIENCE)

    monkeypatch.setattr(live, "_tell_end", tell_end_and_lose_the_race)
    live.run(Limits(simulations=1))
    assert live.running
    live.stop()
    result = live.wait(PATIENCE)
    assert result is not None
    assert result.stop == "stopped"


def test_a_listener_may_stop_but_not_steer() -> None:
    live = chess_board()
    refused: list[str] = []

    def listener(result: SearchResult) -> None:
        for steer in (lambda: live.follow(CHESS.initial()), live.wait, lambda: live.start(LONG)):
            with pytest.raises(RuntimeError, match="cannot steer"):
                steer()
        refused.append(result.stop)
        live.stop()

    assert live.run(LONG, listener).stop == "stopped"
    assert len(refused) >= 2
