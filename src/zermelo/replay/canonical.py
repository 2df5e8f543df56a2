"""Positions as samples have them: packed, in the canonical one of their symmetries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.games.native import is_native
from zermelo.games.protocol import HasSymmetries, State


class Canonical(NamedTuple):
    """The image with the smallest words, which is what self-play writes too."""

    words: NDArray[np.uint64]  # [words] of the packed observation
    symmetry: int  # that leads to it
    symmetries: int  # of the position

    @property
    def key(self) -> bytes:
        """To tell positions apart."""
        return self.words.tobytes()


def canonical(game: Any, state: State) -> Canonical:
    """Of a position that is not over."""
    if not isinstance(game, HasSymmetries):
        return Canonical(packed(game, state), 0, 1)
    count = int(game.num_symmetries(state))
    images = [packed(game, game.transform(state, s) if s else state) for s in range(count)]
    best = min(range(count), key=lambda s: images[s].tolist())
    return Canonical(images[best], best, count)


def packed(game: Any, state: State) -> NDArray[np.uint64]:
    """The observation as the core packs it."""
    if is_native(game):
        return np.asarray(game.observe_packed(state), np.uint64)
    # A game in Python has dense planes only: two float32 to a word, the last one filled up.
    planes = np.asarray(game.observe(state), np.float32).ravel()
    return np.append(planes, np.zeros(len(planes) % 2, np.float32)).view(np.uint64)


def transformed(game: Any, action: int, symmetry: int) -> int:
    """Where an action goes under a symmetry."""
    return int(game.transform_action(action, symmetry)) if symmetry else action


def canonical_actions(game: Any, state: State, action: int) -> list[int]:
    """What an action may be in the canonical image; several if that is its own mirror image."""
    if not isinstance(game, HasSymmetries):
        return [action]
    words = canonical(game, state).words
    found = set()
    for symmetry in range(int(game.num_symmetries(state))):
        image = game.transform(state, symmetry) if symmetry else state
        if np.array_equal(packed(game, image), words):
            found.add(transformed(game, action, symmetry))
    return sorted(found)
