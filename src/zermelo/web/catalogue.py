"""What visitors can ask for by id: games, opponents, networks. Nothing else is ever opened.

Ids are made here, from what the person who started the page named and from what comes with the
package; a request's text is looked up, never opened. Threads: any may call anything.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zermelo.errors import REFUSALS, UserError
from zermelo.games.protocol import Game
from zermelo.games.registry import game as find_game
from zermelo.games.registry import game_entries, kind_of, named_game
from zermelo.network.open import open_weights
from zermelo.network.places import CHECKPOINTS, shipped_network, whole_checkpoints
from zermelo.network.runtimes import installed_backends
from zermelo.web.refusal import Refusal
from zermelo.web.settings import WebSettings
from zermelo.web.training.library import Library

# Native games as they are offered: with which settings, how people call them and their two sides.
_OFFERED = (
    ("connect4", "Connect Four", ("Red", "Yellow")),
    ("tictactoe", "Tic-tac-toe", ("X", "O")),
    ("othello?size=6", "Othello 6×6", ("Black", "White")),
    ("othello", "Othello", ("Black", "White")),
    ("hex?size=5", "Hex 5×5", ("Red", "Blue")),
    ("hex?size=7&swap=on", "Hex 7×7", ("Red", "Blue")),
    ("hex?swap=on", "Hex 11×11", ("Red", "Blue")),
    ("checkers", "Checkers", ("Black", "White")),
    ("chess", "Chess", ("White", "Black")),
    ("chess?chess960=on", "Chess960", ("White", "Black")),
)
SIDES = ("First", "Second")
ROLLOUT, RANDOM, PERFECT = "rollout", "random", "perfect"  # players without a network
EXACT = ("tictactoe", "connect4")  # kinds with a perfect player


@dataclass(frozen=True)
class OfferedGame:
    """A game with its names."""

    id: str
    title: str
    summary: str
    sides: tuple[str, str]
    rules: Game

    @property
    def kind(self) -> str:
        """A native game's name without settings."""
        return kind_of(self.rules)


@dataclass(frozen=True)
class OfferedNetwork:
    """A network: where it lies is the server's affair."""

    id: str
    title: str
    detail: str
    reference: str
    game: str  # the rules' name it was made for

    def fits(self, offered: OfferedGame) -> bool:
        """Whether it can play that game; chess is seen by an encoder of the network's own."""
        if offered.kind == "chess":
            return self.game.partition("?")[0] == "chess"
        return self.game == offered.rules.name


class Catalogue:
    """Looked up by id; runs are looked at anew now and then, since they grow."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self.library = Library(settings.runs)
        self._games = {offered.id: offered for offered in _offered_games(settings)}
        self._lock = threading.Lock()
        self._kinds: dict[str, str] = {}  # guarded: a run's game by its directory
        self._fixed = {n.id: n for n in self._fixed_networks()}

    @property
    def games(self) -> list[OfferedGame]:
        """All of them, in the order in which they are shown."""
        return list(self._games.values())

    def game(self, ident: str) -> OfferedGame:
        """Of that id; a Refusal if there is none."""
        found = self._games.get(ident)
        if found is None:
            raise Refusal(404, "there is no such game here")
        return found

    def networks(self, offered: OfferedGame) -> list[OfferedNetwork]:
        """That can play the game, best first; none if nothing can run them."""
        if not installed_backends():
            return []
        return [n for n in (*self._run_networks(), *self._fixed.values()) if n.fits(offered)]

    def network(self, ident: str, offered: OfferedGame) -> OfferedNetwork:
        """Of that id, for that game; a Refusal if there is none."""
        for found in self.networks(offered):
            if found.id == ident:
                return found
        raise Refusal(404, "there is no such network for this game here")

    def runs(self) -> dict[str, Path]:
        """Every run below the directories that were named, by id; the id of a place stays."""
        return self.library.paths()

    def _fixed_networks(self) -> Iterator[OfferedNetwork]:
        for number, reference in enumerate(self._settings.networks, 1):
            game = open_weights(reference).architecture.game  # a bad file is refused at the start
            name = Path(reference).name
            yield OfferedNetwork(f"file-{number}", name, "named at the start", reference, game)
        for offered in self._games.values():
            shipped = shipped_network(offered.rules) if offered.kind else None
            if shipped is not None:
                name = offered.rules.name
                yield OfferedNetwork(
                    f"shipped-{Path(shipped).stem}", "Zermelo", "comes with the package",
                    shipped, name,
                )  # fmt: skip

    def _run_networks(self) -> Iterator[OfferedNetwork]:
        """The newest checkpoint of each run."""
        for ident, run in self.runs().items():
            whole = whole_checkpoints(run / CHECKPOINTS)
            if not whole:
                continue
            game = self._game_of(whole[-1])
            if game:
                detail = f"checkpoint {int(whole[-1].name)}"
                yield OfferedNetwork(ident, run.name, detail, str(whole[-1]), game)

    def _game_of(self, checkpoint: Path) -> str:
        key = str(checkpoint.parent)
        with self._lock:
            if key not in self._kinds:
                try:
                    self._kinds[key] = open_weights(str(checkpoint)).architecture.game
                except (*REFUSALS, OSError):
                    return ""  # being removed, or damaged: not offered now
            return self._kinds[key]


def _offered_games(settings: WebSettings) -> Iterator[OfferedGame]:
    summaries = {entry.name: entry.summary for entry in game_entries()}
    for spec, title, sides in _OFFERED:
        summary = summaries[spec.partition("?")[0]]
        yield OfferedGame(spec, title, summary, sides, named_game(spec))
    for number, spec in enumerate(settings.games, 1):
        rules = find_game(spec)
        if not callable(getattr(rules, "cells", None)):
            raise UserError(f"{spec}: the page can show a game that has cells; see the guide")
        yield OfferedGame(f"own-{number}", rules.name, "a game in Python", SIDES, rules)
