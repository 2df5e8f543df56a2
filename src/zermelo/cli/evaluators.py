"""What evaluates for a command: the network of `--weights`, or the stand-in of `--evaluator`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.games.python_file import looks_like_file
from zermelo.games.registry import names_game
from zermelo.network.measure import choice_text
from zermelo.network.open import Opened, game_for, open_network, open_weights
from zermelo.network.places import RUN_FILE
from zermelo.players.search_player import native_evaluator
from zermelo.search import SearchOptions


def game_and_run(text: str) -> tuple[str, Path | None]:
    """A game's text, and the run if one was named in the place of its game."""
    place = Path(text)
    if looks_like_file(text) or names_game(text) or not os.path.isfile(place / RUN_FILE):
        return text, None
    from zermelo.runs.directory import Run
    from zermelo.runs.trust import refuse_strange_game

    run = Run.open(place)
    refuse_strange_game(run.path, run.config)
    run.check_unchanged()
    return run.config.game_name, place


def rules_for(game: str, weights: str | None) -> Game:
    """The rules, as the network sees them if there is one; nothing is made ready yet."""
    return find_game(game) if weights is None else game_for(open_weights(weights), game)


def open_evaluator(
    rules: Game, weights: str | None, backend: str, stand_in: str, seed: int = 0
) -> Opened:
    """Ready for the game; what `auto` measured is told."""
    if weights is None:
        return Opened(rules, native_evaluator(stand_in, seed), SearchOptions(), stand_in)
    opened = open_network(weights, rules, backend)
    tell_choice(opened.evaluator.choice)
    return opened


def tell_choice(choice: Sequence[Mapping[str, Any]]) -> None:
    """What `auto` took, if it measured anything; on the error stream, apart from the answer."""
    if choice:
        print(choice_text(choice), file=sys.stderr, flush=True)
