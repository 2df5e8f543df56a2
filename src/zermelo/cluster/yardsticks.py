"""Yardsticks of a checkpoint as a task on another machine, so that the driver's cores are free.

The driver does itself what another machine cannot: engines, networks and files that only this one
has, the ladder, which plays with the run's own checkpoints, and everything while no other machine
is there or if it dies meanwhile. Does not know what the yardsticks are.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from zermelo.cluster.connection import Cluster
from zermelo.cluster.luggage import Luggage
from zermelo.cluster.nodes import Node, Nodes, first_line, on
from zermelo.config import RunConfig
from zermelo.errors import users_sentence
from zermelo.games.parameters import split_spec
from zermelo.network import NetworkEvaluator, Weights
from zermelo.players.registry import player_names
from zermelo.yardsticks.measure import (
    CheckpointYardsticks,
    measure,
    measured_precision,
    yardsticks_for,
)
from zermelo.yardsticks.options import EvaluateOptions

if TYPE_CHECKING:
    from zermelo.checkpoint import Checkpoint
    from zermelo.runs.directory import Run

LISTEN = 0.1  # seconds between two looks whether the run is to stop

Figures = dict[str, Any]


def can_travel(options: EvaluateOptions) -> bool:
    """Whether another machine has all that these yardsticks need."""
    if options.ladder or options.suite or os.path.exists(options.openings):
        return False
    return not options.games or all(map(_is_anywhere, options.players))


def _is_anywhere(opponent: str) -> bool:
    name, given = split_spec(opponent)
    return name in player_names() and "weights" not in given


@dataclass(frozen=True)
class MeasureTask:
    """What is measured, but for the network; plain data."""

    tables: dict[str, Any]  # of the run
    luggage: Luggage  # its game

    def figures(self, weights: Weights) -> Figures:
        """On the other machine."""
        there, config = self.luggage.unpack(), RunConfig.from_tables(self.tables)
        config = config.changed({"game": {"name": there.game(config.game_name)}})
        game, options, pool = config.game(), config.evaluate, config.pool
        notes: list[str] = []
        yardsticks = yardsticks_for(game, options, config.search)
        precision = measured_precision(pool.precision)
        evaluator = NetworkEvaluator(weights, pool.backend, precision, game=game)
        found: Figures = dict(measure(yardsticks, evaluator, options.seconds, note=notes.append))
        return found | ({"notes": notes} if notes else {})


def measure_there(task: MeasureTask, weights: Weights) -> Figures | str:
    """The figures, or why there are none."""
    try:
        return task.figures(weights)
    except Exception as error:
        if (sentence := users_sentence(error)) is None:
            raise
        return sentence


class ClusterYardsticks:
    """Takes the place of `here` in the loop. One call at a time, perhaps in a thread of its own."""

    def __init__(
        self, cluster: Cluster, here: CheckpointYardsticks, poll: Callable[[], None]
    ) -> None:
        self._cluster = replace(cluster)  # our own, as the pool's is for its thread
        self._here = here
        self._poll = poll
        self._nodes = Nodes(lambda _: None)  # the pool says what there is to say of them
        self._host = socket.gethostname()
        self._turn = 0

    def __call__(self, checkpoint: Checkpoint, run: Run) -> Figures:
        """The figures, and `notes` of what could not be measured."""
        node = self._other_machine() if can_travel(self._here.options) else None
        found = self._measured_on(node, checkpoint, run) if node is not None else ""
        if not isinstance(found, str):
            return found
        figures = self._here(checkpoint, run)
        if found and node is not None:
            note = f"yardsticks came back from node {node.name} to the driver: {found}"
            figures["notes"] = [*figures.get("notes", ()), note]
        return figures

    def _other_machine(self) -> Node | None:
        """Each in turn."""
        if not self._cluster.check_head():
            return None
        there = [node for node in self._nodes.look() if node.host != self._host]
        self._turn += 1
        return there[self._turn % len(there)] if there else None

    def _measured_on(self, node: Node, checkpoint: Checkpoint, run: Run) -> Figures | str:
        """The task takes no core of its own, as all of them play."""
        import ray

        task = MeasureTask(run.config.tables(), Luggage.of(run.config.game_name))
        far = ray.remote(num_cpus=0, max_retries=0)(measure_there)
        call = far.options(scheduling_strategy=on(node.key)).remote(task, checkpoint.weights())
        try:
            while not (self._cluster.check_head() and ray.wait([call], timeout=LISTEN)[0]):
                self._poll()
            figures: Figures | str = ray.get(call)
        except ray.exceptions.RayTaskError as error:
            raise RuntimeError(f"on node {node.name}: {first_line(error)}") from error
        except ray.exceptions.RayError as error:
            return first_line(error)
        except BaseException:
            with contextlib.suppress(Exception):  # the head may have gone
                ray.cancel(call, force=True)
            raise
        return figures


def measured_by(
    cluster: Cluster, yardsticks: list[CheckpointYardsticks], poll: Callable[[], None]
) -> list[ClusterYardsticks]:
    """For `run_loop(evaluate=...)`."""
    return [ClusterYardsticks(cluster, here, poll) for here in yardsticks]
