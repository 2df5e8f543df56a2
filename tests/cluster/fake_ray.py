"""A Ray without processes, for what a driver does: nodes and answers are what the test says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class RayError(Exception):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's: its text begins with the call, its cause is what was raised there."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"ray::Actor.play() (pid=1, ip=10.0.0.1)\n{cause}")
        self.cause = cause


class ActorDiedError(RayError):
    """As Ray's."""


class NodeDiedError(RayError):
    """As Ray's."""


class Call:
    """Under way until it has an answer; an answer that is an Exception is raised."""

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name, self.arguments = name, arguments
        self.answers: list[Any] = []

    def end(self, answer: Any) -> None:
        self.answers.append(answer)


class Remote:
    """A function or a class, and each method of its actors."""

    def __init__(self, ray: FakeRay, name: str) -> None:
        self._ray, self._name = ray, name

    def options(self, **settings: Any) -> Remote:
        return self

    def remote(self, *arguments: Any) -> Any:
        call = Call(self._name, arguments)
        self._ray.calls.append(call)
        self._ray.answer(call)
        return call if self._name[0].islower() else Actor(self._ray)


class Actor:
    """Has whatever method it is asked for."""

    def __init__(self, ray: FakeRay) -> None:
        self._ray = ray

    def __getattr__(self, name: str) -> Remote:
        return Remote(self._ray, name)


class FakeRay(ModuleType):
    """`answer` sees each call as it is made, and may end it."""

    def __init__(self, answer: Callable[[Call], None]) -> None:
        super().__init__("ray")
        self.answer = answer
        self.calls: list[Call] = []
        self.killed = 0
        self.there: dict[str, int] = {"n1": 1}  # nodes and their cores
        self.host = "there"
        self.exceptions = SimpleNamespace(
            RayError=RayError, RayTaskError=RayTaskError, NodeDiedError=NodeDiedError
        )

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {
                "NodeID": key, "Alive": True, "Resources": {"CPU": cpus},
                "NodeManagerAddress": "10.0.0.1", "NodeManagerHostname": self.host,
            }
            for key, cpus in self.there.items()
        ]  # fmt: skip

    def remote(self, **settings: Any) -> Callable[[Any], Remote]:
        return lambda thing: Remote(self, thing.__name__)

    def wait(self, calls: list[Call], num_returns: int = 1, timeout: float = 0.0) -> Any:
        ready = [call for call in calls if call.answers]
        return ready, [call for call in calls if not call.answers]

    def get(self, call: Any) -> Any:
        if not isinstance(call, Call):
            return call
        (answer,) = call.answers
        if isinstance(answer, Exception):
            raise answer
        return answer

    def put(self, thing: Any) -> Any:
        return thing

    def kill(self, actor: Actor, no_restart: bool) -> None:
        self.killed += 1


def put_in(monkeypatch: pytest.MonkeyPatch, answer: Callable[[Call], None]) -> FakeRay:
    """In Ray's place, for one test."""
    made = FakeRay(answer)
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = lambda key, soft: key  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", made)
    monkeypatch.setitem(sys.modules, "ray.util", ModuleType("ray.util"))
    monkeypatch.setitem(sys.modules, strategies.__name__, strategies)
    return made
