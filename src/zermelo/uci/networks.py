"""What evaluates positions: a network file, made ready in steps, or equal priors without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from zermelo.evaluator import Evaluator, WarmsUp
from zermelo.search import SearchOptions, UniformEvaluator

NONE = "none"  # as WeightsFile: no network, not even the package's
NO_NETWORK = "no network is loaded (set WeightsFile): all moves look equally good"


@dataclass(frozen=True)
class Network:
    """An evaluator and the encoder of the chess game that it reads."""

    evaluator: Evaluator
    encoder: str = "compact"
    text: str = NO_NETWORK
    trained: bool = False  # not the stand-in
    search: SearchOptions | None = None  # its own; None: those that the engine lists


def without_network() -> Network:
    """Equal priors, value 0."""
    return Network(UniformEvaluator())


def own_network() -> str:
    """The chess network that comes with the package; empty if there is none."""
    from zermelo.games import game
    from zermelo.network.places import shipped_network

    return shipped_network(game("chess")) or ""


def load(path: str, backend: str, precision: str) -> Network:
    """The network of a file, a checkpoint or a run; UserError in one sentence if there is none."""
    from zermelo.games import game
    from zermelo.games.parameters import split_spec
    from zermelo.network.open import open_network
    from zermelo.network.runtimes import installed_backends

    if backend == "auto":  # measuring which is fastest would take longer than a start may
        backend = (installed_backends() or [backend])[0]
    opened = open_network(path, "chess", backend, precision)
    weights = opened.evaluator.weights
    a = weights.architecture
    _, settings = split_spec(a.game)
    encoder = settings.get("encoder", "compact")
    a.check_fits(game(f"chess?encoder={encoder}"))  # what will be searched, with no other settings
    runtime = f"{opened.evaluator.backend}, {opened.evaluator.precision}"
    text = f"network {weights.name} ({a.size}) on {runtime}"
    return Network(opened.evaluator, encoder, text, trained=True, search=opened.search)


def answering(network: Network) -> Network:
    """The network after a first answer: one that cannot be computed fails here, not in a game."""
    import numpy as np

    evaluator = network.evaluator
    if isinstance(evaluator, WarmsUp):
        evaluator(np.zeros((1, *evaluator.observation_shape), np.float32))
    return network


def warming_steps(network: Network, threads: int, leaves: int) -> Iterator[Callable[[], None]]:
    """All that would else be compiled during a search, in short pieces: what is due first first."""
    evaluator = network.evaluator
    if not isinstance(evaluator, WarmsUp):
        return
    sizes = sorted({leaves, *(2**i for i in range(leaves.bit_length()))})
    for count in range(1, threads + 1):
        for size in sizes:
            yield partial(evaluator.warm_up, count, size)
