"""What the commands of analysis share: the network or its stand-in, its search, and `--set`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zermelo.analysis.request import related_game
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.network import load_network
from zermelo.network.measure import choice_text
from zermelo.players.network_path import CHECKPOINTS, SHIPPED, network_path
from zermelo.players.search_player import native_evaluator, network_evaluator
from zermelo.search import SearchOptions

# The presets that made the networks of the package.
SHIPPED_BY = {"tictactoe": "tictactoe", "connect4": "connect4", "othello_size6": "othello6"}


def rules_for(game: str, weights: str | None) -> Game:
    """The game; chess is seen by the encoder that the network was trained with."""
    rules = find_game(game)
    if weights is None or rules.name.partition("?")[0] != "chess":
        return rules
    return related_game(
        rules.name, named_game(load_network(network_path(weights)).architecture.game)
    )


def open_judge(
    rules: Game, weights: str | None, backend: str, evaluator: str, seed: int
) -> tuple[Any, str]:
    """The evaluator and its name for people."""
    if weights is None:
        return native_evaluator(evaluator, seed), evaluator
    found = network_path(weights)
    judge = network_evaluator(found, rules, backend)
    tell_choice(judge.choice)
    return judge, f"{Path(found).name} on {judge.backend}"


def tell_choice(choice: Sequence[Mapping[str, Any]]) -> None:
    """What `auto` took, if it measured anything; on the error stream, apart from the answer."""
    if choice:
        print(choice_text(choice), file=sys.stderr, flush=True)


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Options of the search as `--set` spells them."""
    given: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name or not value:
            raise UserError(f"--set '{setting}' should look like c_puct=1.2")
        given[name] = value
    return given


def search_of(weights: str | None) -> SearchOptions:
    """What a network was trained with, so that figures are the same; defaults if it is not known.

    A checkpoint's run says it, and for the networks of the package the presets that made them.
    """
    from zermelo.config import RunConfig, find_preset, read_run_file

    if weights is None:
        return SearchOptions()
    place = Path(network_path(weights)).resolve()
    file: Path | None = None
    if place.parent.name == CHECKPOINTS:
        file = place.parent.parent / "run.toml"
    elif place.parent == SHIPPED.resolve():
        file = find_preset(SHIPPED_BY[place.stem])
    if file is None or not file.is_file():
        return SearchOptions()
    return RunConfig.from_tables(read_run_file(file)[1], str(file)).search


def changed_options(search: SearchOptions) -> dict[str, Any]:
    """Those with other values than their defaults, but for the threads."""
    usual = type(search)().to_dict()
    return {
        name: value
        for name, value in search.to_dict().items()
        if value != usual[name] and name != "threads"
    }
