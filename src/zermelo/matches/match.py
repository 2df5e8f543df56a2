"""A match of two players: paired openings with colours swapped, figures with their errors.

`play_match` is the whole of it. With a directory, a match that was interrupted goes on where it
was, and ends with the same files.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.games.registry import kind_of
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.contestants import (
    game_of,
    make_contestants,
    network_digests,
    searches_of,
)
from zermelo.matches.game_record import (
    GameRecord,
    Timing,
    duplicates,
    equal_pairs,
    failures,
    whole_pairs,
)
from zermelo.matches.openings import DEFAULT, make_openings, source_digest
from zermelo.matches.pairing import Task, make_tasks, match_pairs
from zermelo.matches.play_game import Contestants
from zermelo.matches.store import MatchStore, knows_searches
from zermelo.matches.workers import PlayTasks, Setup, play_tasks
from zermelo.players import Player
from zermelo.statistics.rating import ColourSplit, Pentanomial, Score
from zermelo.statistics.sprt import Sprt, SprtState

FORMAT = 1
SHOW_SECONDS = 0.2  # between two reports of progress, at least


@dataclass(frozen=True)
class MatchOptions:
    """How a match is played; `games` is the most that a sequential test may take."""

    games: int = 100
    openings: str = DEFAULT
    seed: int = 0
    concurrency: int = 1  # processes; with 1 all games are played in this one
    sprt: Sprt | None = None
    adjudication: AdjudicateOptions = field(default_factory=AdjudicateOptions)
    out: Path | None = None  # the match's directory
    elsewhere: PlayTasks | None = None  # plays the games on other machines

    def __post_init__(self) -> None:
        for name in ("games", "concurrency"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be 1 or more, not {getattr(self, name)}")


@dataclass(frozen=True)
class MatchResult:
    """What is known of a match, finished or not. Figures are for the first of the two players."""

    game: str
    names: tuple[str, str]
    records: tuple[GameRecord, ...]  # by number
    timings: tuple[Timing, ...] = ()
    sprt: Sprt | None = None

    @property
    def split(self) -> ColourSplit:
        """Results by colour, and by pairs of games as far as both were played."""
        return colour_split(self.records, 0)

    @property
    def sprt_state(self) -> SprtState | None:
        """Where the sequential test stands, by whole pairs in their order."""
        if self.sprt is None:
            return None
        pairs = self.split.pairs
        return self.sprt.state(pairs.counts, pairs.values)

    @property
    def failures(self) -> dict[str, dict[str, int]]:
        """How often each player failed, and how."""
        return failures(self.records, self.names)

    @property
    def speeds(self) -> tuple[float, float]:
        """Simulations per second of each player; 0 if none were counted."""
        seats = {record.number: record.players for record in self.records}
        totals = [[0.0, 0.0], [0.0, 0.0]]
        for timing in self.timings:
            for seat, index in enumerate(seats.get(timing.number, ())):
                totals[index][0] += timing.simulations[seat]
                totals[index][1] += timing.seconds[seat]
        first, second = (done / spent if spent else 0.0 for done, spent in totals)
        return first, second

    def __str__(self) -> str:
        split, total = self.split, self.split.total
        parts = [
            f"P1: {total}",
            f"Win: {total.score:.2%}",
            f"Elo: {split.elo_text}",
            f"LOS: {split.best.los:.1%}",
            f"P1-W: {split.first}",
            f"P1-B: {split.second}",
        ]
        state = self.sprt_state
        return "  ".join(parts + ([str(state)] if state else []))

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys, for JSON; nothing that depends on the clock."""
        state = self.sprt_state
        reasons = Counter(record.reason for record in self.records)
        games = max(1, len(self.records))
        return {
            "game": self.game,
            "players": list(self.names),
            **self.split.to_dict(),
            "duplicates": duplicates(self.records),
            "equal_pairs": equal_pairs(self.records),
            **opening_counts(self.records),
            "mean_plies": sum(record.plies for record in self.records) / games,
            "reasons": dict(sorted(reasons.items())),
            "failures": self.failures,
            "sprt": state.to_dict() | vars(self.sprt) if state else None,
        }


Progress = Callable[[MatchResult], None]


