"""Who meets whom, from which opening, with which seed: a match's games as a list.

A game depends on its number, the seed and the players alone, whatever process plays it and
whenever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from zermelo.matches.openings import Opening

SEED_BITS = 52


@dataclass(frozen=True)
class Task:
    """One game that is to be played."""

    number: int
    pair: int
    players: tuple[int, int]  # who moves first and second
    opening: Opening
    seed: int

    def seed_of(self, player: int) -> int:
        """The seed of one player in this game."""
        return derived_seed(self.seed, self.number, player)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "number": self.number,
            "pair": self.pair,
            "players": list(self.players),
            "opening": self.opening.to_dict(),
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, values: Any) -> Task:
        """What `to_dict` gave."""
        first, second = values["players"]
        opening = Opening.from_dict(values["opening"])
        return cls(values["number"], values["pair"], (first, second), opening, values["seed"])


def derived_seed(*parts: int) -> int:
    """A number below 2**52 that any change of the parts changes altogether."""
    text = " ".join(str(part) for part in parts).encode()
    return int.from_bytes(hashlib.blake2b(text).digest()[:8], "little") >> (64 - SEED_BITS)


def match_pairs(games: int) -> list[tuple[int, int]]:
    """Both players' meetings, one for each opening: an odd game has no partner."""
    return [(0, 1)] * ((games + 1) // 2)


def round_robin(players: int, openings: int) -> list[tuple[int, int]]:
    """Everybody meets everybody, from every opening; round by round."""
    return list(combinations(range(players), 2)) * openings


def gauntlet(players: int, openings: int) -> list[tuple[int, int]]:
    """The first player meets each of the others, from every opening."""
    return [(0, other) for other in range(1, players)] * openings


def make_tasks(
    meetings: Iterable[tuple[int, int]], openings: Sequence[Opening], seed: int
) -> list[Task]:
    """Two games with colours swapped for each meeting, from that pairing's next opening."""
    met: dict[tuple[int, int], int] = {}
    tasks = []
    for pair, (one, other) in enumerate(meetings):
        turn = met.get((one, other), 0)
        met[one, other] = turn + 1
        for swapped, seats in enumerate(((one, other), (other, one))):
            tasks.append(Task(2 * pair + swapped, pair, seats, openings[turn], seed))
    return tasks
