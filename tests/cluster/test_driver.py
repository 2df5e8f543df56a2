"""What a driver makes of nodes that come, go, refuse and die, without Ray."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_ray import Call, put_in

from zermelo.cluster.connection import Cluster
from zermelo.cluster.nodes import Nodes
from zermelo.cluster.pool import RayPool
from zermelo.cluster.versions import versions_here
from zermelo.config.options import ClusterOptions
from zermelo.games import game
from zermelo.selfplay.pool import PoolSetup


def in_vain(call: Call) -> None:
    """Nothing ever answers."""


def welcome(call: Call) -> None:
    """Every node has our versions; nothing else answers."""
    if call.name == "probe":
        call.end(versions_here())


class Reached(Cluster):
    """Its head answers."""

    def check_head(self) -> bool:
        return True


CLUSTER = Reached("auto", False, ("head", 1))


def pool(directory: Path, said: list[str]) -> RayPool:
    """Of tic-tac-toe; what it says is kept."""

    def spec(number: int) -> Any:
        return SimpleNamespace(game="tictactoe", worker=number)

    setup = PoolSetup(
        game("tictactoe"), 0, spec, directory, directory / "log.txt", 0,
        on_shard=lambda message: None, report=said.append, wait_for_space=lambda: False,
    )  # fmt: skip
    return RayPool(setup, CLUSTER, ClusterOptions())


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
