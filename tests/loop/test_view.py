"""What a person sees: plain lines into a file, a table on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from zermelo.loop import PlainView, make_view
from zermelo.loop.stop import Stop, StoppedError
from zermelo.loop.tally import SelfPlayTally
from zermelo.loop.view import LiveView, panel
from zermelo.runs.status import Status

METRICS = {
    "train": {
        "training": {"loss": 1.5, "policy_loss": 1.0, "value_loss": 0.5, "policy_accuracy": 0.5},
        "held_out": None,
    },
    "selfplay": {"games": 1200, "samples": 9000, "simulations_per_second": 15000.0},
    "window": {"samples": 27000},
    "evaluate": {"perfect.wins": 1.0, "perfect.games": 9, "opponent": "random", "seconds": 2.0},
}


def status() -> Status:
    found = Status("runs/a", "connect4", 10, 2, "alternate", iteration=3)
    found.metrics = METRICS
    found.iteration_seconds = [60.0, 60.0]
    return found


def test_without_a_terminal_an_iteration_is_one_line() -> None:
    stream = io.StringIO()
    view = make_view(stream)
    assert isinstance(view, PlainView)
    view.finished(status())
    view.update(status())  # too early for another line
    assert stream.getvalue() == (
        "iteration 3/10: loss 1.500, policy 1.000, value 0.500, accuracy 50.0%, 1,200 games, "
        "9,000 samples, 15,000 simulations/s, window 27,000, perfect beaten 1 of 9, 7m 00s left\n"
    )


def test_the_table_says_what_is_waited_for_and_how_long_it_takes() -> None:
    stream = io.StringIO()
    view = LiveView(Console(file=stream, force_terminal=True, width=100, color_system=None))
    now = status()
    now.stage, now.waiting_for = "self-play", "500 of 9,000 samples"
    now.samples, now.target, now.memory = 8500, 9000, 300 << 20
    now.rates = {"samples": 100.0, "games": 9.5, "simulations": 15000.0, "evaluations": 7000.0}
    view.update(now)
    now.stage, now.step, now.steps, now.loss = "training", 7, 80, 1.25
    view.finished(now)
    view.note("a sentence")
    view.close()
    shown = stream.getvalue()
    for words in (
        "self-play, waiting for 500 of 9,000 samples", "4 of 10", "300 MiB in 3 processes",
        "100 samples, 9.5 games, 15,000 simulations, 7,000 evaluations per second",
        "about 7m 00s left", "training, step 7 of 80, loss 1.250", "a sentence",
    ):  # fmt: skip
        assert words in shown, words


def test_the_section_in_a_sentence_about_the_health_is_shown() -> None:
    now = status()
    now.health = "unknown: run.toml: [search] is wrong"
    stream = io.StringIO()
    Console(file=stream, width=100).print(panel(now))
    assert now.health in stream.getvalue()


def test_the_time_left_is_the_shorter_of_iterations_and_limit() -> None:
    now = status()
    assert now.seconds_left == 420
    now.seconds_limit = 100.0
    assert now.seconds_left == 100
    now.iteration_seconds = []
    assert now.seconds_left == 100
    now.seconds_limit = None
    assert now.seconds_left is None


def test_rates_are_those_of_all_workers_together() -> None:
    tally = SelfPlayTally(2)
    for name, worker_seconds in (("a", 2.0), ("b", 2.0)):
        message = {"shard": name, "iteration": 4, "samples": 100, "games": 10}
        message |= {"simulations": 4000, "evaluations": 1000, "cache_hits": 3000, "moves": 100}
        message |= {"seconds": worker_seconds, "plies": 300, "draws": 5, "unique_games": 9}
        tally.add(message)
        tally.add(message)  # a shard that is written anew counts once
    assert tally.count(4) == 200
    assert tally.rates(4)["samples"] == pytest.approx(100.0)
    metrics = tally.metrics(4)
    assert metrics["cache_hit_share"] == 0.75
    assert (metrics["mean_plies"], metrics["draw_share"]) == (30.0, 0.5)
    assert metrics["unique_games_share"] == 0.9
    assert tally.rates(5) == {}
    tally.drop_before(5)
    assert tally.count(4) == 0


def test_a_stop_is_heard_at_the_next_check() -> None:
    stop = Stop(0.0)
    stop.check()  # training goes on when the time is over
    with pytest.raises(StoppedError, match="the time is over"):
        stop.check_time()
    with pytest.raises(StoppedError):
        stop.check()
