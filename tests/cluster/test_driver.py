"""What a driver makes of nodes that come, go, refuse and die, without Ray."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_ray import Call, RayError, RayTaskError, put_in

from zermelo.cluster.connection import Cluster
from zermelo.cluster.nodes import Nodes
from zermelo.cluster.player import Delivery
from zermelo.cluster.pool import RayPool
from zermelo.cluster.suites import answers_on
from zermelo.cluster.versions import versions_here
from zermelo.cluster.yardsticks import ClusterYardsticks, can_travel
from zermelo.config import RunConfig
from zermelo.config.options import ClusterOptions
from zermelo.errors import UserError
from zermelo.games import game
from zermelo.games.protocol import Game
from zermelo.selfplay.order import Order
from zermelo.selfplay.pool import PoolSetup
from zermelo.suites.files import Problem, Suite
from zermelo.yardsticks.options import EvaluateOptions


def in_vain(call: Call) -> None:
    """Nothing ever answers."""


def welcome(call: Call) -> None:
    """Every node has our versions; nothing else answers."""
    if call.name == "probe":
        call.end(versions_here())


def answered(call: Call, answer: Any) -> None:
    """Every node has our versions; all else has this answer."""
    welcome(call)
    if not call.answers:
        call.end(answer)


class Reached(Cluster):
    """Its head answers."""

    def check_head(self) -> bool:
        return True


class Network:
    """Nobody plays with it."""

    def load(self, game: Game) -> Any:
        return None


CLUSTER = Reached("auto", False, ("head", 1), "http://127.0.0.1:8265")
ORDER = Order(
    iteration=0, network=Network(), network_iteration=0, simulations=1, resign_threshold=-1.0,
    share=10, quota=0,
)  # fmt: skip


def pool(directory: Path, said: list[str]) -> RayPool:
    """Of tic-tac-toe; what it says is kept."""

    def spec(number: int) -> Any:
        return SimpleNamespace(game="tictactoe", worker=number)

    setup = PoolSetup(
        game("tictactoe"), 0, spec, directory, directory / "log.txt", 0,
        on_shard=lambda message: None, report=said.append, wait_for_space=lambda: False,
    )  # fmt: skip
    return RayPool(setup, CLUSTER, ClusterOptions())


def listen(made: RayPool, times: int) -> None:
    """As the loop does."""
    for _ in range(times):
        made.listen(0.0)


def test_another_machine_plays_apart_and_this_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = put_in(monkeypatch, welcome)
    assert pool(tmp_path, []).apart
    ray.host = socket.gethostname()
    ray.there = {"n1": 1, "n2": 1}
    assert not pool(tmp_path, []).apart


def test_a_node_that_goes_before_it_says_its_version_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = put_in(monkeypatch, in_vain)
    nodes = Nodes(lambda sentence: None)
    assert nodes.look() == [] and nodes.waiting
    ray.there.clear()
    assert nodes.look() == [] and not nodes.waiting


def test_a_node_whose_probe_died_is_asked_again_before_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deaths = [RayError("out of memory"), RayError("out of memory")]

    def answer(call: Call) -> None:
        call.end(deaths.pop() if deaths else versions_here())

    put_in(monkeypatch, answer)
    said: list[str] = []
    nodes = Nodes(said.append)
    assert [len(nodes.look()) for _ in range(3)] == [0, 0, 1] and not said
    deaths += [RayError("out of memory")] * 3
    nodes = Nodes(said.append)
    assert [len(nodes.look()) for _ in range(4)] == [0] * 4
    assert len(said) == 1 and "does not play: out of memory" in said[0]


@pytest.mark.parametrize(
    ("death", "kind", "reason"),
    [
        (RayTaskError(ZeroDivisionError("oh")), RuntimeError, "ZeroDivisionError: oh"),
        (RayError("The actor died.\nMore."), UserError, "The actor died."),
    ],
)
def test_a_pool_whose_actors_die_again_and_again_says_the_cause(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    death: RayError,
    kind: type[Exception],
    reason: str,
) -> None:
    """A fault of ours has a traceback; processes that are killed are a person's matter."""

    def answer(call: Call) -> None:
        welcome(call)
        if call.name == "play":
            call.end(death)

    put_in(monkeypatch, answer)
    said: list[str] = []
    made = pool(tmp_path, said)
    made.play(ORDER)
    with pytest.raises(kind) as raised:
        listen(made, 100)
    assert type(raised.value) is kind
    assert str(raised.value) == f"no node of the cluster can play: {reason}"
    assert f"died ({reason}) and is started again" in said[0]


def test_actors_that_wait_for_cores_without_end_are_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.cluster.patience.LONG", -1.0)
    monkeypatch.setattr("zermelo.cluster.pool.LOOK_EVERY", 0.0)
    put_in(monkeypatch, welcome)
    said: list[str] = []
    made = pool(tmp_path, said)
    made.play(ORDER)
    listen(made, 3)
    assert len(said) == 1 and "another command may have the cluster's cores" in said[0]


def test_an_actor_that_stands_still_before_its_first_answer_is_told_of_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(call: Call) -> None:
        welcome(call)
        if call.name == "pulse":
            call.end(45.0)

    put_in(monkeypatch, answer)
    said: list[str] = []
    made = pool(tmp_path, said)
    made.play(ORDER)
    made._seats[0].asked -= 1000.0
    made._look()
    assert len(said) == 1 and "has stood still for 45 s" in said[0]
    assert len(made._seats) == 1 and made.deaths == 0


