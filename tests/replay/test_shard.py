"""Shards come back as they were written, whole or not at all, and no damage goes unseen."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_samples import put_shard, random_samples

import zermelo
from zermelo.errors import UserError
from zermelo.replay import (
    ReplayStore,
    Samples,
    Schema,
    ShardError,
    ShardHeader,
    read_header,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay import samples as samples_module
from zermelo.replay.header import ALL_COLUMNS, FORMAT
from zermelo.replay.samples import COLUMNS
from zermelo.replay.shard import MAGIC, PREFIX

Record = Callable[[str, object], None]

GAME = zermelo.game("tictactoe")
ROOT = Path(__file__).parents[2]


def assert_same(one: Samples, other: Samples) -> None:
    for name, column in one.columns().items():
        assert np.array_equal(column, getattr(other, name)), name


def resealed(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another header and right checksums, as somebody with intent would write it."""
    magic, version, length, _, zero = PREFIX.unpack_from(data)
    header = json.loads(data[PREFIX.size : PREFIX.size + length])
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    prefix = PREFIX.pack(magic, version, len(text), zlib.crc32(text), zero)
    whole = prefix + text + data[PREFIX.size + length : -32]
    return whole + hashlib.sha256(whole).digest()


@pytest.mark.technique("T2")
@pytest.mark.parametrize("name", ["tictactoe", "chess", "hex", "examples/my_game.py"])
def test_a_shard_comes_back_as_it_was_written(name: str, tmp_path: Path) -> None:
    game = zermelo.game(name)
    samples = random_samples(game, games=2, iteration=7, max_plies=40)
    header = ShardHeader.of(
        game, samples, worker=3, number=12, statistics={"games": 2, "rate": np.float64(1.5)}
    )
    path = shard_path(tmp_path, 7, 3, 12)
    assert path.name == "it000007-w03-000012.zshard"
    assert write_shard(path, samples, header) == path.stat().st_size
    shard = read_shard(path, game)
    assert_same(shard.samples, samples)
    assert shard.header == header == read_header(path)
    assert (shard.header.games, shard.header.iterations) == (2, (7, 7))
    assert shard.header.statistics == {"games": 2, "rate": 1.5}
    assert shard.header.zermelo == zermelo.__version__


def test_columns_begin_at_multiples_of_eight(tmp_path: Path) -> None:
    path = put_shard(tmp_path, random_samples("tictactoe", games=1), "tictactoe")
    _, _, length, _, _ = PREFIX.unpack_from(path.read_bytes())
    assert (PREFIX.size + length) % 8 == 0
    assert (path.stat().st_size - 32) % 8 == 0


@pytest.mark.technique("T1")
def test_a_chess_sample_takes_less_than_300_bytes(tmp_path: Path) -> None:
    samples = random_samples("chess", games=10)
    path = put_shard(tmp_path, samples, "chess")
    assert path.stat().st_size / len(samples) <= 300


@pytest.mark.technique("T2")
def test_a_thousand_turned_bits_are_all_detected(tmp_path: Path, record_property: Record) -> None:
    path = put_shard(tmp_path, random_samples("tictactoe", games=2), "tictactoe")
    data, header, schema = path.read_bytes(), read_header(path), Schema.of(GAME)
    rng = random.Random(1)
    for bit in rng.sample(range(8 * len(data)), 1000):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(ShardError, match="is no sound shard: it"):
            read_shard(path, schema)
        try:
            assert read_header(path) == header
        except ShardError:
            assert bit // 8 < len(data) - 32
    path.write_bytes(data)
    read_shard(path, GAME)
    record_property("tried", 1000)


