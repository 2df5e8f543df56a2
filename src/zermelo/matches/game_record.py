"""What is kept of a finished game: a line of JSON, and for chess a PGN.

Nothing in a record depends on the clock, so that a match that was interrupted and went on has the
same records as one that was not. Times are kept apart.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zermelo.games.protocol import Outcome
from zermelo.matches.openings import Opening

RESULTS = {Outcome.FIRST_WINS: "1-0", Outcome.DRAW: "1/2-1/2", Outcome.SECOND_WINS: "0-1"}
POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}  # of the player who moved first


@dataclass(frozen=True)
class Failure:
    """Who could not go on, and how."""

    seat: int  # 0 moved first
    kind: str  # of a PlayerError
    detail: str = ""

    @property
    def text(self) -> str:
        """`crash: engine process died`."""
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


@dataclass(frozen=True)
class GameRecord:
    """One game. Lists have an entry for each action after the opening."""

    number: int  # from 0
    pair: int  # games of a pair share their opening
    players: tuple[int, int]  # who moved first and second, by their numbers in the match
    names: tuple[str, str]
    opening: Opening
    actions: tuple[str, ...]
    notes: tuple[str, ...]  # what the mover thought, for people
    result: str  # 1-0 if the one who moved first won
    reason: str  # "rules", an adjudication, or a failure's kind
    failure: Failure | None = None
    has_checksum: bool = field(default=True, compare=False)  # lines of older versions have none

    @property
    def points(self) -> float:
        """Of the player who moved first: 1, 0.5 or 0."""
        return POINTS[self.result]

    @property
    def plies(self) -> int:
        """All actions, the opening's too."""
        return len(self.opening.actions) + len(self.actions)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal games: the same players in the same seats, the same actions."""
        return (self.players, self.opening.position, *self.opening.actions, *self.actions)

    def to_json(self) -> str:
        """One line, with keys in a fixed order and a checksum of what stands before it."""
        failure = self.failure
        values = {
            "game": self.number,
            "pair": self.pair,
            "players": self.players,
            "first": self.names[0],
            "second": self.names[1],
            "result": self.result,
            "reason": self.reason,
            "failure": failure and [failure.seat, failure.kind, failure.detail],
            "plies": self.plies,
            "opening": self.opening.to_dict(),
            "actions": self.actions,
            "notes": self.notes,
        }
        line = json.dumps(values, separators=(",", ":"))
        return sealed(line) if self.has_checksum else line

    @classmethod
    def from_json(cls, line: str | bytes) -> GameRecord:
        """Reads a line again; ValueError, KeyError or TypeError if it is none."""
        data = line.encode() if isinstance(line, str) else line
        body = unsealed(data)
        values = json.loads(body)
        if values["result"] not in POINTS:
            raise ValueError(f"{values['result']!r} is no result")
        first, second = values["players"]
        failure = values["failure"]
        return cls(
            number=int(values["game"]),
            pair=int(values["pair"]),
            players=(int(first), int(second)),
            names=(values["first"], values["second"]),
            opening=Opening.from_dict(values["opening"]),
            actions=tuple(values["actions"]),
            notes=tuple(values["notes"]),
            result=values["result"],
            reason=values["reason"],
            failure=Failure(*failure) if failure else None,
            has_checksum=body != data,
        )


SEAL = b',"crc":"'  # the last key of a line


def sealed(line: str) -> str:
    """An object in JSON with the CRC-32 of its text as its last value."""
    return f'{line[:-1]}{SEAL.decode()}{zlib.crc32(line.encode()):08x}"}}'


def unsealed(line: bytes) -> bytes:
    """The object without it; ValueError if it is another's. Older lines have none."""
    body, seal, crc = line.rpartition(SEAL)
    if not seal:
        return line
    if crc != b'%08x"}' % zlib.crc32(body + b"}"):
        raise ValueError("the line is not as it was written")
    return body + b"}"


@dataclass(frozen=True)
class Timing:
    """What a game cost each seat; for speed, never for results."""

    number: int
    seconds: tuple[float, float]
    moves: tuple[int, int]
    simulations: tuple[int, int]

    def to_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "game": self.number,
                "seconds": [round(s, 6) for s in self.seconds],
                "moves": self.moves,
                "simulations": self.simulations,
            }
        )

    @classmethod
    def from_json(cls, line: str | bytes) -> Timing:
        """Reads a line again."""
        values = json.loads(line)
        pairs = (tuple(values[key]) for key in ("seconds", "moves", "simulations"))
        seconds, moves, simulations = pairs
        return cls(int(values["game"]), seconds, moves, simulations)


def duplicates(records: Iterable[GameRecord]) -> int:
    """How many games are the same as an earlier one."""
    keys = [record.key for record in records]
    return len(keys) - len(set(keys))


def failures(records: Iterable[GameRecord], names: Iterable[str]) -> dict[str, dict[str, int]]:
    """How often each player failed, and how."""
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    for record in records:
        if record.failure is not None:
            found[record.names[record.failure.seat]][record.failure.kind] += 1
    return {name: dict(sorted(kinds.items())) for name, kinds in found.items()}


def whole_pairs(records: Iterable[GameRecord]) -> list[tuple[GameRecord, GameRecord]]:
    """The pairs of which both games are there."""
    pairs: dict[int, list[GameRecord]] = {}
    for record in records:
        pairs.setdefault(record.pair, []).append(record)
    return [(games[0], games[1]) for games in pairs.values() if len(games) == 2]


def equal_pairs(records: Iterable[GameRecord]) -> int:
    """How many pairs have the same moves in both games, whoever made them."""
    return sum(one.actions == swapped.actions for one, swapped in whole_pairs(records))


def pgn_text(record: GameRecord, event: str, chess960: bool = False) -> str:
    """A chess game as PGN, with what the players thought as comments."""
    import chess
    import chess.pgn

    start = chess.Board(record.opening.position or chess.STARTING_FEN, chess960=chess960)
    game = chess.pgn.Game()
    game.setup(start)
    names = dict(zip(("White", "Black"), record.names, strict=True))
    headers = {"Event": event, "Site": "?", "Date": "????.??.??", "Round": str(record.number + 1)}
    for key, value in (headers | names | {"Result": record.result}).items():
        game.headers[key] = value
    game.headers["Termination"] = record.reason
    node: Any = game
    board = start
    for text in record.opening.actions:
        node = node.add_variation(board.push_uci(text))
    for text, note in zip(record.actions, record.notes, strict=True):
        node = node.add_variation(board.push_uci(text), comment=note)
    if record.failure is not None:
        detail = f" ({record.failure.detail})" if record.failure.detail else ""
        said = f"{record.names[record.failure.seat]}: {record.failure.kind}{detail}"
        node.comment = f"{node.comment} {said}".strip()
    exporter = chess.pgn.StringExporter(columns=100)
    return str(game.accept(exporter)) + "\n\n"
