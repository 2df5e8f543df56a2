"""Tunes a player's search by games against itself, and checks what was found by a match.

Owns the order of the games, the diary that lets an interrupted tuning go on, and the verdict. How
the climb goes is `spsa`'s; games are `matches`'.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.files import write_whole
from zermelo.matches.contestants import add_settings
from zermelo.matches.match import MatchOptions, MatchResult, play_match
from zermelo.options import value_text
from zermelo.tune.constants import Constant, begin, options_at
from zermelo.tune.spsa import Point, Spsa, belief, settled

AGREED = "tune.json"
DIARY = "steps.jsonl"
CHECK = "check"  # the match's directory
CHECK_SEED = 1_000_003  # other openings than those of the steps


@dataclass(frozen=True)
class TuneOptions:
    """How long and how finely; `match` says how games are played."""

    steps: int = 200  # at most
    pairs: int = 8  # of games, for each step
    within: float = 0.03  # of the bounds' distance: settled when the mean moves by less
    check_games: int = 400
    match: MatchOptions = field(default_factory=MatchOptions)


@dataclass(frozen=True)
class Standing:
    """What is known after some steps."""

    constants: tuple[Constant, ...]
    first: Point  # where the climb began
    path: tuple[Point, ...]
    games: int
    settled: bool

    def rows(self) -> list[dict[str, Any]]:
        """For each constant: where it began, what is believed, and how far from sure."""
        mean, error = belief(self.path)
        return [
            {
                "name": c.name,
                "low": c.low,
                "high": c.high,
                "begin": c.value(float(self.first[i])),
                "value": c.value(float(mean[i])),
                "error": float(error[i]) * (c.high - c.low),
            }
            for i, c in enumerate(self.constants)
        ]

    @property
    def values(self) -> dict[str, float]:
        """The constants as they are believed to be best."""
        return options_at(self.constants, belief(self.path)[0])


class Tuning:
    """One tuning of the player `base`, a text such as `chess.safetensors?simulations=64`."""

    def __init__(
        self,
        base: str,
        game: str | None,
        constants: list[Constant],
        search: Any,
        options: TuneOptions,
    ) -> None:
        self.base, self.game, self.constants = base, game, constants
        self.options = options
        self._spsa = Spsa(begin(constants, search), options.match.seed)
        if options.match.out is not None:
            self._open(options.match.out)

    @property
    def standing(self) -> Standing:
        """After the steps so far."""
        path = tuple(self._spsa.path)
        games = 2 * self.options.pairs * self._spsa.steps
        done = settled(path, self.options.within)
        return Standing(tuple(self.constants), path[0], path, games, done)

    def climb(self) -> Iterator[Standing]:
        """Takes the steps that are left; ends by itself when the constants no longer move."""
        while self._spsa.steps < self.options.steps and not self.standing.settled:
            players = [self.player(options_at(self.constants, p)) for p in self._spsa.ends()]
            seed = self.options.match.seed + self._spsa.steps
            plan = replace(self.options.match, games=2 * self.options.pairs, seed=seed, out=None)
            if players[0] == players[1]:  # both ends at the same bound
                self._add(0.0)
            else:
                result = play_match(players, self.game, plan)
                self._add(2.0 * result.split.total.score - 1.0)
            yield self.standing

    def check(self, progress: Callable[[MatchResult], None] | None = None) -> MatchResult | None:
        """The constants found against those at the beginning, on other openings; None if equal."""
        found, first = self.standing.values, options_at(self.constants, self.standing.first)
        if found == first:
            return None
        out = self.options.match.out
        plan = replace(
            self.options.match,
            games=self.options.check_games,
            seed=self.options.match.seed + CHECK_SEED,
            out=out and out / f"{CHECK}-{self._spsa.steps}",
        )
        return play_match([self.player(found), self.player(first)], self.game, plan, progress)

    def player(self, values: dict[str, float]) -> str:
        """The player with these constants, as a text."""
        return add_settings(self.base, {k: value_text(v) for k, v in values.items()})

    def _add(self, difference: float) -> None:
        self._spsa.tell(difference)
        out = self.options.match.out
        if out is not None:
            with (out / DIARY).open("a") as file:
                file.write(json.dumps({"difference": difference}) + "\n")

    def _open(self, out: Path) -> None:
        """Goes on with what the directory has, if it was begun in the same way."""
        match = self.options.match
        agreed = {
            "base": self.base,
            "game": self.game,
            "constants": [asdict(c) for c in self.constants],
            "begin": [float(x) for x in self._spsa.path[0]],
            "pairs": self.options.pairs,
            "openings": match.openings,
            "seed": match.seed,
            "adjudication": asdict(match.adjudication),
        }
        out.mkdir(parents=True, exist_ok=True)
        file = out / AGREED
        if not file.exists():
            if any(out.iterdir()):
                raise UserError(f"'{out}' has other files in it; name a new directory")
            write_whole(file, json.dumps(agreed, indent=2).encode())
            return
        try:
            before = json.loads(file.read_bytes())
            lines = (out / DIARY).read_text().splitlines() if (out / DIARY).exists() else []
        except (OSError, ValueError):
            raise UserError(f"'{file}' cannot be read") from None
        if before != json.loads(json.dumps(agreed)):
            other = [
                key for key in agreed if before.get(key) != json.loads(json.dumps(agreed[key]))
            ]
            raise UserError(f"'{out}' was begun with other settings: {', '.join(other)}")
        for line in lines:
            try:
                self._spsa.tell(float(json.loads(line)["difference"]))
            except (ValueError, KeyError, TypeError):
                break  # the line that an interruption cut off
        whole = [json.dumps({"difference": d}) for d in self._told(lines)]
        write_whole(out / DIARY, "".join(f"{line}\n" for line in whole).encode())

    def _told(self, lines: list[str]) -> list[float]:
        """The comparisons that were taken from the diary."""
        return [float(json.loads(line)["difference"]) for line in lines[: self._spsa.steps]]
