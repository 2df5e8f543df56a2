"""A cluster of this machine alone: a run, its deaths, a match, a suite."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

if importlib.util.find_spec("ray") is None:  # not imported here: the token comes first
    pytest.skip("'ray' is not installed: zermelo[cluster]", allow_module_level=True)

from tiny_runs import RecordingView, config, train

from zermelo.checkpoint import Checkpoint
from zermelo.cluster.connection import Cluster, connect
from zermelo.cluster.matches import play_on
from zermelo.cluster.nodes import Nodes
from zermelo.cluster.player import Delivery
from zermelo.cluster.pool import RayPool
from zermelo.cluster.suites import answers_on
from zermelo.cluster.yardsticks import measured_by
from zermelo.config.options import ClusterOptions
from zermelo.errors import UserError
from zermelo.loop import Run, Stop, run_loop
from zermelo.matches.match import MatchOptions, play_match
from zermelo.replay import ReplayStore
from zermelo.runs.opening import yardsticks_of
from zermelo.runs.status import read_status
from zermelo.selfplay.pool import PoolSetup
from zermelo.selfplay.producer import FIRST_GAME
from zermelo.suites.files import read_suite
from zermelo.suites.solve import SuiteSolver

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two cores, or as many as there are."""
    with connect("local", 100) as joined:
        yield joined
    for thing in gc.get_objects():  # Ray ends its processes and does not wait for them
        if isinstance(thing, subprocess.Popen) and "ray" in str(thing.args):
            thing.wait(30)


class Watched:
    """Makes a pool that may be looked into."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.pool: RayPool | None = None

    def __call__(self, setup: PoolSetup) -> RayPool:
        self.pool = RayPool(setup, self.cluster, ClusterOptions(call_seconds=0.1))
        return self.pool


def games_of(run: Path) -> Counter[tuple[int, int, int]]:
    """Every game on the disk by its producer's seed, its iteration and its number."""
    found: Counter[tuple[int, int, int]] = Counter()
    for shard in ReplayStore(run / "replay", Run.open(run).config.game()).shards():
        said = shard.header.statistics
        for number in range(said["games"]):
            found[said["seed"], shard.header.iteration, said[FIRST_GAME] + number] += 1
    return found


def test_everything_listens_on_the_loopback_only(cluster: Cluster) -> None:
    ours = {pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _is_ray(pid)}
    inodes = {inode for pid in ours for inode in _sockets(pid)}
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                listening.append(words[1].partition(":")[0])
    assert len(listening) >= 3
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}
    assert set(listening) <= loopback


def _is_ray(pid: int) -> bool:
    """A process of this test's cluster, or this one: it has the token."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return os.environ["RAY_AUTH_TOKEN"].encode() in variables or pid == os.getpid()


def _sockets(pid: int) -> set[str]:
    found = set()
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            target = os.readlink(link) if link.is_symlink() else ""
            if target.startswith("socket:["):
                found.add(target[8:-1])
    except OSError:
        pass
    return found


@pytest.mark.parametrize(
    # Together, a run may be done before the death is noticed if the machine is busy.
    "mode",
    ["alternate", pytest.param("together", marks=pytest.mark.slow)],
)
def test_a_run_goes_on_though_an_actor_is_killed_and_counts_every_game_once(
    tmp_path: Path, cluster: Cluster, mode: str
) -> None:
    import ray

    path, makes = tmp_path / "run", Watched(cluster)

    def kill() -> None:
        assert makes.pool is not None
        seat = makes.pool._seats[0]
        pid = ray.get(seat.actor.turn.options(concurrency_group="control").remote(0))
        os.kill(pid, signal.SIGKILL)

    view = RecordingView((1, "self-play"), kill)
    made = Run.create(path, config(selfplay={"workers": 2}, loop={"iterations": 3, "mode": mode}))
    found = run_loop(made, Stop(), view, pool=makes)
    assert (found["stopped"], found["iteration"], found["mode"]) == ("done", 3, mode)
    assert found["worker_deaths"] >= 1
    assert found["metrics"]["selfplay"]["cluster"]["actors_lost"] >= 1
    assert any("died" in note for note in view.notes)
    games = games_of(path)
    assert games and set(games.values()) == {1}
    assert sum(games.values()) == found["games"]
    status = read_status(path)
    assert status is not None and status.nodes[0]["actors"] >= 1


def test_a_driver_that_did_not_listen_for_long_takes_no_actor_for_dead(
    tmp_path: Path, cluster: Cluster
) -> None:
    makes = Watched(cluster)

    def be_away() -> None:
        assert makes.pool is not None
        makes.pool._seats[0].asked -= 1000.0
        makes.pool._look()

    view = RecordingView((1, "self-play"), be_away)
    made = Run.create(tmp_path / "run", config(selfplay={"workers": 2}))
    assert run_loop(made, Stop(), view, pool=makes)["worker_deaths"] == 0


def test_what_an_actor_said_of_an_order_before_does_not_end_the_next(
    tmp_path: Path, cluster: Cluster
) -> None:
    makes = Watched(cluster)

    def hear_late() -> None:
        pool = makes.pool
        assert pool is not None
        seat = pool._seats[0]
        seat.calls.append(late := ray.put(Delivery([], done=pool._serial - 1)))
        pool._hear(seat, late)
        assert seat.state == "playing" and seat.calls

    import ray

    view = RecordingView((1, "self-play"), hear_late)
    made = Run.create(tmp_path / "run", config(selfplay={"workers": 2}))
    assert run_loop(made, Stop(), view, pool=makes)["stopped"] == "done"


def test_a_match_on_a_cluster_has_the_files_of_one_machine(
    tmp_path: Path, cluster: Cluster
) -> None:
    players = ["search?simulations=20", "rollout?simulations=20"]
    options = MatchOptions(games=400, out=tmp_path / "here")
    play_match(players, "tictactoe", options)
    there = replace(options, out=tmp_path / "there", elsewhere=play_on(cluster))
    play_match(players, "tictactoe", there)
    for name in ("result.json", "games.jsonl", "match.json"):
        here, far = ((tmp_path / place / name).read_bytes() for place in ("here", "there"))
        assert here == far


def test_a_network_goes_along_with_a_match(tmp_path: Path, cluster: Cluster) -> None:
    """To a path of its own, which is taken for the checkpoint's."""
    run = tmp_path / "run"
    train(run, loop={"iterations": 1})
    players = [f"{run}?simulations=8", "rollout?simulations=8"]
    options = MatchOptions(games=12, out=tmp_path / "here")
    play_match(players, "tictactoe", options)
    there = replace(options, out=tmp_path / "there", elsewhere=play_on(cluster))
    play_match(players, "tictactoe", there)
    for name in ("result.json", "games.jsonl"):
        here, far = ((tmp_path / place / name).read_bytes() for place in ("here", "there"))
        assert here == far


