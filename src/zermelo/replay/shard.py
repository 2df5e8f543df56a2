"""Shards: files of about 2000 samples each. docs/formats/shard.md has the format byte by byte.

A shard is written aside, synchronised and renamed, so that a reader never sees half of one. Reading
trusts nothing: sizes are held against the file before anything is allocated, and a checksum covers
every byte.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from zermelo.errors import UserError
from zermelo.files import open_plain, write_whole
from zermelo.games.protocol import Game
from zermelo.replay.columns import ShardError, typed
from zermelo.replay.header import FORMAT, ShardHeader
from zermelo.replay.possible import check_games
from zermelo.replay.records import GameRecords
from zermelo.replay.rules import check_records, check_rows
from zermelo.replay.samples import Samples
from zermelo.replay.schema import Schema

MAGIC = b"\x89ZSHARD\n"
PREFIX = struct.Struct("<8sIIII")  # magic, version, header bytes, CRC-32 of the header, zero
DIGEST = 32  # bytes of the SHA-256 at the end
ALIGN = 8
MAX_HEADER = 16 << 20
SUFFIX = ".zshard"
_NAME = re.compile(r"it(\d{6,9})-w(\d{2,4})-(\d{6,9})\.zshard")


@dataclass(frozen=True)
class Shard:
    """A shard in memory."""

    samples: Samples
    header: ShardHeader
    records: GameRecords  # none in version 1 of the format


def shard_path(directory: str | os.PathLike[str], iteration: int, worker: int, number: int) -> Path:
    """Where a shard lies; names sort by iteration."""
    return Path(directory) / f"it{iteration:06d}-w{worker:02d}-{number:06d}{SUFFIX}"


def parse_name(name: str) -> tuple[int, int, int] | None:
    """(iteration, worker, number) from a shard's name."""
    found = _NAME.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


# --- writing --------------------------------------------------------------------------------------


def write_shard(
    path: str | os.PathLike[str],
    samples: Samples,
    header: ShardHeader,
    records: GameRecords | None = None,
) -> int:
    """Writes it whole or not at all, and returns its size in bytes. UserError with the reason.

    `records` are of the games that the samples are numbered by. The format is the header's version.
    """
    path = Path(path)
    records = GameRecords.none() if records is None else records
    for name, length in (samples.lengths | records.lengths).items():
        if getattr(header, name) != length:
            raise ShardError(f"the header speaks of other {name}")
    check_rows(samples, header.schema, header.iterations)
    check_records(records, samples, header.schema)
    blocks = _blocks(samples.columns() | records.columns(), header)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, *blocks)
    except OSError as error:
        raise UserError(f"'{path}' cannot be written: {reason_of(error)}") from error
    return sum(len(block) for block in blocks)


def reason_of(error: OSError) -> str:
    """Why a file cannot be had, for the end of a sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "there is no permission"
    return (error.strerror or str(error)).lower()


def _blocks(columns: dict[str, Any], header: ShardHeader) -> list[bytes]:
    """The file in pieces."""
    found = header.to_dict()
    text = json.dumps(found, allow_nan=False, separators=(",", ":"), default=_plain).encode()
    text += b" " * (-len(text) % ALIGN)
    if len(text) > MAX_HEADER:
        raise ShardError(f"its header has {len(text)} bytes, more than {MAX_HEADER}")
    blocks = [PREFIX.pack(MAGIC, header.version, len(text), zlib.crc32(text), 0), text]
    for name, _, _ in header.columns:
        data = columns[name].tobytes()
        blocks.append(data + bytes(-len(data) % ALIGN))
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return [*blocks, digest.digest()]


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as JSON has them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not for a header")


# --- reading --------------------------------------------------------------------------------------


def read_header(path: str | os.PathLike[str]) -> ShardHeader:
    """The header alone, held against the size of the file. ShardError with the reason."""
    with _reading(path) as file:
        return _read_header(file, os.fstat(file.fileno()).st_size)[0]


def read_shard(path: str | os.PathLike[str], game: Game | Schema | None = None) -> Shard:
    """The whole shard, every byte and row checked. ShardError with the reason.

    Given a game, samples of any other are refused, and so are games that its rules do not allow;
    a schema alone knows no rules. The columns are views of the file's bytes.
    """
    with _reading(path) as file:
        size = os.fstat(file.fileno()).st_size
        header, offset = _read_header(file, size)
        if game is not None:
            wanted = game if isinstance(game, Schema) else Schema.of(game)
            if reason := other_game(header.schema, wanted):
                raise ShardError(reason)
        file.seek(0)
        data = file.read(size + 1)
        if len(data) != size:
            raise ShardError("its size changed while it was read")
        if hashlib.sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:
            raise ShardError("its checksum is wrong")
        columns: dict[str, Any] = {}
        for name, dtype, shape in header.columns:
            column = np.frombuffer(data, dtype, int(np.prod(shape)), offset)
            columns[name] = column.reshape(shape)
            offset += column.nbytes + -column.nbytes % ALIGN
        samples = Samples(**typed(Samples, columns, vars(header)))
        records = GameRecords.from_columns(columns)
        check_rows(samples, header.schema, header.iterations)
        check_records(records, samples, header.schema)
        if len(np.unique(samples.games)) != header.games:
            raise ShardError(f"its header speaks of {header.games} games, its rows do not")
        if game is not None and not isinstance(game, Schema):
            check_games(samples, records, game)
    return Shard(samples, header, records)


def other_game(found: Schema, wanted: Schema) -> str | None:
    """Why samples are not those of a game; None if they are."""
    if found.game != wanted.game:
        return f"it holds samples of {found.game}, not of {wanted.game}"
    if found != wanted:
        return f"it was written for another form of {wanted.game}"
    return None


@contextlib.contextmanager
def _reading(path: str | os.PathLike[str]) -> Any:
    """The open file; what goes wrong names it. A missing file stays FileNotFoundError."""
    try:
        with open_plain(path, buffering=0) as file:
            yield file
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(f"'{path}' cannot be read: {reason_of(error)}") from error
    except ShardError as error:
        raise ShardError(f"'{path}' is no sound shard: {error}") from error


def _read_header(file: BinaryIO, size: int) -> tuple[ShardHeader, int]:
    """The header and where the columns begin."""
    if size < PREFIX.size + DIGEST:
        raise ShardError(f"it has only {size} bytes")
    magic, version, length, crc, zero = PREFIX.unpack(file.read(PREFIX.size))
    if magic != MAGIC:
        raise ShardError("it does not begin as a shard does")
    if not 1 <= version <= FORMAT:
        raise ShardError(f"it has version {version} of the format, not one from 1 to {FORMAT}")
    if zero or length % ALIGN or length > min(MAX_HEADER, size - PREFIX.size - DIGEST):
        raise ShardError("its first bytes are damaged")
    text = file.read(length)
    if len(text) != length or zlib.crc32(text) != crc:
        raise ShardError("its header is damaged")
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ShardError("its header is not JSON") from None
    header = ShardHeader.from_dict(found, version)
    offset = PREFIX.size + length
    needed = offset + DIGEST
    for _, dtype, shape in header.columns:
        bytes_ = np.dtype(dtype).itemsize
        for extent in shape:
            bytes_ *= extent
        needed += bytes_ + -bytes_ % ALIGN
    if needed != size:
        raise ShardError(f"it has {size} bytes, but its header speaks of {needed}")
    return header, offset


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)  # NaN and infinities are not JSON