def test_an_actor_that_waits_for_room_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in(monkeypatch, welcome)
    made = pool(tmp_path, [])
    made.play(ORDER)
    for _ in range(2):
        made._seats[0].asked -= 1000.0
        made._seats[0]._pulse_asked -= 1000.0
        made._look()
    assert made.deaths == 0


def test_a_node_has_the_speed_of_its_actors_and_the_share_of_time_they_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = put_in(monkeypatch, welcome)
    ray.there = {"n1": 2}
    made = pool(tmp_path, [])
    made.play(ORDER)
    parcel = SimpleNamespace(played=SimpleNamespace(samples=range(30)))
    for seat, idle in zip(made._seats, (0.0, 2.0), strict=True):
        told: Any = Delivery([parcel], busy=1.0, idle=idle)  # type: ignore[list-item]
        seat.hear(seat.calls[0], told, done=False)
    (place,) = made.places
    assert place == {
        "name": "10.0.0.1 (n1)", "actors": 2, "samples_per_second": 40.0,
        "idle_share": pytest.approx(1 / 3),
    }  # fmt: skip
    assert made.dashboard == "http://127.0.0.1:8265"


def test_the_rest_of_an_actor_counts_as_waiting_while_it_lasts_and_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in(monkeypatch, welcome)
    made = pool(tmp_path, [])
    made.play(ORDER)
    (seat,) = made._seats
    seat.hear(seat.calls[0], Delivery([], busy=1.0), done=True)
    assert seat._rests_since is not None
    assert made.places[0]["idle_share"] < 0.1
    seat._rests_since -= 9.0
    assert made.places[0]["idle_share"] == pytest.approx(0.9, abs=0.02)
    made.play(replace(ORDER, iteration=1))
    assert made.places[0]["idle_share"] == pytest.approx(0.9, abs=0.02)


SUITE = Suite("few", "moves", "tictactoe", (Problem("one", "x"),))


def test_a_suite_without_a_node_that_has_room_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("zermelo.cluster.suites.START_SECONDS", 0.1)
    put_in(monkeypatch, welcome).there = {"n1": 0}
    with pytest.raises(UserError, match="no node of the cluster can play: none has room"):
        list(answers_on(CLUSTER, SUITE, "random"))


def test_a_suite_whose_actor_is_killed_again_and_again_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(call: Call) -> None:
        welcome(call)
        if call.name == "solve":
            call.end(RayError("The actor died."))

    put_in(monkeypatch, answer)
    with pytest.raises(UserError, match=r"one: its actor died 3 times \(The actor died"):
        list(answers_on(CLUSTER, SUITE, "random"))


class Driver:
    """Measures in the driver, and counts how often."""

    options = EvaluateOptions(opponents="random policy")

    def __init__(self) -> None:
        self.measured = 0

    def __call__(self, checkpoint: Any, run: Any) -> dict[str, Any]:
        self.measured += 1
        return {"random.score": 0.25}


CHECKPOINT: Any = SimpleNamespace(weights=lambda: None)
TIC_TAC_TOE: Any = SimpleNamespace(config=RunConfig.from_tables({"game": {"name": "tictactoe"}}))


@pytest.mark.parametrize("answer", [RayError("the node died"), "there is no backend 'x'"])
def test_a_checkpoint_is_measured_by_the_driver_if_the_other_machine_cannot(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in(monkeypatch, lambda call: answered(call, answer))
    driver: Any = Driver()
    there = ClusterYardsticks(CLUSTER, driver, lambda: None)
    found = there(CHECKPOINT, TIC_TAC_TOE)
    assert found["random.score"] == 0.25 and driver.measured == 1
    assert [str(answer) in note for note in found["notes"]] == [True]


def test_a_checkpoint_is_measured_by_another_machine_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = put_in(monkeypatch, lambda call: answered(call, {"random.score": 0.75}))
    driver: Any = Driver()
    there = ClusterYardsticks(CLUSTER, driver, lambda: None)
    assert there(CHECKPOINT, TIC_TAC_TOE) == {"random.score": 0.75} and not driver.measured
    ray.host = socket.gethostname()  # the driver's own
    assert ClusterYardsticks(CLUSTER, driver, lambda: None)(CHECKPOINT, TIC_TAC_TOE) == {
        "random.score": 0.25
    }


def test_a_run_that_is_stopped_does_not_wait_for_its_yardsticks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_in(monkeypatch, welcome)
    stopped = [RuntimeError("stopped")]

    def poll() -> None:
        raise stopped[0]

    driver: Any = Driver()
    with pytest.raises(RuntimeError, match="stopped"):
        ClusterYardsticks(CLUSTER, driver, poll)(CHECKPOINT, TIC_TAC_TOE)


def test_yardsticks_that_need_this_machine_stay_here() -> None:
    assert can_travel(EvaluateOptions())
    assert can_travel(EvaluateOptions(opponents="uci:engine", games=0))
    for options in (
        {"opponents": "random uci:engine"},
        {"opponents": "old.safetensors?simulations=8"},
        {"opponents": "search?weights=old.safetensors"},
        {"ladder": 2},
        {"suite": "mates.epd"},
        {"openings": __file__},
    ):
        assert not can_travel(EvaluateOptions(**options)), options
