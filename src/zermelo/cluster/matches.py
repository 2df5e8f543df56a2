"""The games of a match on a cluster: an actor for each place that has room, each with its boards.

A game depends on its task alone, so the result is that of one machine, byte for byte. An actor gets
games ahead of its boards and answers about once a second; what a dead one had is played again.
"""

from __future__ import annotations

import queue
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from zermelo.cluster.connection import Cluster
from zermelo.cluster.luggage import Luggage
from zermelo.cluster.nodes import Node, Nodes, first_line, on
from zermelo.cluster.patience import Patience
from zermelo.errors import UserError, users_sentence
from zermelo.games import game as find_game
from zermelo.matches.game_record import GameRecord, Timing
from zermelo.matches.hall import Hall, Played
from zermelo.matches.pairing import Task
from zermelo.matches.workers import TRIES, PlayTasks, Setup

ANSWER_SECONDS = 1.0  # between two answers of an actor, about
LOOK_EVERY = 1.0  # seconds between two looks at the nodes
START_SECONDS = 60.0  # for a node with room to be there
FAILURES = 3  # of one node: no more games go there


class MatchActor:
    """Some boards on some node. One call at a time."""

    def __init__(self, setup: Setup, luggage: Luggage) -> None:
        self._luggage = luggage.unpack()  # as long as this lives
        self._setup = setup
        self._hall: Hall | None = None
        self._under_way = 0

    def play(self, tasks: list[dict[str, Any]]) -> list[tuple[str, str]] | str:
        """Takes these games too; what has ended after a while, or what a person must hear."""
        try:
            self._hall = self._hall or self._opened()  # not before, as its refusals must be heard
            return self._played(self._hall, tasks)
        except Exception as error:
            if (sentence := users_sentence(error)) is None:
                raise
            return sentence

    def _opened(self) -> Hall:
        setup, there = self._setup, self._luggage
        specs = tuple(there.player(str(spec)) for spec in setup.contestants.specs)
        game = find_game(there.game(str(setup.game)))
        return Hall(game, replace(setup.contestants, specs=specs), setup.adjudication)

    def _played(self, hall: Hall, tasks: list[dict[str, Any]]) -> list[tuple[str, str]]:
        for task in tasks:
            hall.put(Task.from_dict(task))
        self._under_way += len(tasks)
        found: list[tuple[str, str]] = []
        until = time.monotonic() + ANSWER_SECONDS
        while self._under_way and (left := until - time.monotonic()) > 0:
            try:
                ended = hall.take(left)
            except queue.Empty:
                break
            if isinstance(ended, Exception):
                raise ended
            self._under_way -= 1
            found.append((ended[0].to_json(), ended[1].to_json()))
        return found


class _Seat:
    """An actor and its games."""

    def __init__(self, node: Node, kind: Any, setup: Setup, luggage: Any) -> None:
        self.node = node
        self.actor = kind.options(num_cpus=1, scheduling_strategy=on(node.key)).remote(
            setup, luggage
        )
        self.playing: dict[int, Task] = {}  # by number
        self.call: Any = None

    def ask(self, fresh: list[Task]) -> None:
        self.playing |= {task.number: task for task in fresh}
        self.call = self.actor.play.remote([task.to_dict() for task in fresh])