@pytest.mark.technique("T2")
def test_a_thousand_truncations_are_all_detected(tmp_path: Path, record_property: Record) -> None:
    path = put_shard(tmp_path, random_samples("tictactoe", games=2), "tictactoe")
    data = path.read_bytes()
    rng = random.Random(2)
    for size in [0, 1, 23, 24, 25, 56, *rng.sample(range(57, len(data)), 994)]:
        path.write_bytes(data[:size])
        for read in (read_shard, read_header):
            with pytest.raises(ShardError, match="is no sound shard: it"):
                read(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(ShardError, match="but its header speaks of"):
        read_shard(path)
    record_property("tried", 1001)


LIES: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (lambda header: header.update(samples=1 << 39), "lists other columns"),
    (lambda header: header.update(samples=True), "no sensible number of samples"),
    (lambda header: header.update(entries=-1), "no sensible number of entries"),
    (lambda header: header.update(iteration="3"), "no sensible number of iteration"),
    (lambda header: header.update(games=100), "speaks of 100 games"),
    (lambda header: header.update(iterations=[1, 0]), "iterations 1 to 0"),
    (lambda header: header.update(iterations=[1]), "no first and last iteration"),
    (lambda header: header.update(iteration=5, iterations=[5, 5]), "row 0: iterations is 0"),
    (lambda header: header.update(columns=[]), "lists other columns"),
    (lambda header: header.update(layout=None), "does not describe"),
    (lambda header: header["layout"].update(rows=10**9), "does not describe"),
    (lambda header: header["layout"].update(binary_planes=10**6), "lists other columns"),
    (lambda header: header.update(num_actions=3), "is not below 3"),
    (lambda header: header.update(statistics=[]), "no statistics"),
    (lambda header: header.update(statistics={"rate": float("nan")}), "is not JSON"),
    (lambda header: header.update(game="chess"), "holds samples of chess, not of tictactoe"),
    (lambda header: header["layout"].update(rows=1, columns=9), "another form of tictactoe"),
]


@pytest.mark.parametrize(("lie", "message"), LIES, ids=[message for _, message in LIES])
def test_a_header_that_lies_under_a_right_checksum_is_refused(
    lie: Callable[[dict[str, Any]], None], message: str, tmp_path: Path
) -> None:
    path = put_shard(tmp_path, random_samples("tictactoe", games=2), "tictactoe")
    path.write_bytes(resealed(path.read_bytes(), lambda header: None))
    read_shard(path, GAME)
    path.write_bytes(resealed(path.read_bytes(), lie))
    with pytest.raises(ShardError, match=message):
        read_shard(path, None if "not below" in message else GAME)


def test_counts_beyond_the_file_allocate_nothing(tmp_path: Path) -> None:
    path = put_shard(tmp_path, random_samples("tictactoe", games=2), "tictactoe")

    def lie(header: dict[str, Any]) -> None:
        header["samples"] = 1 << 39
        for column in header["columns"]:
            if column[0] in COLUMNS and COLUMNS[column[0]].per == "samples":
                column[2][0] = 1 << 39

    path.write_bytes(resealed(path.read_bytes(), lie))
    with pytest.raises(ShardError, match=r"bytes, but its header speaks of \d{13,}"):
        read_shard(path, GAME)


def test_a_row_that_breaks_a_rule_is_neither_written_nor_read(tmp_path: Path) -> None:
    samples = random_samples("tictactoe", games=2)
    results = samples.results.copy()
    results[4] = 3
    broken = Samples(**(samples.columns() | {"results": results}))
    path = shard_path(tmp_path, 0, 0, 0)
    with pytest.raises(ShardError, match="row 4: results is 3"):
        write_shard(path, broken, ShardHeader.of(GAME, broken))
    assert list(tmp_path.iterdir()) == []
    path = put_shard(tmp_path, samples, "tictactoe")
    data = path.read_bytes().replace(samples.results.tobytes(), results.tobytes())
    path.write_bytes(data[:-32] + hashlib.sha256(data[:-32]).digest())
    with pytest.raises(ShardError, match="row 4: results is 3"):
        read_shard(path)