def test_a_suite_on_a_cluster_has_the_answers_of_one_machine(
    tmp_path: Path, cluster: Cluster
) -> None:
    file = tmp_path / "mates.epd"
    file.write_text(
        "6k1/5ppp/8/8/8/8/8/R3K2R w KQ - bm Ra8#;\n"
        "7k/R7/5N2/8/8/8/8/7K w - - bm Rh7#;\n"
        "k7/8/1K6/8/8/8/8/7R w - - bm Rh8#;\n" * 7
    )
    suite, spec = read_suite(file), "search?simulations=200"
    here = [replace(answer, seconds=0.0) for answer in SuiteSolver(suite, spec).answers()]
    there = [replace(answer, seconds=0.0) for answer in answers_on(cluster, suite, spec)]
    assert there == here and len(here) == 21


def test_yardsticks_on_another_machine_have_the_figures_of_the_driver(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is another machine if the driver's has another name."""
    train(tmp_path / "run", loop={"iterations": 1})
    run = Run.open(tmp_path / "run")
    config = run.config.changed({"evaluate": {"seconds": 0.0, "games": 8, "threads": 1}})
    monkeypatch.setattr(run, "config", config)
    here = yardsticks_of(config, lambda: None)
    monkeypatch.setattr(socket, "gethostname", lambda: "the driver's")
    (there,) = measured_by(cluster, here, lambda: None)
    while not there._nodes.look():
        time.sleep(0.1)
    checkpoint = Checkpoint.at(run.path / "checkpoints" / "000001")
    expected = here[0](checkpoint, run)
    monkeypatch.setattr(there, "_here", SimpleNamespace(options=config.evaluate))  # not called
    found = there(checkpoint, run)
    assert found.pop("seconds") > 0 and expected.pop("seconds") > 0
    assert found == expected and "random.score" in found and "tictactoe.never_loses" in found


def test_a_node_of_another_version_is_refused_in_one_line(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    nodes = Nodes(said.append)
    nodes._here = nodes._here | {"zermelo": "9.9"}
    while not said:
        assert nodes.look() == []
    assert len(said) == 1 and "does not play: it has zermelo" in said[0] and "not 9.9" in said[0]


def test_what_ray_says_of_its_nodes_is_not_in_our_answers(
    cluster: Cluster, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """They may be JSON."""
    from ray._private import utils, worker

    caplog.set_level("INFO", "zermelo.cluster.silence")
    client = worker.global_worker.gcs_client
    utils.publish_error_to_driver("node_died", "a node is dead", gcs_client=client)
    until = time.monotonic() + 30
    while "a node is dead" not in caplog.text and time.monotonic() < until:
        time.sleep(0.05)
    assert "a node is dead" in caplog.text
    assert capfd.readouterr().out == ""


def test_a_second_connection_is_refused(cluster: Cluster) -> None:
    with pytest.raises(UserError, match="connected to a cluster already"), connect("local"):
        pass