class _Table:
    """All actors of one match. Used by one thread."""

    def __init__(self, cluster: Cluster, setup: Setup, tasks: list[Task]) -> None:
        import ray

        self._cluster = cluster
        self._setup = replace(setup, elsewhere=None)
        specs = [str(spec) for spec in setup.contestants.specs]
        self._luggage = ray.put(Luggage.of(str(setup.game), specs))
        self._kind = ray.remote(max_restarts=0)(MatchActor)
        self._nodes = Nodes(self._say)
        self._tasks = deque(tasks)
        self._left = {task.number for task in tasks}
        self._tries: Counter[int] = Counter()
        self._failures: Counter[str] = Counter()
        self._seats: list[_Seat] = []
        self._patience = Patience(self._say)
        self._looked = -LOOK_EVERY
        self._reason = "none has room"

    def played(self) -> Generator[Played, None, None]:
        """Until all are."""
        import ray

        begun = time.monotonic()
        while self._left:
            if time.monotonic() - self._looked >= LOOK_EVERY:
                self._look()
            calls = {seat.call: seat for seat in self._seats}
            if not calls:
                if not self._nodes.waiting and time.monotonic() - begun > START_SECONDS:
                    raise UserError(f"no node of the cluster can play: {self._reason}")
                time.sleep(0.05)
                continue
            self._patience.look()
            ready, _ = ray.wait(list(calls), timeout=0.2)
            for call in ready:
                begun = time.monotonic()
                self._patience.heard()
                yield from self._hear(calls[call], call)

    def close(self) -> None:
        """Also in the middle of a game."""
        import ray

        for seat in self._seats:
            ray.kill(seat.actor, no_restart=True)
        self._seats = []

    def _hear(self, seat: _Seat, call: Any) -> list[Played]:
        import ray

        try:
            answer = ray.get(call)
        except ray.exceptions.RayTaskError as error:
            raise RuntimeError(f"on node {seat.node.name}: {first_line(error)}") from error
        except ray.exceptions.RayError as error:
            self._bury(seat, first_line(error))
            return []
        if isinstance(answer, str):
            raise UserError(f"on node {seat.node.name}: {answer}")
        found: list[Played] = []
        for record_text, timing_text in answer:
            record = GameRecord.from_json(record_text)
            seat.playing.pop(record.number, None)
            if record.number in self._left:  # a node thought dead may still have played it
                self._left.discard(record.number)
                found.append((record, Timing.from_json(timing_text)))
        self._feed(seat)
        return found

    def _feed(self, seat: _Seat) -> None:
        """Twice as many games as it has boards, so that none stands empty; it rests without any."""
        fresh: list[Task] = []
        while self._tasks and len(seat.playing) + len(fresh) < self._ahead():
            fresh.append(self._tasks.popleft())
        if fresh or seat.playing:
            seat.ask(fresh)
        else:
            import ray

            ray.kill(seat.actor, no_restart=True)
            self._seats.remove(seat)

    def _ahead(self) -> int:
        """Towards the end games are shared out evenly."""
        boards = self._setup.contestants.boards
        share = -(-len(self._tasks) // max(1, len(self._seats)))
        return max(1, min(2 * boards, boards + share // 2)) if boards > 1 else 2

    def _look(self) -> None:
        """Actors on every node that has room, as long as there are games for them."""
        self._looked = time.monotonic()
        if not self._cluster.check_head():
            return
        here = self._nodes.look()
        alive = {node.key for node in here}
        for seat in [seat for seat in self._seats if seat.node.key not in alive]:
            self._bury(seat, "its node has gone")
        taken = Counter(seat.node.key for seat in self._seats)
        for node in here:
            for _ in range(node.room(1, 0) - taken[node.key]):
                if not self._tasks or self._failures[node.key] >= FAILURES:
                    break
                seat = _Seat(node, self._kind, self._setup, self._luggage)
                self._seats.append(seat)
                self._feed(seat)

    def _bury(self, seat: _Seat, reason: str) -> None:
        """Its games are played elsewhere, twice at most."""
        self._seats.remove(seat)
        self._reason = reason
        self._failures[seat.node.key] += 1
        lost = [number for number in seat.playing if number in self._left]
        self._tries.update(lost)
        if tired := [number for number in lost if self._tries[number] > TRIES]:
            raise UserError(f"game {tired[0]}: its actor died {TRIES + 1} times ({reason})")
        self._tasks.extendleft(seat.playing[number] for number in reversed(lost))
        self._say(f"an actor on node {seat.node.name} died ({reason}): its games are played again")

    def _say(self, sentence: str) -> None:
        import sys

        print(sentence, file=sys.stderr)


def _play(cluster: Cluster, setup: Setup, tasks: list[Task]) -> Generator[Played, None, None]:
    with closing(_Table(cluster, setup, tasks)) as table:
        yield from table.played()


def play_on(cluster: Cluster) -> PlayTasks:
    """For `MatchOptions(elsewhere=...)`."""
    played: Callable[..., Generator[Played, None, None]] = partial(_play, cluster)
    return played
