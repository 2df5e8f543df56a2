"""A hash in place of a network: exact, repeatable, the same in Python and in the core.

With it a search can be compared visit for visit. It knows a position only by its 64-bit hash.
"""

from __future__ import annotations

from collections.abc import Sequence

from zermelo import _core
from zermelo.games.protocol import Game, State, state_hash

_WORD = (1 << 64) - 1


def mix64(x: int) -> int:
    """The finaliser of SplitMix64, as in `cpp/base/random.hpp`."""
    x &= _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


class HashEvaluator:
    """Callable as the reference search wants: `(game, state, actions) -> (logits, value)`.

    All numbers are multiples of a power of two that fit a float32 exactly.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._salt = mix64(seed + 0x5851F42D4C957F2D)
        self.native = _core.HashEvaluator(seed)  # its twin, for the native search

    def __call__(
        self, game: Game, state: State, actions: Sequence[int]
    ) -> tuple[list[float], float]:
        """One logit in [-2, 2) per action, and the value for the player to move."""
        key = state_hash(game, state) ^ self._salt
        return [logit(key, action) for action in actions], value(key)

    def value(self, game: Game, state: State) -> float:
        """In [-1, 1), for the player to move."""
        return value(state_hash(game, state) ^ self._salt)

    def draw(self, game: Game, state: State) -> float:
        """Probability of a draw that goes with the value."""
        return 0.5 * (1.0 - abs(self.value(game, state)))

    def plies_left(self, game: Game, state: State) -> float:
        """24 random bits in [0, 64)."""
        key = state_hash(game, state) ^ self._salt
        return (mix64(key ^ 0x8EBC6AF09C88C6E3) >> 40) * 2.0**-18


def logit(key: int, action: int) -> float:
    """24 random bits in [-2, 2)."""
    return (mix64(key ^ mix64(action + 1)) >> 40) * 2.0**-22 - 2.0


def value(key: int) -> float:
    """24 random bits in [-1, 1)."""
    return (mix64(key ^ 0xA0761D6478BD642F) >> 40) * 2.0**-23 - 1.0
