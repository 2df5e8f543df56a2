"""Which nodes a cluster has and which of them may play: those with our versions.

Ray knows who is there; this asks it now and then. Does not know what is played on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.cluster.versions import difference, make_probe, versions_here

CPU, GPU = "CPU", "GPU"
QUESTIONS = 3  # about its versions whose process may die, for want of memory perhaps


@dataclass(frozen=True)
class Node:
    """A node as Ray tells of it."""

    key: str
    address: str
    host: str
    cpus: float
    gpus: float

    @property
    def name(self) -> str:
        """For people: several nodes of one machine are told apart."""
        return f"{self.address} ({self.key[:6]})"

    def room(self, cpus: float, gpus: float) -> int:
        """How many workers of that size it holds."""
        wanted = [(self.cpus, cpus), (self.gpus, gpus)]
        return min(int(has / needs + 1e-9) for has, needs in wanted if needs > 0)


class Nodes:
    """The nodes that may play, looked at again and again. Used by one thread."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._here = versions_here()
        self._asked: dict[str, Any] = {}  # by node: the answer about its versions that will come
        self._known: dict[str, Node] = {}  # that may play
        self._refused: set[str] = set()
        self._died: Counter[str] = Counter()  # processes that were to answer, by node
        self.lost = 0  # that were there and have gone

    def look(self) -> list[Node]:
        """Those that may play now. A node that has just come is asked first."""
        import ray

        alive = {found["NodeID"]: _node(found) for found in ray.nodes() if found["Alive"]}
        for key in [key for key in self._known if key not in alive]:
            self.lost += 1
            self._report(f"node {self._known.pop(key).name} has gone")
        for key in self._asked.keys() - alive.keys():  # it went before it answered
            del self._asked[key]
        for key, node in alive.items():
            if key not in self._known and key not in self._refused:
                self._ask(node)
        return list(self._known.values())

    def refuse(self, node: Node, reason: str) -> None:
        """It plays no more."""
        self._known.pop(node.key, None)
        self._refused.add(node.key)
        self._report(f"node {node.name} does not play: {reason}")

    @property
    def waiting(self) -> bool:
        """Whether a node has not answered yet."""
        return bool(self._asked)

    def _ask(self, node: Node) -> None:
        import ray

        if node.key not in self._asked:
            task = ray.remote(num_cpus=0, max_retries=0)(make_probe())
            self._asked[node.key] = task.options(scheduling_strategy=on(node.key)).remote()
        ready, _ = ray.wait([self._asked[node.key]], timeout=0)
        if not ready:
            return
        answer = self._asked.pop(node.key)
        try:
            reason = difference(self._here, ray.get(answer))
        except ray.exceptions.RayError as error:  # perhaps it has gone meanwhile
            self._died[node.key] += 1
            gone = isinstance(error, ray.exceptions.NodeDiedError)
            if gone or self._died[node.key] < QUESTIONS:
                return
            reason = first_line(error)
        if reason:
            self.refuse(node, reason)
        else:
            self._known[node.key] = node


def on(key: str) -> Any:
    """Makes Ray put something on this node and on no other."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(key, soft=False)


def first_line(error: BaseException) -> str:
    """What a long message of Ray begins with; of what was raised on a node, that itself."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        return f"{type(cause).__name__}: {first_line(cause)}"
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _node(found: dict[str, Any]) -> Node:
    has = found["Resources"]
    address, host = str(found["NodeManagerAddress"]), str(found["NodeManagerHostname"])
    return Node(found["NodeID"], address, host, has.get(CPU, 0.0), has.get(GPU, 0.0))
