"""Two nodes with networks of their own, joined by a cable: namespaces and a veth pair."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("'ray' is not installed: zermelo[cluster]", allow_module_level=True)

from clusters import kill_family
from test_local_cluster import games_of
from tiny_runs import config

from zermelo.cluster.token import new_token, settings
from zermelo.loop import Run
from zermelo.train.metrics import read_metrics

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
HEAD, NODE = "10.231.77.1", "10.231.77.2"


def ip(*words: str) -> int:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode


@pytest.fixture
def hosts() -> Iterator[tuple[str, str]]:
    """Names of two namespaces in one subnet, which can see each other and nothing else."""
    if shutil.which("ip") is None:
        pytest.skip("there is no `ip` (iproute2) here")
    names = f"zh{os.getpid()}", f"zn{os.getpid()}"
    cable = f"zc{os.getpid()}", f"zd{os.getpid()}"
    try:
        if any(ip("netns", "add", name) for name in names):
            pytest.skip("no right to make network namespaces")
        if ip("link", "add", cable[0], "type", "veth", "peer", "name", cable[1]):
            pytest.skip("the kernel has no veth")
        for name, end, address in zip(names, cable, (HEAD, NODE), strict=True):
            assert ip("link", "set", end, "netns", name) == 0
            assert ip("-n", name, "addr", "add", f"{address}/24", "dev", end) == 0
            assert ip("-n", name, "link", "set", end, "up") == 0
            assert ip("-n", name, "link", "set", "lo", "up") == 0
        yield names
    finally:
        for name in names:
            ip("netns", "del", name)


def test_two_hosts_play_for_one_run_and_a_cut_cable_is_noticed(
    hosts: tuple[str, str], tmp_path: Path
) -> None:
    head, node = hosts
    environment = os.environ | settings(new_token())
    started: list[subprocess.Popen[bytes]] = []
    log = (tmp_path / "log.txt").open("wb")
    own = tempfile.mkdtemp(prefix="zr-"), tempfile.mkdtemp(prefix="zr-")

    def start(host: str, *words: str) -> subprocess.Popen[bytes]:
        inside = ["ip", "netns", "exec", host, sys.executable, "-m", "zermelo", *words]
        place = own[host == node]
        made = subprocess.Popen(
            inside, env=environment | {"RAY_TMPDIR": place}, stdout=log, stderr=log
        )
        started.append(made)
        return made

    def answers() -> bool:
        probe = f"import socket; socket.create_connection(('{HEAD}', 6379), 1)"
        words = ["ip", "netns", "exec", node, sys.executable, "-c", probe]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    try:
        start(head, "cluster", "head", "--host", HEAD, "--cpus", "1", "--memory-mib", "100")
        until = time.monotonic() + 300
        while not answers():
            assert time.monotonic() < until, (tmp_path / "log.txt").read_text()[-3000:]
            time.sleep(0.5)
        join = ["cluster", "join", f"{HEAD}:6379", "--host", NODE]
        start(node, *join, "--cpus", "1", "--memory-mib", "100")
        Run.create(
            run := tmp_path / "run",
            config(selfplay={"workers": 0}, loop={"iterations": 10_000, "mode": "together"}),
        ).unlock()
        driver = start(head, "train", str(run), "--cluster", f"{HEAD}:6379")

        def nodes_lost(count: int) -> bool:
            assert driver.poll() is None, (tmp_path / "log.txt").read_text()[-3000:]
            rows = read_metrics(run / "metrics")
            told = rows[-1]["selfplay"]["cluster"] if rows else {}
            return bool(told) and told["nodes"] == 2 - count and told["nodes_lost"] == count

        for count in (0, 1):
            until = time.monotonic() + 600
            while not nodes_lost(count):
                assert time.monotonic() < until, (tmp_path / "log.txt").read_text()[-3000:]
                time.sleep(0.2)
            if not count:
                assert ip("-n", node, "link", "set", f"zd{os.getpid()}", "down") == 0
    finally:
        for made in reversed(started):
            kill_family(made.pid)
            made.wait()
        log.close()
        for place in own:
            shutil.rmtree(place, ignore_errors=True)
    assert set(games_of(run).values()) == {1}
