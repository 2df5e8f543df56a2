"""Positions as samples have them: packed, in the canonical one of their symmetries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.games.native import is_native
from zermelo.games.protocol import State
from zermelo.games.symmetries import image_action, image_planes, symmetry_count


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
    count = symmetry_count(game, state)
    images = [packed_image(game, state, symmetry) for symmetry in range(count)]
    best = min(range(count), key=lambda s: images[s].tolist())
    return Canonical(images[best], best, count)


def packed(game: Any, state: State) -> NDArray[np.uint64]:
    """The observation as the core packs it."""
    if is_native(game):
        return np.asarray(game.observe_packed(state), np.uint64)
    return _packed_planes(np.asarray(game.observe(state), np.float32))


def packed_image(game: Any, state: State, symmetry: int) -> NDArray[np.uint64]:
    """The same of the position's image."""
    if is_native(game):
        return packed(game, game.transform(state, symmetry) if symmetry else state)
    return _packed_planes(image_planes(game, state, symmetry))


def _packed_planes(shown: NDArray[np.float32]) -> NDArray[np.uint64]:
    # A game in Python has dense planes only: two float32 to a word, the last one filled up.
    planes = shown.ravel()
    return np.append(planes, np.zeros(len(planes) % 2, np.float32)).view(np.uint64)


def canonical_actions(game: Any, state: State, action: int) -> list[int]:
    """What an action may be in the canonical image; several if that is its own mirror image."""
    words = canonical(game, state).words
    found = set()
    for symmetry in range(symmetry_count(game, state)):
        if np.array_equal(packed_image(game, state, symmetry), words):
            found.add(image_action(game, action, symmetry))
    return sorted(found)
