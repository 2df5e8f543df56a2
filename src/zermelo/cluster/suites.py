"""The problems of a suite on a cluster, a handful at a time; answers in the order of the file."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from zermelo.cluster.connection import Cluster
from zermelo.cluster.luggage import Luggage
from zermelo.cluster.nodes import Nodes, first_line, on
from zermelo.cluster.patience import Patience
from zermelo.errors import UserError, users_sentence
from zermelo.suites.files import Suite
from zermelo.suites.solve import Answer, SuiteSolver

CALL_SECONDS = 1.0  # that a call takes at least, if there are problems left for it
HANDFUL = 16  # problems of one call at most
TRIES = 3  # of a handful whose actor died
START_SECONDS = 60.0  # for a node with room to be there


class SolverActor:
    """One player before the problems."""

    def __init__(self, suite: Suite, spec: str, luggage: Luggage) -> None:
        self._luggage = luggage.unpack()  # as long as this lives
        self._solver: SuiteSolver | None = None
        self._suite, self._spec = suite, spec

    def solve(self, numbers: list[int]) -> list[Answer] | str:
        """In their order; fewer if they take long. Or what a person must hear."""
        until = time.monotonic() + CALL_SECONDS
        found: list[Answer] = []
        try:
            if self._solver is None:
                self._solver = SuiteSolver(self._suite, self._luggage.player(self._spec))
            for number in numbers:
                found.append(self._solver.solve(self._suite.problems[number]))
                if time.monotonic() >= until:
                    break
        except Exception as error:
            if (sentence := users_sentence(error)) is None:
                raise
            return sentence
        return found


def tell(sentence: str) -> None:
    """On the error stream, at once."""
    print(sentence, file=sys.stderr, flush=True)


def answers_on(cluster: Cluster, suite: Suite, spec: str) -> Iterator[Answer]:
    """As `SuiteSolver.answers` gives them, but for the seconds that they took."""
    import ray

    kind = ray.remote(max_restarts=0)(SolverActor)
    suite_there, luggage = ray.put(suite), ray.put(Luggage.of(suite.game, [spec]))
    nodes = Nodes(tell)
    left = deque(range(len(suite.problems)))
    tries: Counter[int] = Counter()
    calls: dict[Any, tuple[Any, str, list[int]]] = {}  # the actor, its node and its problems
    found: dict[int, Answer] = {}
    told, looked, begun = 0, 0.0, time.monotonic()
    patience = Patience(tell)

    def ask(actor: Any, node: str) -> None:
        fresh = [left.popleft() for _ in range(min(HANDFUL, len(left)))]
        if fresh:
            calls[actor.solve.remote(fresh)] = actor, node, fresh
        else:
            ray.kill(actor, no_restart=True)

    try:
        while told < len(suite.problems):
            if time.monotonic() - looked > 1.0:
                looked = time.monotonic()
                here = nodes.look() if cluster.check_head() else []
                taken = Counter(node for _, node, _ in calls.values())
                for node in here:
                    for _ in range(node.room(1, 0) - taken[node.key]):
                        if left:
                            there = kind.options(num_cpus=1, scheduling_strategy=on(node.key))
                            ask(there.remote(suite_there, spec, luggage), node.key)
            ready, _ = ray.wait(list(calls), timeout=0.2) if calls else ([], [])
            if calls:
                patience.look()
            elif not nodes.waiting and time.monotonic() - begun > START_SECONDS:
                raise UserError("no node of the cluster can play: none has room")
            else:
                time.sleep(0.05)
                looked = 0.0
            for call in ready:
                patience.heard()
                begun = time.monotonic()
                actor, key, numbers = calls.pop(call)
                try:
                    answer = ray.get(call)
                except ray.exceptions.RayTaskError as error:
                    raise RuntimeError(first_line(error)) from error
                except ray.exceptions.RayError as error:
                    tries.update(numbers)
                    if tries[numbers[0]] >= TRIES:
                        name = suite.problems[numbers[0]].name
                        raise UserError(
                            f"{name}: its actor died {TRIES} times ({first_line(error)})"
                        ) from error
                    left.extendleft(reversed(numbers))
                    continue
                if isinstance(answer, str):
                    raise UserError(answer)
                found |= dict(zip(numbers, answer, strict=False))
                left.extendleft(reversed(numbers[len(answer) :]))
                ask(actor, key)
            while told in found:
                yield found[told]
                told += 1
    finally:
        for actor, _, _ in calls.values():
            ray.kill(actor, no_restart=True)
