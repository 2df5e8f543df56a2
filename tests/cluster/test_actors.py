"""What actors answer when they cannot play: a sentence, and not the death of their process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from zermelo.cluster import player
from zermelo.cluster.luggage import Luggage
from zermelo.cluster.matches import MatchActor
from zermelo.cluster.player import SelfPlayActor, samples_of_call
from zermelo.cluster.suites import SolverActor
from zermelo.config import RunConfig
from zermelo.loop.shards import spec_for
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.play_game import Contestants
from zermelo.matches.workers import Setup
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.producer import ShardProducer
from zermelo.suites.files import Suite


def test_an_actor_says_why_it_cannot_play_a_match() -> None:
    players = Contestants(("random", "random"), ("a", "b"))
    told = MatchActor(Setup("no_game", players, AdjudicateOptions()), Luggage()).play([])
    assert isinstance(told, str) and "no_game" in told


def test_an_actor_says_why_it_cannot_solve_a_suite() -> None:
    told = SolverActor(Suite("none", "moves", "tictactoe", ()), "gone.onnx", Luggage()).solve([])
    assert isinstance(told, str) and "gone.onnx" in told


@dataclass
class Asked:
    """The part of a spec that an actor itself reads."""

    game: str = "tictactoe"


def self_play(monkeypatch: pytest.MonkeyPatch, make: Callable[[Spec], Any]) -> SelfPlayActor:
    """An actor with another producer."""
    monkeypatch.setattr(player, "ShardProducer", make)
    spec: Any = Asked()
    return SelfPlayActor(spec, Luggage(), 0.1)


ORDER: Any = Order(0, SimpleNamespace(), 0, 1, -1.0, 10)


def test_a_network_that_answers_nonsense_is_a_sentence_and_no_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make(spec: Spec) -> Any:
        raise RuntimeError("the evaluator returned a value that is not finite")

    told = self_play(monkeypatch, make).play(1, ORDER)
    assert told.refusal.startswith("the network cannot be used: the evaluator returned")


def test_a_fault_of_ours_is_not_made_a_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(spec: Spec) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        self_play(monkeypatch, make).play(1, ORDER)


def test_an_actor_that_gets_its_network_ready_has_a_pulse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pulses: list[float] = []

    def make(spec: Spec) -> Any:
        actor.moved_on -= 50.0 if actor.moved_on else 0.0
        pulses.append(actor.pulse())
        raise ZeroDivisionError

    actor = self_play(monkeypatch, make)
    with pytest.raises(ZeroDivisionError):
        actor.play(1, ORDER)
    assert pulses[0] >= 50.0 and actor.pulse() == 0.0


def test_a_call_needs_one_shard_at_the_speed_of_the_one_before() -> None:
    """But for an iteration's share, and never less than a shard may have."""
    assert samples_of_call(500, 0.5, 1.0, share=10_000) == 1100
    assert samples_of_call(500, 0.5, 1.0, share=300) == 300
    assert samples_of_call(0, 0.5, 1.0, share=10_000) == 100
    spec = spec_for(RunConfig.from_tables({"game": {"name": "tictactoe"}}), 0, 1)
    producer, order = ShardProducer(spec), replace(ORDER, share=10_000, quota=0)
    assert producer.shard_size(order, 0) == 100
    producer.least = 1100
    assert [producer.shard_size(order, made) for made in (0, 1100, 9900)] == [1100, 1100, 1100]
