"""Many players: everybody against everybody, or one against all; ratings with errors."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.matches.contestants import game_of, make_contestants
from zermelo.matches.game_record import (
    GameRecord,
    Timing,
    duplicates,
    equal_pairs,
    failures,
    whole_pairs,
)
from zermelo.matches.match import (
    SHOW_SECONDS,
    MatchOptions,
    agreement,
    colour_split,
    opening_counts,
    run_tasks,
    setup_for,
    spelled,
)
from zermelo.matches.openings import make_openings
from zermelo.matches.pairing import gauntlet, make_tasks, round_robin
from zermelo.matches.store import MatchStore, knows_searches
from zermelo.players import Player
from zermelo.statistics.bradley_terry import GamePair, Meeting, Ratings, bradley_terry
from zermelo.statistics.rating import ColourSplit, Score

KINDS = {"round-robin": round_robin, "gauntlet": gauntlet}


@dataclass(frozen=True)
class TournamentResult:
    """All games of a tournament so far."""

    game: str
    names: tuple[str, ...]
    records: tuple[GameRecord, ...]  # by number
    anchor: str | None = None  # whose rating is `anchor_elo`; None: the mean of all is
    anchor_elo: float = 0.0

    @property
    def ratings(self) -> Ratings:
        """Elo of each player; until the anchor has played, the mean is `anchor_elo`."""
        played = {name for record in self.records for name in record.names}
        anchor = self.anchor if self.anchor in played else None
        pairs = game_pairs(self.records)
        return bradley_terry(meetings(self.records), anchor, self.anchor_elo, pairs)

    def split(self, player: int, other: int | None = None) -> ColourSplit:
        """A player's results, against all or against one."""
        wanted = {player} if other is None else {player, other}
        return colour_split((r for r in self.records if wanted <= set(r.players)), player)

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        return {
            "game": self.game,
            "players": list(self.names),
            "games": len(self.records),
            "duplicates": duplicates(self.records),
            "equal_pairs": equal_pairs(self.records),
            **opening_counts(self.records),
            "ratings": self.ratings.to_dict() if self.records else None,
            "crosstable": [
                {"player": self.names[i], "opponent": self.names[j]} | split.to_dict()
                for i in range(len(self.names))
                for j in range(len(self.names))
                if i != j and (split := self.split(i, j)).total.games
            ],
            "failures": failures(self.records, self.names),
        }


def play_tournament(
    players: Sequence[str | Player],
    game: str | Game | None = None,
    options: MatchOptions | None = None,
    kind: str = "round-robin",
    anchor: str | None = None,
    anchor_elo: float = 0.0,
    progress: Callable[[TournamentResult, int], None] | None = None,
) -> TournamentResult:
    """`options.games` is the number of games of each pairing.

    `progress` gets it as it stands, also on Ctrl-C, and the number of games in all.
    """
    options = options or MatchOptions()
    if len(players) < 2:
        raise UserError("a tournament needs two players or more")
    if kind not in KINDS:
        raise UserError(f"there is no tournament '{kind}'; there are {', '.join(KINDS)}")
    if options.sprt is not None:
        raise UserError("a sequential test is for a match of two players, not for a tournament")
    if options.games % 2:
        raise UserError(
            f"each pairing of a tournament plays pairs of games with colours swapped, so the "
            f"number of its games must be even, not {options.games}"
        )
    rules = game_of(players, game)
    own = knows_searches(options.out)
    contestants = make_contestants(players, rules, own)
    named = _anchor(anchor, players, contestants.names)
    rounds = options.games // 2
    openings = make_openings(rules, options.openings, rounds, options.seed)
    tasks = make_tasks(KINDS[kind](len(players), rounds), openings, options.seed)
    setup = setup_for(spelled(game, rules), contestants, options)
    agreed = agreement(rules, contestants, options, own) | {"kind": kind}
    records: dict[int, GameRecord] = {}
    timings: dict[int, Timing] = {}
    shown = -math.inf

    def result() -> TournamentResult:
        ordered = tuple(records[number] for number in sorted(records))
        return TournamentResult(rules.name, contestants.names, ordered, named, anchor_elo)

    def on_game() -> bool:
        nonlocal shown
        if records and progress and time.monotonic() - shown > SHOW_SECONDS:
            progress(result(), len(tasks))
            shown = time.monotonic()
        return False

    with MatchStore(options.out, agreed) if options.out else nullcontext() as store:
        try:
            run_tasks(setup, tasks, store, records, timings, on_game)
        except KeyboardInterrupt:
            if records and progress:
                progress(result(), len(tasks))
            raise
        found = result()
        if store is not None:
            store.finish(found.records, rules, found.to_dict())
    return found


def meetings(records: Sequence[GameRecord]) -> list[Meeting]:
    """The games of each pairing and colour, counted."""
    points: dict[tuple[str, str], list[float]] = {}
    for record in records:
        points.setdefault(record.names, []).append(record.points)
    return [Meeting(*names, Score.of(won)) for names, won in points.items()]


def game_pairs(records: Sequence[GameRecord]) -> list[GamePair]:
    """Which of the games were played in pairs."""
    return [
        GamePair(*one.names, (one.points, swapped.points)) for one, swapped in whole_pairs(records)
    ]


def _anchor(
    anchor: str | None, players: Sequence[str | Player], names: Sequence[str]
) -> str | None:
    """The anchor's full name; it may be given as the player was."""
    if anchor is None or anchor in names:
        return anchor
    if anchor in players:
        return names[list(players).index(anchor)]
    raise UserError(f"the anchor '{anchor}' is none of the players: {', '.join(names)}")
