"""A network as the search wants it: a callable on a batch of observations.

Any number of threads may call it at once; each call borrows a session, computes without the GIL and
gives it back. `swap` exchanges the network while they do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.games.protocol import Game
from zermelo.network.kinds import AnyArchitecture
from zermelo.network.runtimes import Expand, Runtime, Session, installed_backends, make_runtime
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.runtime import CoreRuntime
from zermelo.network.weights import Array, Weights


class _Ready:
    """One network made ready, and the sessions that nobody uses at the moment."""

    def __init__(self, weights: Weights, runtime: Runtime) -> None:
        self.weights = weights
        self.runtime = runtime
        self.idle: deque[Session] = deque()  # append and pop are atomic
        self.made: deque[Session] = deque()  # every one, borrowed or idle

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        try:
            session = self.idle.pop()
        except IndexError:
            session = self.runtime.session()
            self.made.append(session)
        try:
            return session.run(observations, expand)
        finally:
            self.idle.append(session)


class NetworkEvaluator:
    """`evaluator(observations)` -> policy logits [B, actions], and WDL [B, 3] or value [B].

    `backend` is openvino, onnx or torch, or `auto`, which measures for a second and takes the
    fastest; `precision` is f32, bf16 or int8, or `auto`: bf16 where that is fastest, never int8.
    """

    def __init__(
        self,
        weights: Weights,
        backend: str = "auto",
        precision: str = "f32",
        *,
        game: Game | None = None,
        calibration: Array | None = None,
        fixed_batch: int = 0,
    ) -> None:
        """`game` is checked against the network. `calibration` is observations, for int8.

        Without `calibration` they are taken from random games of `game`.

        With a native game, searches hand over packed observations, which are expanded right into
        the runtime's memory. `fixed_batch` fills up batches to this size, so that what the network
        says of a position does not depend on how many others it is evaluated with: runtimes sum in
        another order for another size.
        """
        if game is not None:
            weights.architecture.check_fits(game)
        self._expand: Expand | None = getattr(game, "expand_observations", None)
        self.choice: list[dict[str, Any]] = []  # what `auto` measured
        if isinstance(weights.architecture, SparseArchitecture):
            backend, precision = "core", "integer"
        elif backend == "auto" or precision == "auto":
            backend, precision, self.choice = _fastest(
                weights, backend, precision, calibration, game
            )
        self._game = game
        self._calibration = calibration
        self._fixed_batch = fixed_batch
        self._swapping = threading.Lock()
        self._ready = _Ready(weights, make_runtime(weights, backend, precision, calibration, game))
        # What the core searches with, without asking Python; None if it has to.
        self._slot: _core.SparseSlot | None = None
        if isinstance(self._ready.runtime, CoreRuntime):
            self._slot = _core.SparseSlot(self._ready.runtime.network)

    @property
    def packed(self) -> bool:
        """See `search.Evaluator`; planes are understood too."""
        return self._expand is not None

    @property
    def native(self) -> Any:
        """What the core asks in place of this callable: a processor network, else itself."""
        return self if self._slot is None else self._slot

    @property
    def weights(self) -> Weights:
        """The network in use."""
        return self._ready.weights

    @property
    def architecture(self) -> AnyArchitecture:
        """Of the network in use."""
        return self._ready.weights.architecture

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Planes, rows and columns of a position."""
        return self.architecture.observation_shape

    def check_fits(self, game: Game) -> None:
        """Refuses a game whose positions or actions the network does not know."""
        self.architecture.check_fits(game)

    @property
    def backend(self) -> str:
        """The one that was chosen."""
        return self._ready.runtime.backend

    @property
    def precision(self) -> str:
        """f32, bf16 or int8."""
        return self._ready.runtime.precision

    def __call__(self, observations: NDArray[Any], /) -> tuple[Array, Array]:
        """For the player to move: float32 [B, planes, rows, columns], or packed [B, words]."""
        policy, value, *_ = self._answer(observations)
        return policy, value

    @property
    def with_plies_left(self) -> Callable[[NDArray[Any]], tuple[Array, ...]] | None:
        """The same, and plies left [B, 1], which the core asks for if there is a head for it."""
        return self._answer if getattr(self.architecture, "moves_filters", 0) else None

    def _answer(self, observations: NDArray[Any]) -> tuple[Array, ...]:
        if self._expand is not None and observations.dtype == np.uint64 and len(observations):
            return self._run(observations, self._expand)
        planes = np.ascontiguousarray(observations, np.float32)
        shape = self.architecture.observation_shape
        if planes.ndim != 4 or planes.shape[1:] != shape or not len(planes):
            raise ValueError(f"observations of shape {planes.shape} are not [batch, *{shape}]")
        return self._run(planes)

    def _run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        count = len(observations)
        missing = -count % self._fixed_batch if self._fixed_batch else 0
        if missing:
            nothing = np.zeros((missing, *observations.shape[1:]), observations.dtype)
            observations = np.concatenate([observations, nothing])
        return tuple(found[:count] for found in self._ready.run(observations, expand))

    def warm_up(self, threads: int, batch: int) -> None:
        """Compiles for so many threads and all batches up to `batch`, which else happens in use."""
        ready = self._ready
        while len(ready.made) < threads:
            session = ready.runtime.session()
            ready.made.append(session)
            ready.idle.append(session)
        shape = ready.weights.architecture.observation_shape
        if isinstance(ready.runtime, CoreRuntime):  # has nothing to compile
            return
        for _ in range(threads):
            try:
                session = ready.idle.popleft()  # the longest idle; callers borrow at the other end
            except IndexError:  # all are in use
                return
            try:
                for size in (*(2**i for i in range(batch.bit_length())), batch):
                    session.run(np.zeros((size, *shape), np.float32))
            finally:
                ready.idle.append(session)

    def swap(self, weights: Weights) -> None:
        """Uses another network from the next call on; calls under way end with the old one.

        The new one is made ready before it takes over, for the same batch sizes and as many
        threads as the old one served. A search's cache still holds the old one's answers.
        """
        with self._swapping:
            old = self._ready
            a, b = old.weights.architecture, weights.architecture
            if a.form != b.form:
                raise ValueError(f"{weights.name} is a network for {b.game}, not for {a.game}")
            if type(a) is not type(b):
                raise ValueError(f"{weights.name} is a network of another kind")
            if self._game is not None:
                b.check_fits(self._game)
            runtime = make_runtime(
                weights, self.backend, self.precision, self._calibration, self._game
            )
            new = _Ready(weights, runtime)
            new.made.extend(runtime.session(session) for session in list(old.made))
            new.idle.extend(new.made)
            self._ready = new
            if self._slot is not None and isinstance(runtime, CoreRuntime):
                self._slot.set(runtime.network)

    def __repr__(self) -> str:
        return f"<NetworkEvaluator {self.weights.name} {self.backend} {self.precision}>"


def _fastest(
    weights: Weights, backend: str, precision: str, calibration: Array | None, game: Game | None
) -> tuple[str, str, list[dict[str, Any]]]:
    """As it was measured here before, else measured now; a runtime that broke is measured anew."""
    from zermelo.network.measure import best_first, fastest
    from zermelo.network.remembered import recall, remember

    asked = (backend, precision, *installed_backends())
    known = recall(weights.architecture, asked)
    if known is not None:
        known = best_first(known)
        best = known[0]
        try:
            make_runtime(weights, best["backend"], best["precision"], calibration, game)
        except Exception:  # a package may break in any way
            known = None
        else:
            return best["backend"], best["precision"], known
    found = fastest(weights, backend, precision, calibration, game)
    remember(weights.architecture, asked, found[2])
    return found
