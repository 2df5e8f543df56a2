"""Opens a network by its reference: rules, evaluator, and how it is searched.

A reference is what a person types: a run, a checkpoint, a file of ours or of lc0, a shipped name.
Every command, player and engine opens networks here, so that one network is searched in one way.
Knows no search: it hands out the options only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from zermelo._core import SearchOptions
from zermelo.errors import REFUSALS
from zermelo.evaluator import Evaluator
from zermelo.files import read_toml
from zermelo.games.protocol import Game
from zermelo.games.registry import game as find_game
from zermelo.games.registry import named_game, related_game
from zermelo.network.evaluator import NetworkEvaluator
from zermelo.network.files import load_network, require_fit
from zermelo.network.own_search import described_search, searched
from zermelo.network.places import network_path, run_file, weights_file
from zermelo.network.weights import Weights


@dataclass(frozen=True)
class Opened:
    """An evaluator made ready for a game, and how it is searched."""

    game: Game
    evaluator: Evaluator
    search: SearchOptions
    title: str  # for people: "connect4.onnx on openvino"

    def searched(self, given: Mapping[str, Any], counted: bool = True) -> SearchOptions:  # noqa: ARG002
        """The options with those that somebody gives, values or texts, over them."""
        return self.search.replace(**given)


@dataclass(frozen=True)
class OpenedNetwork(Opened):
    """A network, with the search that its makers use it with."""

    evaluator: NetworkEvaluator
    path: str  # of the file or the checkpoint's directory

    def searched(self, given: Mapping[str, Any], counted: bool = True) -> SearchOptions:
        """See `own_search.searched`."""
        return searched(self.search, given, counted)


def open_network(
    reference: str,
    game: Game | str | None = None,
    backend: str = "auto",
    precision: str = "f32",
    *,
    fixed_batch: int = 0,
) -> OpenedNetwork:
    """The network for a game that it fits; without one, for the game that it was made for.

    A text `chess` means chess as the network sees it, by the encoder that it was trained with.
    `backend`, `precision` and `fixed_batch` are those of `NetworkEvaluator`. What is wrong is a
    UserError of one sentence.
    """
    path = network_path(reference)
    weights = open_weights(path)
    rules = game_for(weights, game)
    require_fit(weights, rules)
    evaluator = NetworkEvaluator(weights, backend, precision, game=rules, fixed_batch=fixed_batch)
    search = SearchOptions(**weights.search)
    title = f"{Path(path).name} on {evaluator.backend}"
    return OpenedNetwork(rules, evaluator, search, title, path)


def open_weights(reference: str, game: Game | None = None) -> Weights:
    """The network's numbers, and how it is searched as far as that is known.

    Checkpoints of older versions do not say it; the run in which they lie does.
    """
    path = network_path(reference)
    weights = load_network(path, game)
    if weights.search:
        return weights
    file = run_file(path)
    if file is None:
        return weights
    return replace(weights, search=described_search(read_toml(file).get("search", {}), str(file)))


def refuse_misnamed(weights: Weights) -> None:
    """A UserError if the network names a game that we know and that it does not fit."""
    try:
        rules = named_game(weights.architecture.game)
    except REFUSALS:  # a game in Python, which is known by its name only
        return
    require_fit(weights, rules)


def game_for(weights: Weights, game: Game | str | None) -> Game:
    """The rules that are asked for; those of a text as the network sees them."""
    if game is None:
        return named_game(weights.architecture.game)
    rules = find_game(game)
    if not isinstance(game, str) or rules.name.partition("?")[0] != "chess":
        return rules
    return related_game(rules.name, named_game(weights.architecture.game))


def own_search(reference: str) -> Mapping[str, Any]:
    """How the network is searched: options by name, those with other values than the defaults."""
    path = network_path(reference)
    files = [weights_file(path), run_file(path)]
    return _own_search(path, *(_version(file) for file in files if file is not None))


@lru_cache(maxsize=64)
def _own_search(path: str, *_: tuple[Any, ...]) -> Mapping[str, Any]:
    """Kept, as many players may ask for the same; `_` tells versions of the files apart."""
    return open_weights(path).search


def _version(file: Path) -> tuple[str, int, int]:
    stat = os.stat(file)
    return str(file.resolve()), stat.st_mtime_ns, stat.st_size
