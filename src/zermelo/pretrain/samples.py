"""Labelled positions become samples, as self-play would have written them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.games.protocol import State
from zermelo.games.symmetries import image_action
from zermelo.replay import ADJUDICATED, FULL, Samples
from zermelo.replay.canonical import canonical
from zermelo.replay.samples import COLUMNS, DRAW_SCALE, VALUE_SCALE, WHOLE_SHARE

MOST_PLIES = 65535


@dataclass(frozen=True)
class Label:
    """A position with what is known of it; numbers are for the player to move."""

    state: State
    policy: Mapping[int, float]  # shares of actions, which sum to 1; empty: not known
    result: int | None  # -1, 0 or 1; None: not known
    value: float | None = None  # of a teacher; None: the result is all that is known
    ply: int = 0
    plies_left: int | None = None  # until the game's end; None: not known
    adjudicated: bool = False  # the game was cut off, and its result is somebody's judgement


Labels = list[Label]  # of one game


def samples_of(game: Any, games: Iterable[Labels]) -> Samples:
    """All labels of these games as samples of iteration 0.

    A position whose result is not known stands there as won, drawn and lost, so that what it
    teaches about the value is that nothing is known.
    """
    needed = {name: column for name, column in COLUMNS.items() if column.older is None}
    columns: dict[str, list[Any]] = {name: [] for name in needed}
    for number, labels in enumerate(games):
        for label in labels:
            for result in (-1, 0, 1) if label.result is None else (label.result,):
                _append(columns, game, label, result, number)
    return Samples.from_columns(
        {
            name: np.stack(columns[name]) if column.wide else np.array(columns[name], column.dtype)
            for name, column in needed.items()
        }
    )


def chunks(games: Iterable[Labels], size: int) -> Iterator[list[Labels]]:
    """Whole games with about `size` labels together."""
    found: list[Labels] = []
    count = 0
    for labels in games:
        if not labels:
            continue
        found.append(labels)
        count += len(labels)
        if count >= size:
            yield found
            found, count = [], 0
    if found:
        yield found


def is_inside_label(samples: Samples, row: int) -> bool:
    """Whether a cut before the row would part the samples of one position of unknown result."""
    if not 0 < row < len(samples):
        return False
    games, plies = samples.games, samples.plies
    return bool(games[row] == games[row - 1] and plies[row] == plies[row - 1])


def _append(
    columns: dict[str, list[Any]], game: Any, label: Label, result: int, number: int
) -> None:
    image = canonical(game, label.state)
    legal = [int(action) for action in game.legal_actions(label.state)]
    entries = sorted(
        (image_action(game, action, image.symmetry), label.policy.get(action, 0.0))
        for action in legal
    )
    value, draw = _value_and_draw(label, result)
    columns["observations"].append(image.words)
    columns["policy_counts"].append(len(entries))
    columns["policy_actions"] += [action for action, _ in entries]
    columns["policy_shares"] += quantised([share for _, share in entries])
    columns["results"].append(result)
    columns["values"].append(round(value * VALUE_SCALE))
    columns["draws"].append(round(draw * DRAW_SCALE))
    columns["plies"].append(min(label.ply, MOST_PLIES))
    columns["plies_left"].append(min(label.plies_left or 0, MOST_PLIES))  # 0 teaches nothing
    columns["iterations"].append(0)
    columns["games"].append(number)
    columns["symmetries"].append(image.symmetries)
    full, judged = FULL if label.policy else 0, ADJUDICATED if label.adjudicated else 0
    columns["flags"].append(full | judged)


def _value_and_draw(label: Label, result: int) -> tuple[float, float]:
    """The root's value and draw probability: a teacher's, else as the game ended."""
    if label.value is not None:
        value = max(-1.0, min(1.0, label.value))
        return value, 1.0 - abs(value)
    if label.result is None:
        return 0.0, 1 / 3
    return float(result), float(result == 0)


def quantised(shares: list[float]) -> list[int]:
    """Whole numbers that sum to 65535, or zeros if there is no policy."""
    total = sum(shares)
    if total <= 0:
        return [0] * len(shares)
    exact = [share / total * WHOLE_SHARE for share in shares]
    made = [int(share) for share in exact]
    by_rest = sorted(range(len(exact)), key=lambda i: made[i] - exact[i])
    for i in by_rest[: WHOLE_SHARE - sum(made)]:
        made[i] += 1
    return made
