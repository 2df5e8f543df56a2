"""Saved games of self-play that somebody changed under a right checksum: refused, or playable."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest

import zermelo
from zermelo import _core
from zermelo.games.native import native_game

MASK = (1 << 64) - 1


def resealed(body: bytes) -> bytes:
    """With the checksum of `base/archive.hpp` (FNV-1a)."""
    total = 0xCBF29CE484222325
    for byte in body:
        total = (total ^ byte) * 0x100000001B3 & MASK
    return body + struct.pack("<Q", total)


def runner(name: str) -> Any:
    made: Any = _core.make_selfplay(
        native_game(zermelo.game(name)),
        _core.HashEvaluator(1),
        _core.SearchOptions(),
        _core.SelfPlayOptions(games=2, simulations=8, max_plies=40, seed=3),
        None,
    )
    made.play(60, 0.0, None)
    made.drop_trees()
    return made


def test_the_checksum_of_the_test_is_that_of_the_core() -> None:
    saved = runner("tictactoe").save()
    assert resealed(saved[:-8]) == saved


@pytest.mark.parametrize(("name", "rounds"), [("chess", 150), ("othello", 60), ("tictactoe", 60)])
def test_a_changed_byte_is_refused_or_does_no_harm(name: str, rounds: int) -> None:
    games = runner(name)
    saved = games.save()
    chance = random.Random(5)
    refused = 0
    for _ in range(rounds):
        body = bytearray(saved[:-8])
        body[chance.randrange(len(body))] ^= chance.randrange(1, 256)
        before = games.save()
        try:
            games.load(resealed(bytes(body)))
        except _core.RefusedError:
            refused += 1
            assert games.save() == before  # it is as it was
        else:
            games.play(3, 0.0, None)
    assert refused > rounds // 3
    games.load(saved)


def test_an_illegal_move_is_refused() -> None:
    games = runner("chess")
    saved = games.save()
    # format, games, columns, next game; of the first game: random state, length, actions
    place = 5 * 8
    (length,) = struct.unpack_from("<Q", saved, place)
    assert 0 < length < 40
    body = bytearray(saved[:-8])
    struct.pack_into("<H", body, place + 8, 1857)
    with pytest.raises(_core.RefusedError, match="not legal"):
        games.load(resealed(bytes(body)))


def test_bytes_behind_the_end_are_refused() -> None:
    games = runner("tictactoe")
    with pytest.raises(_core.RefusedError, match="behind its end"):
        games.load(resealed(games.save()[:-8] + b"x"))
