"""Opens a network in lc0's format, packed by gzip or not, and says what is in it.

The file is untrusted: it is unpacked up to a bound, walked with `wire`, and every size is checked
before it is used. What of it becomes which layer is told in the modules beside this one.
"""

from __future__ import annotations

import mmap
import zlib
from pathlib import Path
from typing import BinaryIO

from zermelo.errors import UserError
from zermelo.network.lc0.formats import read_format
from zermelo.network.lc0.heads import DEFAULT_POLICY, DEFAULT_VALUE
from zermelo.network.lc0.network import NetworkReader
from zermelo.network.weights import Weights
from zermelo.network.wire import Message, WireError

MAGIC = 0x1C0
GZIP = b"\x1f\x8b"
LC0_HEAD = b"\x0d" + MAGIC.to_bytes(4, "little")  # of a file that is not packed
# 16-bit weights hardly shrink in gzip, so a file that grows by more than this is no network.
MAX_GROWTH = 8
MIN_UNPACKED, MAX_UNPACKED = 32 << 20, 1 << 30
CHUNK = 1 << 20  # bytes of the file that are unpacked at a time


def read_lc0(path: str | Path, policy: str = DEFAULT_POLICY, value: str = DEFAULT_VALUE) -> Weights:
    """The network of the file with the heads of these names, for chess as lc0 encodes it."""
    name = Path(path).name
    try:
        net = Message(_content(Path(path)))
        if net.integer(1) != MAGIC:
            raise UserError(f"{name}: it is not an lc0 network (its first number is wrong)")
        if 11 in net:
            raise UserError(f"{name}: lc0 networks that hold an ONNX model are not supported")
        weights = net.message(10)
        return NetworkReader(weights, read_format(net, weights, name), name).network(policy, value)
    except WireError as error:
        raise UserError(f"{name}: it is damaged or not an lc0 network ({error})") from None


def _content(path: Path) -> memoryview:
    """The bytes of the message; those of a plain file are read where they are looked at only."""
    with path.open("rb") as file:
        if file.read(2) == GZIP:
            file.seek(0)
            return memoryview(unpack_gzip(file, path.name))
        if path.stat().st_size > MAX_UNPACKED:
            raise UserError(f"{path.name}: it has more than {MAX_UNPACKED >> 20} MiB")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def unpack_gzip(file: BinaryIO, name: str) -> bytearray:
    """The content, or a UserError for a damaged file or one that grows without bound."""
    unpacker = zlib.decompressobj(wbits=31)
    data = bytearray()
    read = 0
    while not unpacker.eof:
        packed = file.read(CHUNK)
        if not packed:
            raise UserError(f"{name}: it ends too early")
        read += len(packed)
        bound = min(MAX_UNPACKED, max(MIN_UNPACKED, MAX_GROWTH * read))
        try:
            data += unpacker.decompress(packed, bound + 1 - len(data))
        except zlib.error as error:
            raise UserError(f"{name}: it is damaged ({str(error).split(': ')[-1]})") from None
        if len(data) > bound:
            raise UserError(
                f"{name}: it unpacks to more than {bound >> 20} MiB, so it is no network"
            )
    if unpacker.unused_data or file.read(1):
        raise UserError(f"{name}: it goes on after its end")
    return data
