"""A match's directory: what was agreed, and every finished game, safe against a kill at any point.

match.json    game, players, seed, openings and so on; a match goes on only with the same
games.jsonl   a line per game as it ends, written through to the disk; in order when all is done
timing.jsonl  what the games cost
games.pgn     the same games, for chess
result.json   the figures
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from zermelo.errors import UserError
from zermelo.files import read_plain, write_whole
from zermelo.games.protocol import Game
from zermelo.games.registry import kind_of
from zermelo.matches.game_record import GameRecord, Timing, pgn_text
from zermelo.processes import file_lock

MATCH_FILE = "match.json"
T = TypeVar("T")


class MatchStore:
    """Owned by one process at a time; use it in a `with`."""

    def __init__(self, directory: Path, agreed: dict[str, Any]) -> None:
        """Refuses a directory in which another match was played."""
        self.directory = directory
        self.records: dict[int, GameRecord] = {}  # finished games by number
        self.timings: dict[int, Timing] = {}
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = (directory / "lock").open("w")
        try:
            self._begin(agreed)
        except BaseException:
            self._lock.close()
            raise

    def _begin(self, agreed: dict[str, Any]) -> None:
        try:
            file_lock.take(self._lock.fileno())
        except OSError:
            raise UserError(f"another process is playing the match in '{self.directory}'") from None
        self._agree(agreed)
        games, timing = self.directory / "games.jsonl", self.directory / "timing.jsonl"
        for record in read_lines(games, GameRecord.from_json):
            self.records.setdefault(record.number, record)
        for cost in read_lines(timing, Timing.from_json):
            self.timings[cost.number] = cost
        self._games = games.open("ab")
        self._timing = timing.open("ab")

    def _agree(self, agreed: dict[str, Any]) -> None:
        path = self.directory / MATCH_FILE
        # As it looks after a journey through JSON.
        wanted = json.loads(json.dumps(agreed))
        if not path.exists():
            write_whole(path, _json(wanted))
            return
        try:
            found = json.loads(read_plain(path))
        except (ValueError, RecursionError, OSError):
            raise UserError(f"{path}: it is damaged") from None
        other = [
            key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key]
        ]
        if other:
            raise UserError(
                f"'{self.directory}' holds another match (different: {', '.join(other)}): "
                "choose another directory"
            )

    def require_all_wanted(self, wanted: Collection[int], pairings: int) -> None:
        """Refuses a match without some of the finished games: `finish` would drop them.

        A tournament has several pairings, which play in turn, a pair of games each.
        """
        beyond = self.records.keys() - set(wanted)
        if beyond:
            rounds = max(beyond) // (2 * pairings) + 1
            least = f"{2 * rounds} of each pairing" if pairings > 1 else f"{max(beyond) + 1} in all"
            raise UserError(
                f"'{self.directory}' holds {len(self.records)} finished games, some of them beyond "
                f"the {len(wanted)} asked for: ask for at least {least}, or choose another "
                "directory"
            )

    def add(self, record: GameRecord, timing: Timing) -> None:
        """Keeps a finished game; it is on the disk when this returns."""
        self.records[record.number] = record
        self.timings[record.number] = timing
        self._timing.write(timing.to_json().encode() + b"\n")
        self._timing.flush()
        self._games.write(record.to_json().encode() + b"\n")
        self._games.flush()
        os.fsync(self._games.fileno())

    def finish(self, records: Iterable[GameRecord], game: Game, result: dict[str, Any]) -> None:
        """Puts the games in order; only these stay."""
        ordered = sorted(records, key=lambda record: record.number)
        lines = (record.to_json().encode() + b"\n" for record in ordered)
        write_whole(self.directory / "games.jsonl", *lines)
        if kind_of(game) == "chess":
            event = f"match {self.directory.name}"
            chess960 = "chess960=on" in game.name
            games = (pgn_text(record, event, chess960).encode() for record in ordered)
            write_whole(self.directory / "games.pgn", *games)
        write_whole(self.directory / "result.json", _json(result))

    def __enter__(self) -> MatchStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._games.close()
        self._timing.close()
        self._lock.close()


def knows_searches(directory: Path | None) -> bool:
    """Whether a match is played by the networks' own search options, and says by which.

    One that an older version began is not: its networks have the defaults to the end.
    """
    try:
        found = json.loads(read_plain(directory / MATCH_FILE)) if directory else {"search": []}
    except (OSError, ValueError, RecursionError):  # a new match, or a damaged one, which is refused
        return True
    return not isinstance(found, dict) or "search" in found


def read_lines(path: Path, read: Callable[[bytes], T], mend: bool = True) -> list[T]:
    """The whole lines of a file; what a kill left of the last one is cut off.

    Without `mend` the file stays as it is: another process may be writing it.
    """
    if not path.exists():
        return []
    try:
        data = read_plain(path)
    except OSError as error:
        raise UserError(f"'{path}' cannot be read: {error.strerror}") from None
    whole = data.rfind(b"\n") + 1
    if mend and whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
    found = []
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            found.append(read(line))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{path} line {number}: it is damaged") from None
    return found


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, indent=2).encode() + b"\n"
