"""Files of every kind, damaged at random: a value or one sentence, quickly.

A damaged file that once did harm belongs to the tests of what reads it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripts import load_script
from small_networks import small_weights

import zermelo
from zermelo.config import RunConfig, read_run_file
from zermelo.errors import REFUSALS
from zermelo.matches.game_record import GameRecord
from zermelo.matches.openings import make_openings
from zermelo.matches.store import read_lines
from zermelo.network import load_network, save_network
from zermelo.pretrain.files import labelled_file
from zermelo.replay import read_shard
from zermelo.suites.files import read_suite

Record = Callable[[str, object], None]
resident_mib = load_script("tools/resident.py").resident_mib
DATA = Path(__file__).parents[1] / "data"
OLD_RUN = DATA / "made_by_902049b" / "run"
CHESS: Any = zermelo.game("chess")
TICTACTOE: Any = zermelo.game("tictactoe")
SHARD = "it000000-w00-000000.zshard"
PGN = b"""[Event "x"]
[Result "1-0"]

1. e4 {good} e5 (1... c5 2. Nf3 (2. c3 d5) d6) 2. Nf3 $1 Nc6 3. Bb5 a6 1-0

[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
[SetUp "1"]

1. e4 Kd7 2. Kd2 *
"""
EPD = b'4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; id "one";\n4k3/8/8/8/8/8/4P3/4K3 b - - am Kd8;\n'
CSV = (
    b"PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n"
    b"a,6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1,h7h6 d1d8,1500,80,90,100,mate,x,\n"
)
LINE = GameRecord.from_json(
    json.dumps(
        {
            "game": 0, "pair": 0, "players": [0, 1], "first": "a", "second": "b", "result": "1-0",
            "reason": "rules", "failure": None, "plies": 1,
            "opening": {"position": None, "actions": []}, "actions": ["b2"], "notes": [""],
        }
    )
)  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, cut out, doubled or put in."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(5):
            case 0:
                made[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[place : place + chance.randint(1, 40)]
            case 2:
                made[place:place] = made[max(0, place - 30) : place] * chance.randint(1, 3)
            case 3:
                made[place:place] = chance.choice([b"(", b")", b'"', b"{", b"\x00", b"\n", b"\xff"])
            case _:
                made[place:place] = chance.choice([b"99999999999", b"-1", b"NaN", b"[[[[", b"]]"])
    return bytes(made)


def networks(kind: str, directory: Path) -> bytes:
    path = directory / f"whole.{kind}"
    save_network(small_weights("tictactoe"), path)
    return path.read_bytes()


KINDS: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "pgn book": ("a.pgn", PGN, lambda path: make_openings(CHESS, str(path), 2, 0)),
    "pgn games": ("a.pgn", PGN, lambda path: list(labelled_file(CHESS, path))),
    "epd suite": ("a.epd", EPD, read_suite),
    "epd book": ("a.epd", EPD, lambda path: make_openings(CHESS, str(path), 2, 0)),
    "csv": ("a.csv", CSV, read_suite),
    "run file": (
        "run.toml",
        (OLD_RUN / "run.toml").read_bytes(),
        lambda path: RunConfig.from_tables(read_run_file(path)[1]),
    ),
    "shard": (
        SHARD,
        (OLD_RUN / "replay" / SHARD).read_bytes(),
        lambda path: read_shard(path, TICTACTOE),
    ),
    "games": (
        "games.jsonl",
        LINE.to_json().encode() + b"\n",
        lambda path: read_lines(path, GameRecord.from_json),
    ),
    "safetensors": ("a.safetensors", b"", load_network),
    "onnx": ("a.onnx", b"", load_network),
}


def try_kind(directory: Path, kind: str, rounds: int) -> float:
    """The longest that any of them took."""
    name, whole, read = KINDS[kind]
    whole = whole or networks(kind, directory)
    path = directory / name
    path.write_bytes(whole)
    read(path)  # as it is, it can be read
    chance = random.Random(kind)
    longest = 0.0
    for _ in range(rounds):
        path.write_bytes(mutated(whole, chance))
        began = time.monotonic()
        try:
            read(path)
        except REFUSALS as error:
            assert str(error)  # noqa: PT017
        longest = max(longest, time.monotonic() - began)
    return longest


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_refused(
    tmp_path: Path, kind: str, record_property: Record
) -> None:
    try_kind(tmp_path, kind, 60)
    record_property("tried", 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_damaged_files_are_read_or_refused(
    tmp_path: Path, kind: str, record_property: Record
) -> None:
    longest = try_kind(tmp_path, kind, 1000)
    record_property("tried", 1000)
    record_property(f"longest {kind} (s)", f"{longest:.2f}")


DEEP = {
    "brackets": "( " * 10_000,
    "variations": "1. e4 " + "( 1. d4 " * 10_000,
    "braces": "{" * 100_000,
    "long line": "1. e4 e5 " * 100_000,
    "ten megabytes": "1. e4 e5 " * 1_200_000,
    "ten megabytes of nothing": "x" * 10_000_000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_and_long_games_are_read_or_refused(
    tmp_path: Path, kind: str, record_property: Record
) -> None:
    path = tmp_path / "deep.pgn"
    path.write_text(DEEP[kind])
    for read in (lambda: make_openings(CHESS, str(path), 1, 0), lambda: labelled_file(CHESS, path)):
        began, before = time.process_time(), resident_mib()
        try:
            list(read())
        except REFUSALS as error:
            assert str(error)  # noqa: PT017
        taken = time.process_time() - began
        assert taken < 1.0
        record_property("deep or long PGN: slowest (s)", f"{taken:.2f}")
        record_property("deep or long PGN: memory (MiB)", f"{resident_mib() - before:.0f}")
