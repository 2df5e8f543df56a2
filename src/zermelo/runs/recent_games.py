"""Self-play games of a run to look at: which there are, and each move with the search's numbers.

Reads shards; a damaged one is left out, and stays where it is. Positions are states of the game:
how they are drawn is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zermelo.errors import UserError
from zermelo.games.protocol import Game, Outcome, State
from zermelo.games.symmetries import image_action
from zermelo.replay.canonical import canonical, packed_image
from zermelo.replay.samples import DRAW_SCALE, FULL, PROVEN, VALUE_SCALE, WHOLE_SHARE, Samples
from zermelo.replay.schema import Schema
from zermelo.replay.shard import Shard, parse_name, read_header, read_shard
from zermelo.replay.whole_games import RecordedGame
from zermelo.replay.whole_games import games as whole_games

MOST_SHARDS = 40  # that one listing reads


@dataclass(frozen=True)
class ListedGame:
    """A game of a shard."""

    shard: str  # name of the file
    number: int  # within it
    iteration: int  # whose network played it
    actions: tuple[int, ...]
    outcome: Outcome
    flags: int  # why it ended, as in samples


@dataclass(frozen=True)
class SearchNumbers:
    """What a sample keeps of the search of a position; all for the player to move."""

    value: float
    draw: float
    shares: dict[int, float]  # of the policy target, by legal action; none if no full search
    proven: bool


@dataclass(frozen=True)
class Ply:
    """A position of a game."""

    state: State
    action: int | None  # that was played; None at the end
    search: SearchNumbers | None  # not all positions are samples


def recent_games(
    replay: Path, game: Game, most: int, before: int | None = None
) -> list[ListedGame]:
    """Whole games, those of the newest iterations first; `before` leaves out later iterations."""
    found: list[ListedGame] = []
    schema = Schema.of(game)
    for path in list(_newest_first(replay, before))[:MOST_SHARDS]:
        shard = _read(path, schema)
        if shard is None:
            continue
        iteration = shard.header.iteration
        found += [
            ListedGame(path.name, one.number, iteration, one.actions, one.outcome, one.flags)
            for one in whole_games(shard)
        ]
        if len(found) >= most:
            break
    return found[:most]


def iterations_played(replay: Path) -> list[int]:
    """Those that have shards, by the names of the files."""
    return sorted({place[0] for place in map(parse_name, _names(replay)) if place})


def one_game(replay: Path, game: Game, shard: str, number: int) -> tuple[RecordedGame, list[Ply]]:
    """A game by its place, position by position; a UserError if there is none."""
    if parse_name(shard) is None:
        raise UserError("that is no name of a shard")
    found = _read(replay / shard, Schema.of(game), strict=True)
    if found is None:
        raise UserError(f"there is no shard {shard} any more")
    games = whole_games(found)
    if not 0 <= number < len(games):
        raise UserError(f"{shard} has {len(games)} whole games; there is no number {number}")
    return games[number], list(_plies(game, games[number], found.samples))


def _plies(game: Game, one: RecordedGame, samples: Samples) -> Iterator[Ply]:
    rows = {int(samples.plies[row]): int(row) for row in one.rows}
    starts = samples.starts()
    for ply, state in enumerate(one.states(game)):
        action = one.actions[ply] if ply < len(one.actions) else None
        row = rows.get(ply)
        search = None
        if row is not None and game.outcome(state) is None:
            search = _numbers(game, state, action, samples, row, int(starts[row]))
        yield Ply(state, action, search)


def _numbers(
    game: Game, state: State, action: int | None, samples: Samples, row: int, start: int
) -> SearchNumbers:
    flags = int(samples.flags[row])
    entries = slice(start, start + int(samples.policy_counts[row]))
    shares: dict[int, float] = {}
    if flags & FULL:
        actions = samples.policy_actions[entries].tolist()
        stored = dict(zip(actions, samples.policy_shares[entries].tolist(), strict=True))
        symmetry = _symmetry(game, state, action, int(samples.played[row]))
        shares = {
            int(each): stored.get(image_action(game, int(each), symmetry), 0) / WHOLE_SHARE
            for each in game.legal_actions(state)
        }
    value = float(samples.values[row]) / VALUE_SCALE
    draw = float(samples.draws[row]) / DRAW_SCALE
    return SearchNumbers(value, draw, shares, bool(flags & PROVEN))


def _symmetry(game: Game, state: State, action: int | None, played: int) -> int:
    """That leads to the sample; of a position that is its own image, the one the action tells."""
    found = canonical(game, state)
    for symmetry in range(found.symmetries):
        same = np.array_equal(packed_image(game, state, symmetry), found.words)
        if same and action is not None and image_action(game, action, symmetry) == played:
            return symmetry
    return found.symmetry


def _newest_first(replay: Path, before: int | None) -> Iterator[Path]:
    places = [(place, name) for name in _names(replay) if (place := parse_name(name))]
    for (iteration, _, _), name in sorted(places, key=lambda p: (p[0][0], p[0][2]), reverse=True):
        if before is None or iteration <= before:
            yield replay / name


def _names(replay: Path) -> list[str]:
    try:
        return [entry.name for entry in replay.iterdir()]
    except OSError:
        return []


def _read(path: Path, schema: Schema, strict: bool = False) -> Shard | None:
    """None if it is gone; damaged ones and those without games too, unless `strict`."""
    try:
        if not strict and not read_header(path).records:
            return None
        return read_shard(path, schema)
    except FileNotFoundError:
        return None
    except UserError:
        if strict:
            raise
        return None
