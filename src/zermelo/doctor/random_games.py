"""What random games of the same rules are like: small games have few positions and lines anyway.

Played once per process and game, for a limited time. Knows no run.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from zermelo.games import game as find_game
from zermelo.games.protocol import value_for
from zermelo.replay.canonical import canonical

GAMES = 200
LONGEST = 1000  # plies
SECONDS = 2.0  # slow rules give fewer games
OPENING_PLIES = range(2, 9)  # after which positions are compared
LEAST = 20  # games or positions, below which nothing is said


@dataclass(frozen=True)
class RandomGames:
    """Lines of play, and how each ended."""

    game: Any
    lines: tuple[tuple[int, ...], ...]  # actions
    results: tuple[int, ...]  # for who moved last; 0 is a draw or a game without an end

    def unique_share(self, games: float) -> float:
        """Share of different lines that so many random games would have; 1 if that is not known.

        Reckoned as if all lines were equally likely, as many as give this many equal pairs: E of
        them have E (1 - exp(-n / E)) different ones in n games.
        """
        if len(self.lines) < LEAST or games <= 0:
            return 1.0
        pairs = len(self.lines) * (len(self.lines) - 1) / 2
        equal = sum(count * (count - 1) / 2 for count in Counter(self.lines).values())
        kinds = pairs / max(1.0, equal)
        return -kinds * math.expm1(-games / kinds) / games

    @property
    def last_mover(self) -> int:
        """1 if whoever moves last wins every game that is not drawn, -1 if he loses, else 0."""
        decided = [result for result in self.results if result]
        if len(decided) < LEAST or len(set(decided)) > 1:
            return 0
        return decided[0]

    @cached_property
    def positions(self) -> dict[int, float]:
        """After some plies, the effective number of positions; see `effective_number`."""
        found: dict[int, list[bytes]] = {}
        for line in self.lines:
            state = self.game.initial()
            for ply, action in enumerate(line[: OPENING_PLIES.stop - 1], start=1):
                state = self.game.play(state, action)
                if self.game.outcome(state) is not None:
                    break
                if ply in OPENING_PLIES:
                    found.setdefault(ply, []).append(canonical(self.game, state).key)
        return {ply: effective_number(keys) for ply, keys in found.items() if len(keys) >= LEAST}


@cache
def random_games(name: str) -> RandomGames:
    """Of the game of that name, always the same ones unless time runs out."""
    return play_random(find_game(name), SECONDS)


def play_random(game: Any, seconds: float) -> RandomGames:
    """Games to the end, as many as there is time for."""
    chance = random.Random(0)
    until = time.monotonic() + seconds
    lines: list[tuple[int, ...]] = []
    results: list[int] = []
    while len(lines) < GAMES:
        line: list[int] = []
        state, mover = game.initial(), 0
        outcome = game.outcome(state)
        while outcome is None and len(line) < LONGEST:
            if time.monotonic() > until:
                return RandomGames(game, tuple(lines), tuple(results))
            actions = list(game.legal_actions(state))
            if not actions:  # the rules are faulty, which `zermelo check` is for
                break
            line.append(chance.choice(actions))
            mover = game.player(state)
            state = game.play(state, line[-1])
            outcome = game.outcome(state)
        lines.append(tuple(line))
        results.append(0 if outcome is None else value_for(outcome, mover))
    return RandomGames(game, tuple(lines), tuple(results))


def effective_number(keys: Iterable[Hashable]) -> float:
    """exp(entropy): how many kinds there are, were they equally frequent."""
    counts = Counter(keys).values()
    total = sum(counts)
    return math.exp(-sum(count / total * math.log(count / total) for count in counts))
