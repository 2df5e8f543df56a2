"""Fuzzes one parser of Python by atheris; `tools/fuzz.py` runs it.

Usage: python tools/fuzz_python.py TARGET [options of libFuzzer] [folders]

What is tried is what tests/faults tries with random damage: a value, or one sentence.
"""

from __future__ import annotations

import gc
import gzip
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FunctionType

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
FILES = {
    "pgn": ("pgn book", "pgn games"), "epd": ("epd suite", "epd book"), "csv": ("csv",),
    "run_file": ("run file",), "games": ("games",), "shard": ("shard",),
    "safetensors": ("safetensors",), "onnx": ("onnx",),
}  # fmt: skip


def of_file(kinds: tuple[str, ...], place: Path) -> tuple[Callable[[bytes], None], bytes]:
    """Writes the bytes into a file of that kind and reads it; with what a valid one holds."""
    from test_fuzz_files import KINDS, networks

    from zermelo.errors import REFUSALS

    name, whole, _ = KINDS[kinds[0]]
    path = place / name
    readers = [KINDS[kind][2] for kind in kinds]

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        for read in readers:
            try:
                read(path)
            except REFUSALS as error:
                assert str(error)  # noqa: PT017

    return attempt, whole or networks(kinds[0], place)


def of_lc0(place: Path) -> tuple[Callable[[bytes], None], bytes]:
    """What lc0 packs into its files; the packing is gzip's business."""
    from lc0_files import net_bytes

    from zermelo.errors import UserError
    from zermelo.network import load_network

    path = place / "a.pb.gz"

    def attempt(data: bytes) -> None:
        path.write_bytes(gzip.compress(data, 1))
        try:
            load_network(path)
        except UserError as error:
            assert str(error)  # noqa: PT017

    return attempt, net_bytes()


def of_texts() -> tuple[Callable[[bytes], None], bytes]:
    """Positions, moves, commands, names and frames."""
    from test_fuzz_texts import try_text

    def attempt(data: bytes) -> None:
        try_text(data.decode("utf-8", "surrogateescape"))

    return attempt, b"position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1 moves a1a2"


def of_requests() -> tuple[Callable[[bytes], None], bytes]:
    """Requests for analysis, and messages of the page's socket."""
    from test_fuzz_texts import GAMES, quietly

    from zermelo.analysis.request import read_line, read_request
    from zermelo.web.connection import read_request as read_frame

    def attempt(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        quietly(lambda: read_frame(text))
        quietly(lambda: read_line(text))
        try:
            request = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(request, dict):
            for game in (GAMES[0], GAMES[-1]):
                quietly(partial(read_request, request, game, 10))

    return attempt, b'{"id": "1", "position": "startpos", "moves": ["e2e4"], "simulations": 5}'


def attempts(target: str, place: Path) -> tuple[Callable[[bytes], None], bytes]:
    """What tries bytes, and bytes that are fine."""
    if target in FILES:
        return of_file(FILES[target], place)
    if target == "lc0":
        return of_lc0(place)
    return of_texts() if target == "texts" else of_requests()


def functions() -> list[FunctionType]:
    """All of ours and of python-chess. Atheris' own import hook does not see editable packages."""
    ours = ("zermelo", "chess")
    return [
        one
        for one in gc.get_objects()
        if isinstance(one, FunctionType) and str(one.__module__).partition(".")[0] in ours
    ]


def main() -> None:
    """Until the time is over or something is found."""
    import atheris

    target = sys.argv[1]
    sys.path[1:1] = [str(TESTS / folder) for folder in ("", "faults", "network")]
    place = Path(tempfile.mkdtemp(prefix=f"fuzz-{target}-"))
    attempt, seed = attempts(target, place)
    attempt(seed)  # so that everything is imported
    for function in functions():
        atheris.instrument_func(function)
    folder = place / "seed"
    folder.mkdir()
    (folder / "whole").write_bytes(seed)
    arguments = [sys.argv[0], *sys.argv[2:]]
    # The first folder gets what is new.
    arguments += [str(folder)] if len(sys.argv) > 2 else []
    atheris.Setup(arguments, attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
