"""Small files that unpack to ten gigabytes, or ask for them: refused within seconds and without
much memory, each in a process of its own.
"""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import small_network

from zermelo.network import save_network
from zermelo.network.wire import bytes_field, number_field

Record = Callable[[str, object], None]
SECONDS, MIB = 2.0, 200.0

READER = """
import pathlib, re, sys, time
from zermelo.errors import UserError
from zermelo.games import game
from zermelo.matches.openings import make_openings
from zermelo.network import load_network
path = sys.argv[1]
chess = game("chess")
def held():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) / 1024  # the most so far
before, began = held(), time.process_time()
try:
    make_openings(chess, path, 1, 0) if ".epd" in path else load_network(path)
except UserError as error:
    print(time.process_time() - began, held() - before, error, sep="\\n")
"""


def ten_gigabytes() -> bytes:
    """Of zeros, in members that each hold 64 MiB."""
    return gzip.compress(bytes(64 << 20), 9) * 160


def archive(path: Path, name: str) -> None:
    """A gigabyte of zeros in a megabyte."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open(name, "w", force_zip64=True) as inner,
    ):
        for _ in range(16):
            inner.write(bytes(64 << 20))


def many_tensors(path: Path) -> None:
    """A header that names a hundred thousand."""
    names = {
        f"tensor{number}.weight": {
            "dtype": "F32",
            "shape": [1],
            "data_offsets": [4 * number, 4 * number + 4],
        }
        for number in range(100_000)
    }
    header = json.dumps(names).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(400_000))


def external_data(path: Path) -> None:
    """A network whose first array is said to be in another file."""
    save_network(small_network(), path)
    where = bytes_field(1, "location") + bytes_field(2, "/etc/passwd")
    tensor = number_field(1, 3) + number_field(2, 1) + bytes_field(8, "value_out.bias")
    tensor += bytes_field(13, where) + number_field(14, 1)
    graph = bytes_field(7, bytes_field(5, tensor))
    path.write_bytes(path.read_bytes() + graph)


BOMBS: dict[str, tuple[Callable[[Path], object], str]] = {
    "net.pb.gz": (lambda path: path.write_bytes(ten_gigabytes()), "unpacks to more than"),
    "book.epd.gz": (lambda path: path.write_bytes(ten_gigabytes()), "unpacks to more than"),
    "book.epd.zip": (lambda path: archive(path, "book.epd"), "unpacks to more than"),
    "net.safetensors": (many_tensors, "not a safetensors file"),
    "net.onnx": (external_data, "value_out.bias"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_at_once(tmp_path: Path, name: str, record_property: Record) -> None:
    path = tmp_path / name
    make, why = BOMBS[name]
    make(path)
    command = [sys.executable, "-c", READER, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    seconds, grown, reason = done.stdout.splitlines()
    assert float(seconds) <= SECONDS
    assert float(grown) <= MIB
    assert name in reason and why in reason
    record_property("slowest (s)", f"{float(seconds):.2f}")
    record_property("most memory (MiB)", f"{float(grown):.0f}")
