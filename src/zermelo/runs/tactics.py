"""Positions on which a run can be watched learning: the search is sure, the first network was not.

Taken from the run's own games and held against its first and last checkpoint. Reads only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zermelo.games.protocol import Game
from zermelo.replay.canonical import canonical
from zermelo.replay.columns import ShardError
from zermelo.runs.judging import CheckpointJudges, Judgement
from zermelo.runs.recent_games import ListedGame, Ply, one_game, recent_games

GAMES = 40  # that are looked through
CANDIDATES = 60  # positions that both checkpoints judge
SURE = 0.8  # share of one action in the search's policy
DECISIVE = 0.4  # how much a decided game counts beside what was learned
LEAST_ACTIONS = 3  # legal ones, or there is nothing to see


@dataclass(frozen=True)
class Tactic:
    """A position with the action that was learned."""

    actions: tuple[int, ...]  # that lead there
    best: int
    first: float  # the first checkpoint's share of it
    last: float


def learned_tactics(
    replay: Path, game: Game, judges: CheckpointJudges, most: int = 6
) -> list[Tactic]:
    """Those that were learned most, from different games; [] if there is only one checkpoint."""
    iterations = judges.iterations()
    if len(iterations) < 2:
        return []
    found: dict[bytes, tuple[float, Tactic]] = {}  # by position, mirror images being the same
    for listed, ply, plies in _candidates(replay, game):
        assert ply.search is not None
        best = max(ply.search.shares, key=ply.search.shares.__getitem__)
        shares = [
            one.policy[best]
            for one in judges.judge(ply.state, [iterations[0], iterations[-1]])
            if isinstance(one, Judgement)
        ]
        if len(shares) == 2:
            tactic = Tactic(listed.actions[:plies], best, shares[0], shares[1])
            worth = shares[1] - shares[0] + DECISIVE * abs(ply.search.value)
            found[canonical(game, ply.state).key] = worth, tactic
    order = sorted(found.values(), key=lambda pair: -pair[0])
    return [tactic for _, tactic in order[:most]]


def _candidates(replay: Path, game: Game) -> list[tuple[ListedGame, Ply, int]]:
    """Positions of recent games in which the search was sure, some of each game."""
    found = []
    for listed in recent_games(replay, game, GAMES):
        try:
            plies = one_game(replay, game, listed.shard, listed.number)[1]
        except (ShardError, FileNotFoundError):
            continue
        sure = [
            (listed, ply, number)
            for number, ply in enumerate(plies)
            if number >= len(plies) // 4  # openings are no tactics
            and ply.search is not None
            and len(ply.search.shares) >= LEAST_ACTIONS
            and max(ply.search.shares.values()) >= SURE
        ]
        found += sure[:: max(1, len(sure) // 3)][:3]
        if len(found) >= CANDIDATES:
            break
    return found[:CANDIDATES]
