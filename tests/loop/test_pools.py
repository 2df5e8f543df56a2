"""A run whose games come from somewhere else: a pool without processes, disk or local networks."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tiny_runs import RecordingView, all_samples, config

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.loop import Run, Stop, run_loop
from zermelo.loop.cycle import Loop
from zermelo.loop.shards import ShardMaker
from zermelo.network import Weights
from zermelo.replay import ReplayStore
from zermelo.runs.status import Status
from zermelo.selfplay.intake import Parcel, ShardIntake
from zermelo.selfplay.order import Order
from zermelo.selfplay.pool import PoolSetup, SelfPlayPool
from zermelo.selfplay.producer import ShardProducer

Thing = TypeVar("Thing")


@dataclasses.dataclass(frozen=True)
class Sent:
    """A network that was sent to the workers: weights in memory, no path."""

    iteration: int
    weights: Weights = dataclasses.field(compare=False)

    def load(self, game: Game) -> Weights:
        assert self.weights.architecture.game == game.name
        return self.weights


def over_the_network(thing: Thing) -> Thing:
    """As another machine gets it."""
    copy: Thing = pickle.loads(pickle.dumps(thing))
    return copy


class FarPool(SelfPlayPool):
    """Workers that take turns; all goes over a network, and what they play arrives twice."""

    repeatable = False

    def __init__(self, setup: PoolSetup) -> None:
        self.workers = setup.workers or 3
        self.deaths = 0
        self.setup = setup
        self.intake = ShardIntake(setup)
        self.producers: list[ShardProducer] = []  # from the first order on
        self.order: Order | None = None
        self.turns = 0
        self.parcels: list[Parcel] = []
        self.ended = ""

    def play(self, order: Order) -> None:
        weights = order.network.load(self.setup.game)
        self.order = over_the_network(
            dataclasses.replace(order, network=Sent(order.network_iteration, weights))
        )
        assert not order.games_from + order.games_to
        if not self.producers:
            specs = [self.setup.spec(number) for number in range(self.workers)]
            self.producers = [ShardProducer(over_the_network(spec)) for spec in specs]

    def pause(self, check: Callable[[], None]) -> None:
        self.order = None
        check()

    def listen(self, seconds: float) -> None:
        if self.order is None or self.done:
            return
        producer = self.producers[self.turns % self.workers]
        self.turns += 1
        if producer.done and producer.order == self.order:
            return
        played = producer.produce(self.order, lambda: False)
        parcel = over_the_network(Parcel.of(producer, self.order, played))
        self.parcels.append(parcel)
        assert self.intake.deliver(parcel)
        assert not self.intake.deliver(parcel)

    @property
    def states(self) -> list[str]:
        return ["paused" if self.order is None else "playing"] * self.workers

    @property
    def done(self) -> bool:
        return all(p.done and p.order == self.order for p in self.producers)

    @property
    def memory(self) -> int:
        return 0

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def kill(self) -> None:
        self.ended = self.ended or "killed"


class Makes:
    """A maker of pools that remembers them."""

    def __init__(self) -> None:
        self.pools: list[FarPool] = []

    def __call__(self, setup: PoolSetup) -> FarPool:
        self.pools.append(FarPool(setup))
        return self.pools[-1]


@pytest.mark.parametrize("mode", ["alternate", "together"])
def test_a_run_learns_from_games_that_a_pool_without_its_disk_hands_in(
    tmp_path: Path, mode: str
) -> None:
    path, makes = tmp_path / "run", Makes()
    run = Run.create(path, config(selfplay={"workers": 2}, loop={"iterations": 2, "mode": mode}))
    found = run_loop(run, Stop(), RecordingView(), pool=makes)
    assert (found["stopped"], found["iteration"], found["workers"]) == ("done", 2, 2)
    assert not found["repeatable"]
    assert found["metrics"]["selfplay"]["samples"] >= 150
    assert makes.pools[0].ended == "closed"
    assert {name.split("-")[1] for name in all_samples(path)} == {"w00", "w01"}
    assert sum(len(samples) for samples in all_samples(path).values()) == found["samples"]
    assert found["games"] == sum(p.played.statistics["games"] for p in makes.pools[0].parcels)

    again = Run.open(path)
    again.change({"loop": {"iterations": 3}})
    makes_more = Makes()
    assert run_loop(again, Stop(), RecordingView(), pool=makes_more)["iteration"] == 3
    before = len(all_samples(path))
    late = ShardIntake(makes_more.pools[0].setup)  # a new process hears of games it has
    assert not any(late.deliver(parcel) for parcel in makes.pools[0].parcels)
    assert len(all_samples(path)) == before


class ComingPool(FarPool):
    """Other machines join during the second iteration."""

    @property
    def apart(self) -> bool:
        return self.order is not None and self.order.iteration > 0


class ModesView(RecordingView):
    """Remembers how the stages of each iteration went together."""

    def __init__(self) -> None:
        super().__init__()
        self.modes: dict[int, str] = {}

    def update(self, status: Status) -> None:
        super().update(status)
        if status.stage == "training":
            self.modes[status.iteration] = status.mode


def test_machines_that_come_late_play_while_the_trainer_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.loop.report.LOOK_EVERY", 0.0)
    run = Run.create(tmp_path / "run", config(selfplay={"workers": 2}, loop={"mode": "auto"}))
    view = ModesView()
    found = run_loop(run, Stop(), view, pool=ComingPool)
    assert view.modes == {0: "alternate", 1: "together", 2: "together"}
    assert found["mode"] == "together"


def test_one_worker_of_a_pool_that_saves_no_games_makes_no_repeatable_run(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", config(loop={"iterations": 1}))
    found = run_loop(run, Stop(), RecordingView(), pool=Makes())
    assert (found["iteration"], found["repeatable"]) == (1, False)


def test_a_pool_is_killed_with_its_run(tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    makes = Makes()
    run = Run.create(tmp_path / "run", config())
    with pytest.raises(KeyboardInterrupt):
        run_loop(run, Stop(), RecordingView((0, "self-play"), interrupt), pool=makes)
    assert makes.pools[0].ended == "killed"


def test_shards_without_training_come_from_any_pool_too(tmp_path: Path) -> None:
    settings = config(selfplay={"workers": 0})
    maker = ShardMaker(settings, tmp_path / "shards", lambda text: None, Makes())
    found = maker.make(200, None, Stop())
    assert (found["stopped"], found["workers"]) == ("done", 3)
    store = ReplayStore(tmp_path / "shards", settings.game())
    assert store.samples_of(0) == found["samples"] >= 200


def test_a_full_disk_is_waited_for_until_the_loop_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def write(*_: Any) -> None:
        raise UserError("no room") from OSError(28, "full")

    def wait_for_space() -> bool:
        asked.append(1)
        return len(asked) < 3

    monkeypatch.setattr("zermelo.files.PAUSE", 0.0)
    makes = Makes()
    run_loop(
        Run.create(tmp_path / "run", config(loop={"iterations": 1})), Stop(), RecordingView(),
        pool=makes,
    )  # fmt: skip
    pool = makes.pools[0]
    monkeypatch.setattr("zermelo.selfplay.shard_writer.write_shard", write)
    said: list[str] = []
    setup = dataclasses.replace(
        pool.setup, replay=tmp_path / "other", wait_for_space=wait_for_space, report=said.append
    )
    with pytest.raises(UserError, match="no room"):
        ShardIntake(setup).deliver(pool.parcels[0])
    assert len(asked) == 3
    assert ["the disk is full" in sentence for sentence in said] == [True]


def test_that_saving_waits_for_space_is_said_once_each_time(tmp_path: Path) -> None:
    view = RecordingView()
    loop = Loop(Run.create(tmp_path / "run", config()), Stop(), view)
    assert loop.wait_to_save() and loop.wait_to_save()
    assert ["the disk is full" in note for note in view.notes] == [True]
    loop.report.stage("saving")
    assert loop.wait_to_save() and len(view.notes) == 2
