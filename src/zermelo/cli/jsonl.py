"""`zermelo analyse GAME --jsonl`: requests on standard input, answers on standard output.

One JSON object per line both ways. A thread reads, the main thread writes; the end of the input
ends the command when all is answered.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from typing import TextIO

from zermelo.analysis.engine import AnalysisEngine

MAX_LINE = 8 * 2**20  # bytes
MAX_PENDING = 10_000  # positions; the reader waits beyond that


def serve(engine: AnalysisEngine, source: TextIO, target: TextIO) -> None:
    """Answers until the input ends; Ctrl-C ends the searches and comes out of here."""
    with engine:
        reader = threading.Thread(target=_read, args=(engine, source), daemon=True)
        reader.start()
        for answer in engine.answers():
            target.write(json.dumps(answer) + "\n")
            target.flush()


def _read(engine: AnalysisEngine, source: TextIO) -> None:
    try:
        for line in lines_of(source):
            if line is None:
                engine.reject(f"a line is longer than {MAX_LINE} bytes")
            elif line.strip():
                engine.wait_for_room(MAX_PENDING)
                engine.submit(line)
    except RuntimeError:  # it was stopped meanwhile
        return
    finally:
        engine.finish()


def lines_of(source: TextIO) -> Iterator[bytes | None]:
    """Lines as they come; None for one that is too long.

    Reads the descriptor itself: a thread that waits in a buffered stream would keep the interpreter
    from ending.
    """
    try:
        descriptor = source.fileno()
    except (OSError, AttributeError):  # no file, a text in memory
        yield from (line.encode() for line in source)
        return
    held, too_long = b"", False
    while piece := os.read(descriptor, 1 << 16):
        *whole, held = (held + piece).split(b"\n") if b"\n" in piece else [held + piece]
        for line in whole:
            yield None if too_long or len(line) > MAX_LINE else line
            too_long = False
        if len(held) > MAX_LINE:
            held, too_long = b"", True
    if held or too_long:
        yield None if too_long else held