def test_other_files_are_no_shards(tmp_path: Path) -> None:
    path = tmp_path / "it000000-w00-000000.zshard"
    path.write_bytes(b"x" * 1000)
    with pytest.raises(ShardError, match="does not begin as a shard does"):
        read_shard(path)
    with pytest.raises(UserError, match="cannot be read: is a directory"):
        read_shard(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_shard(tmp_path / "none")
    shard = put_shard(tmp_path, random_samples("tictactoe", games=1), "tictactoe")
    data = bytearray(shard.read_bytes())
    data[8] = FORMAT + 1
    shard.write_bytes(data)
    with pytest.raises(
        ShardError, match=f"has version {FORMAT + 1} of the format, not one from 1 to {FORMAT}"
    ):
        read_header(shard)


def test_a_shard_needs_samples() -> None:
    samples = random_samples("tictactoe", games=1)
    with pytest.raises(ShardError, match="at least one sample"):
        ShardHeader.of(GAME, samples.take(np.arange(0)))


@pytest.mark.parametrize(
    ("code", "reason"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "there is no permission")],
)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_one_sentence_and_no_file(
    code: int, reason: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(UserError, match=rf"'.*zshard' cannot be written: {reason}$"):
        put_shard(tmp_path, random_samples("tictactoe", games=1), "tictactoe")
    assert list(tmp_path.iterdir()) == []


WRITER = """
import os, resource, signal, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from make_samples import put_shard, random_samples
samples = random_samples("tictactoe", games=20)
if sys.argv[3] == "kill":
    os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    put_shard(Path(sys.argv[2]), samples, "tictactoe")
except ValueError as error:
    print(error)
"""


def run_writer(directory: Path, how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WRITER, str(Path(__file__).parent), str(directory), how]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.technique("T2")
def test_a_writer_killed_before_the_rename_leaves_no_shard(tmp_path: Path) -> None:
    assert run_writer(tmp_path, "kill").returncode == -signal.SIGKILL
    left = list(tmp_path.iterdir())
    assert [path.name[0] for path in left] == ["."]
    store = ReplayStore(tmp_path, GAME)
    assert store.shards() == []
    assert store.remove_temporary() == left
    assert list(tmp_path.iterdir()) == []


@pytest.mark.technique("T2")
def test_a_write_that_ends_halfway_leaves_nothing(tmp_path: Path) -> None:
    done = run_writer(tmp_path, "limit")
    assert done.returncode == 0, done.stderr
    assert "cannot be written: file too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_document_describes_the_columns_flags_and_header_as_they_are(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "formats" / "shard.md").read_text()
    shown = re.findall(r"^\| `(\w+)` \| `(\S+)` \| \[([NEWGA, ]+)\] \|", text, re.MULTILINE)
    lengths = {"samples": "N", "entries": "E", "records": "G", "moves": "A"}
    assert shown == [
        (name, one.dtype.replace("|", r"\|"), lengths[one.per] + ", W" * one.wide)
        for name, one in ALL_COLUMNS.items()
    ]
    flags = re.findall(r"^\| (\d+) \| ([A-Z]+) \|", text, re.MULTILINE)
    assert flags == [(str(getattr(samples_module, name)), name) for _, name in flags]
    assert sum(int(flag) for flag, _ in flags) == samples_module.FLAGS
    assert MAGIC.hex(" ").upper() in text
    header = read_header(put_shard(tmp_path, random_samples("tictactoe", 1), "tictactoe"))
    section = text.partition("## The header")[2].partition("## The columns")[0]
    keys = [
        key
        for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
        for key in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(keys) == sorted(header.to_dict())


def test_the_example_reads_a_shard_with_numpy_alone(tmp_path: Path) -> None:
    samples = random_samples("chess", games=1)
    path = put_shard(tmp_path, samples, "chess")
    script = ROOT / "examples" / "read_shard.py"
    text = script.read_text()
    assert len(text.splitlines()) <= 20
    assert "zermelo" not in text
    found: dict[str, Any] = {}
    argv, sys.argv = sys.argv, [str(script), str(path)]
    try:
        exec(compile(text, script, "exec"), found)
    finally:
        sys.argv = argv
    assert found["header"]["game"] == "chess"
    for name, column in samples.columns().items():
        assert np.array_equal(found["columns"][name], column), name
