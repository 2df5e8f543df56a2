"""What a person sees: plain lines into a file, a table on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from tiny_runs import train

from zermelo.cli.train import ending
from zermelo.loop import PlainView, Run, make_view, newest_game
from zermelo.loop.rising import ACCURACY, WIDTH, add, spark
from zermelo.loop.stop import TIME_OVER, Stop, StoppedError
from zermelo.loop.tally import SelfPlayTally
from zermelo.loop.view import LiveView, node_text, panel
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


def test_self_play_says_how_far_it_is_and_when_nobody_plays_yet() -> None:
    now = status()
    now.stage, now.target, now.states = "self-play", 500, ["starting", "starting"]
    assert now.activity == "starting workers"
    now.states = ["playing", "starting"]
    assert now.activity == "self-play, 0 of 500 samples"
    now.samples, now.states = 120, []
    assert now.activity == "self-play, 120 of 500 samples"
    now.samples, now.moves = 0, 1340  # whose games go on
    assert now.activity == "self-play, 0 of 500 samples, 1,340 moves"


def test_the_iteration_is_the_one_that_is_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.loop.view.LINE_EVERY", 0.0)
    now, stream = status(), io.StringIO()
    for stage, shown in (("training", "4"), ("evaluating", "3")):
        now.stage, now.iterations = stage, 10
        table = io.StringIO()
        Console(file=table, width=100).print(panel(now))
        assert f"{shown} of 10" in table.getvalue()
        now.iterations = 0  # only a time ends it, and nothing is known yet
        PlainView(stream).update(now)
        assert now.seconds_left is None
    assert stream.getvalue() == "iteration 4: training\niteration 3: evaluating\n"


def test_a_run_that_its_time_ended_was_not_one_of_so_many_iterations() -> None:
    found = {"run": "runs/a", "iteration": 2, "iterations": 100, "stopped": TIME_OVER}
    said = "runs/a: the time is over after iteration 2 (20s); to go on: zermelo train runs/a"
    assert ending(found, "20s") == said
    assert "after iteration 2 of 100 (" in ending(found | {"stopped": "interrupted"}, "20s")


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


def test_what_rises_is_drawn_with_its_newest_value() -> None:
    now = status()
    for score, elo in ((0.1, 0.0), (0.5, 120.0), (1.0, 240.0)):
        figures = {"random.score": score, "ladder.elo": elo, "policy.score": 0.3, "seconds": 2.0}
        add(now.rising, METRICS, figures)
    stream = io.StringIO()
    Console(file=stream, width=100).print(panel(now))
    shown = stream.getvalue()
    assert "against random" in shown
    assert "▁▅█ 100%" in shown
    assert "▁▅█ +240" in shown
    assert f"{ACCURACY}" in shown
    assert "▅▅▅ 50%" in shown
    assert "against policy" not in shown


def test_many_values_are_the_newest_and_equal_ones_are_drawn_too() -> None:
    assert spark([0.0] * 100 + [1.0]) == "▁" * (WIDTH - 1) + "█"
    assert spark([300.0, 300.0]) == "▁▁"


def test_something_to_look_at_stands_beside_the_table_if_there_is_room() -> None:
    for width, seen in ((120, True), (60, False)):
        stream = io.StringIO()
        view = LiveView(Console(file=stream, force_terminal=True, width=width, color_system=None))
        view.watch(lambda: Text("the newest game"))
        view.update(status())
        view.close()
        assert ("the newest game" in stream.getvalue()) is seen


def test_the_newest_game_is_played_through_move_by_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tmp_path / "run", loop={"iterations": 1})
    run = Run.open(tmp_path / "run")
    seconds = [100.0]
    monkeypatch.setattr("zermelo.loop.newest_game.time.monotonic", lambda: seconds[0])
    newest = newest_game.NewestGame(run.replay, run.config.game())
    first = newest.frame()
    assert first is not None
    assert "the start" in first.plain
    seconds[0] += newest_game.PLY_SECONDS + 0.01
    second = newest.frame()
    assert second is not None
    assert "1. " in second.plain
    assert "[" in second.plain
    seen = []
    for _ in range(10):
        seconds[0] += newest_game.PLY_SECONDS
        later = newest.frame()
        assert later is not None
        seen.append(later.plain)
    assert any("value " in text for text in seen)
    assert any("wins" in text or "draw" in text for text in seen)
    seconds[0] += 60
    assert newest.frame() is not None  # the next look begins anew
    assert newest_game.NewestGame(tmp_path / "none", run.config.game()).frame() is None


NODES = [
    {"name": "10.0.0.1 (abc)", "actors": 2, "samples_per_second": 1200.4, "idle_share": 0.01},
    {"name": "10.0.0.2 (def)", "actors": 3, "samples_per_second": 80.0, "idle_share": 0.4},
]


def test_a_node_says_how_fast_it_is_and_whether_it_waits_for_work() -> None:
    assert [node_text(node) for node in NODES] == [
        "10.0.0.1 (abc): 2 actors, 1,200 samples/s",
        "10.0.0.2 (def): 3 actors, 80 samples/s, waiting for work 40% of the time",
    ]


def test_the_table_has_the_nodes_of_a_cluster_and_its_dashboard() -> None:
    now = status()
    now.nodes, now.dashboard = NODES * 5, "http://127.0.0.1:8265"
    stream = io.StringIO()
    Console(file=stream, width=120).print(panel(now))
    shown = stream.getvalue()
    assert shown.count("waiting for work 40%") == 4
    assert "and 2 more nodes" in shown and "http://127.0.0.1:8265" in shown


def test_plain_lines_tell_of_the_nodes_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.loop.view.LINE_EVERY", 0.0)
    stream, now = io.StringIO(), status()
    now.stage, now.nodes = "self-play", NODES
    PlainView(stream).update(now)
    assert "self-play, 5 actors on 2 nodes, 1 of them waiting for work, " in stream.getvalue()
