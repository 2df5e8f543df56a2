"""A hundred thousand damaged FENs: each is read or refused, and what was read is written alike."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

import zermelo
from zermelo.errors import REFUSALS

FENS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
)
CHESS: Any = zermelo.game("chess")


def damaged(text: str, chance: random.Random) -> str:
    """One to three places changed."""
    letters = "pnbrqkPNBRQK12345678/ wb-KQkqabcdefgh0x\t\u00e9"
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(letters) + text[at + chance.randrange(2) :]
    return text


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_damaged_fens_are_read_or_refused(
    count: int, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(3)
    texts = [damaged(chance.choice(FENS), chance) for _ in range(count)]
    read = 0
    began = time.process_time()
    for text in texts:
        try:
            state = CHESS.parse_position(text)
        except REFUSALS:
            continue
        read += 1
        written = CHESS.position_text(state)
        assert CHESS.position_text(CHESS.parse_position(written)) == written
    seconds = time.process_time() - began
    assert 0 < read < count
    record_property("tried", count)
    record_property(f"{count:,} FENs (s)", f"{seconds:.2f}")