def play_match(
    players: Sequence[str | Player],
    game: str | Game | None = None,
    options: MatchOptions | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Plays the two players against each other; `progress` gets it as it stands, also on Ctrl-C.

    Players are texts such as `connect4.onnx?simulations=200`, or objects. The game need not be
    named if a player is a network.
    """
    options = options or MatchOptions()
    rules = game_of(players, game)
    own = knows_searches(options.out)
    contestants = make_contestants(players, rules, own)
    first, second = contestants.names
    openings = make_openings(rules, options.openings, (options.games + 1) // 2, options.seed)
    tasks = make_tasks(match_pairs(options.games), openings, options.seed)[: options.games]
    agreed = agreement(rules, contestants, options, own) | {"kind": "match"}
    setup = setup_for(spelled(game, rules), contestants, options)
    records: dict[int, GameRecord] = {}
    timings: dict[int, Timing] = {}

    def result(last: int) -> MatchResult:
        numbers = sorted(number for number in records if number < last)
        costs = tuple(timings[number] for number in numbers if number in timings)
        games = tuple(records[number] for number in numbers)
        return MatchResult(rules.name, (first, second), games, costs, options.sprt)

    test = SequentialTest(options.sprt)
    shown = -math.inf

    def on_game() -> bool:
        nonlocal shown
        if records and progress and time.monotonic() - shown > SHOW_SECONDS:
            progress(result(options.games))
            shown = time.monotonic()
        return test.decided(records)

    with MatchStore(options.out, agreed) if options.out else nullcontext() as store:
        try:
            run_tasks(setup, tasks, store, records, timings, on_game)
        except KeyboardInterrupt:
            if records and progress:
                progress(result(options.games))
            raise
        found = result(test.games or options.games)
        if progress is not None:
            progress(found)
        if store is not None:
            store.finish(found.records, rules, found.to_dict())
    return found


def setup_for(game: str | Game, contestants: Contestants, options: MatchOptions) -> Setup:
    """What playing the games needs of the options."""
    return Setup(game, contestants, options.adjudication, options.concurrency, options.elsewhere)


def run_tasks(
    setup: Setup,
    tasks: Sequence[Task],
    store: MatchStore | None,
    records: dict[int, GameRecord],
    timings: dict[int, Timing],
    on_game: Callable[[], bool],
) -> None:
    """Plays what is not in the store yet, until all is played or `on_game` says that it is enough.

    Finished games are put into `records` and `timings` by their number. A store with others than
    these games is refused.
    """
    wanted = {task.number for task in tasks}
    if store is not None:
        pairings = {frozenset(task.players) for task in tasks}
        store.require_all_wanted(wanted, len(pairings))
        records.update(store.records)
        timings.update({n: timing for n, timing in store.timings.items() if n in wanted})
    missing = [task for task in tasks if task.number not in records]
    if on_game() or not missing:
        return
    with closing(play_tasks(setup, missing)) as played:
        for record, timing in played:
            records[record.number] = record
            timings[record.number] = timing
            if store is not None:
                store.add(record, timing)
            if on_game():
                return


class SequentialTest:
    """Looks at whole pairs in their order, whatever the order in which they end.

    So neither more processes nor an interruption can change where the test stops.
    """

    def __init__(self, sprt: Sprt | None) -> None:
        self._sprt = sprt
        self._counts = [0] * 5
        self._pairs = 0  # that it has seen
        self.games: int | None = None  # how many it took to decide

    def decided(self, records: dict[int, GameRecord]) -> bool:
        """After what has been played so far."""
        while self._sprt is not None and self.games is None:
            one, swapped = (records.get(2 * self._pairs + i) for i in (0, 1))
            if one is None or swapped is None:
                break
            self._counts[round(2 * pair_points(one, swapped))] += 1
            self._pairs += 1
            if self._sprt.state(self._counts, Pentanomial().values).decision:
                self.games = 2 * self._pairs
        return self.games is not None


def pair_points(one: GameRecord, swapped: GameRecord) -> float:
    """Of the player who moved first in the first of the two games."""
    return one.points + 1.0 - swapped.points


def colour_split(records: Iterable[GameRecord], player: int) -> ColourSplit:
    """The results of one player by colour; pairs are those of which both games are there."""
    games = [record for record in records if player in record.players]
    first = [game.points for game in games if game.players[0] == player]
    second = [1.0 - game.points for game in games if game.players[1] == player]
    pairs = [
        pair_points(one, swapped) if one.players[0] == player else pair_points(swapped, one)
        for one, swapped in whole_pairs(games)
    ]
    return ColourSplit(Score.of(first), Score.of(second), Pentanomial.of(pairs))


def opening_counts(records: Sequence[GameRecord]) -> dict[str, int]:
    """How many openings a pairing had, one for each pair of games, and how many different ones."""
    pairs = {record.pair: frozenset(record.players) for record in records}
    return {
        "openings": max(Counter(pairs.values()).values(), default=0),
        "distinct_openings": len({record.opening for record in records}),
    }


def agreement(
    game: Game, contestants: Contestants, options: MatchOptions, own: bool
) -> dict[str, Any]:
    """What must be the same for a match to go on; without `own`, nothing of the searches."""
    return {
        "format": FORMAT,
        "game": game.name,
        **rules_digest(game),
        "players": list(contestants.names),
        "networks": network_digests(contestants.specs),
        **({"search": searches_of(contestants, game)} if own else {}),
        "seed": options.seed,
        "openings": options.openings,
        "book": source_digest(options.openings),
        "adjudication": vars(options.adjudication),
        # A test drops the games beyond the pair that decides it, but not those of another match.
        "sprt": vars(options.sprt) if options.sprt else None,
    }


def rules_digest(game: Game) -> dict[str, str]:
    """A hash of the Python file that has the rules; nothing for native games."""
    if kind_of(game):
        return {}
    try:
        file = inspect.getfile(type(game))
        return {"rules": hashlib.sha256(Path(file).read_bytes()).hexdigest()}
    except (OSError, TypeError):  # typed into an interpreter
        return {"rules": ""}


def spelled(asked: str | Game | None, game: Game) -> str | Game:
    """The game as another process can find it: native games by their name, others as asked for."""
    if kind_of(game):
        return game.name
    return game if asked is None else asked
