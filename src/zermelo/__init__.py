"""Zermelo learns a board game from nothing by playing itself, searches it, and plays it.

Begin with a game that it knows, and a player that comes with the package:

    import zermelo

    player = zermelo.load("connect4")          # or a run, a network file, your own my_game.py
    state = player.after("4", "4", "5")        # a position, by moves from the start
    result = player.analyse(state)             # visits, values and lines of every move
    print(result.best.text, result.value)      # values are in [-1, 1] for the player to move
    move = player.play(state)                  # the move that it plays, and the state after it
    player.evaluate(state).policy              # what the network thinks without a search

Let it learn a game, also one of your own (a class with six methods), and look at the run:

    run = zermelo.train("my_game.py", minutes=5)
    run.metrics["training/loss"]               # one value per iteration; .frame() for pandas
    run.games()[0].moves                       # self-play games, newest first
    run.player().play()                        # the newest network plays

Search with any evaluator of yours (a function from observations to policies and values):

    search = zermelo.Search("connect4", zermelo.RolloutEvaluator(), zermelo.SearchOptions(c_puct=2))
    search.run(state, simulations=2000)

`zermelo.game("hex?size=7")` is a game's rules, `zermelo.game_names()` lists the known games,
`zermelo.check_game(game)` says whether your own is sound, and `zermelo.draw(game, state)` draws.
A mistake in what was asked for is a `zermelo.UserError`, a `ValueError` of one sentence. The rooms
below (`zermelo.search`, `zermelo.players`, `zermelo.matches`, ...) have everything else.
"""

import zermelo.processes.early  # noqa: F401 - before what takes long

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zermelo.errors import UserError
from zermelo.games import Game, Outcome, board_symmetries, game, game_names

if TYPE_CHECKING:
    from zermelo.front import (
        LoadedPlayer,
        RolloutEvaluator,
        Search,
        SearchOptions,
        SearchResult,
        TrainingRun,
        UniformEvaluator,
        check_game,
        draw,
        load,
        train,
    )

__version__ = "0.1.0"
__all__ = [
    "Game",
    "LoadedPlayer",
    "Outcome",
    "RolloutEvaluator",
    "Search",
    "SearchOptions",
    "SearchResult",
    "TrainingRun",
    "UniformEvaluator",
    "UserError",
    "board_symmetries",
    "check_game",
    "draw",
    "game",
    "game_names",
    "load",
    "train",
]

# Imported when they are first asked for, so that `import zermelo` stays quick.
_LATER = {
    **dict.fromkeys(("LoadedPlayer", "TrainingRun", "draw", "load"), "zermelo.front"),
    **dict.fromkeys(
        ("RolloutEvaluator", "Search", "SearchOptions", "SearchResult", "UniformEvaluator"),
        "zermelo.search",
    ),
    "check_game": "zermelo.testing",
}


def __getattr__(name: str) -> Any:
    if name == "train":  # the room of that name is also the function: see there
        return import_module("zermelo.train")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
