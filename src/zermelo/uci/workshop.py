"""Makes what a search needs from the options, and keeps it until they change.

Owner: the searching thread. Problems are said and worked around: where a network cannot be loaded
the last good one stays, at first the package's own; a book or tablebase that cannot be read is done
without.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from zermelo import _core
from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games import game as find_game
from zermelo.search import LiveSearch, SearchOptions
from zermelo.uci import networks
from zermelo.uci.contempt import draw_score
from zermelo.uci.networks import Network
from zermelo.uci.options import Settings

Load = Callable[[str, str, str], Network]
CACHE_SHARE = 0.5  # of the machine's memory, at most


class Workshop:
    """Network, tablebase, book, and the search made of them."""

    def __init__(
        self, say: Callable[[str], None], load: Load = networks.load, own: str = ""
    ) -> None:
        """`own` is the network to take when WeightsFile is empty."""
        self.network = networks.without_network()
        self.tablebase: Any = None  # zermelo.players.chess_tablebase.Tablebase
        self.book: Any = None  # zermelo.players.chess_book.Book
        self.live: LiveSearch | None = None
        self.refused = ""  # why the network that was asked for is not the one that searches
        self._say = say
        self._load = load
        self._own = own
        self._made: dict[str, Any] = {}  # from what each part was made
        self._to_warm: Iterator[Callable[[], None]] = iter(())
        self._processors = available_cores()

    def ready(self, settings: Settings) -> None:
        """Loads what the options name and is not loaded yet; says what came of it."""
        self._ready_network(settings)
        self._plan_warming(settings)
        self._ready_file("tablebase", settings["SyzygyPath"], _open_tablebase)
        book = settings["BookFile"] if settings["OwnBook"] else ""
        self._ready_file("book", book, lambda path: _open_book(path, settings["Seed"]))

    def search_for(
        self,
        settings: Settings,
        chess960: bool,
        counted: bool = False,
        gumbel: bool = True,
        analysis: bool = False,
    ) -> LiveSearch:
        """The search of these options, with its tree if it has not changed.

        `counted` says whether the number of simulations is known beforehand. Without `gumbel` the
        visits say how good a move is, whatever the network's own root is. In `analysis` there is
        no opponent.
        """
        self.ready(settings)
        name = f"chess?encoder={self.network.encoder}&chess960={'on' if chess960 else 'off'}"
        options = self.search_options(settings, counted)
        options.gumbel = options.gumbel and gumbel
        if not analysis and "DrawScore" not in settings.given:
            options.draw_score = draw_score(settings.values) or options.draw_score
        made_of = (name, options.to_dict(), self.network, self.tablebase)
        if self.live is None or self._made.get("search") != made_of:
            self.live = None  # its memory is free before the new one takes some
            game = find_game(name)
            self.live = LiveSearch(game, self._evaluator(game.num_actions), options)
            limit = settings["RamLimitMb"]
            if limit and options.cache_mib == limit // 2:
                self._say(f"the cache takes at most {options.cache_mib} MiB, half of RamLimitMb")
            self._made["search"] = made_of
        return self.live

    def search_options(self, settings: Settings, counted: bool = False) -> SearchOptions:
        """What the search is told; the cache is bounded by the machine's memory and RamLimitMb.

        All of the cache counts as used, so it must leave room for a tree.
        """
        options = settings.search_options(
            self.network.trained,
            self._processors,
            cache_entry_bytes(),
            self.network.search,
            counted,
        )
        most = int(memory_bytes() * CACHE_SHARE) >> 20
        if settings["RamLimitMb"]:
            most = min(most, settings["RamLimitMb"] // 2)
        options.cache_mib = min(int(options.cache_mib), most)
        return options

    def make_all(self, settings: Settings) -> None:
        """Everything that the next search on the clock would else have to make first."""
        while self.warm_a_little():
            pass
        if self.live is None:
            self.search_for(settings, settings["UCI_Chess960"])

    def warm_a_little(self) -> bool:
        """One more piece of what would else be done during a search; False when all is done."""
        step = next(self._to_warm, None)
        if step is not None:
            step()
        return step is not None

    def _ready_network(self, settings: Settings) -> None:
        file = settings["WeightsFile"] or self._own
        wanted = (file, settings["Backend"], settings["Precision"])
        if self._made.get("network") == wanted:
            return
        self._made["network"] = wanted
        self.refused = ""
        try:
            found = self._opened(wanted)
        except Exception as error:
            found = self._in_place_of(wanted)
            self.refused = f"{error}; searching with {found.text}"
            self._say(f"error {error}")
        self.network = found
        self._say(self.network.text)

    def _opened(self, wanted: tuple[str, str, str]) -> Network:
        if wanted[0] in ("", networks.NONE):
            return networks.without_network()
        return networks.answering(self._load(*wanted))

    def _in_place_of(self, refused: tuple[str, str, str]) -> Network:
        """The last good network, at first the package's own; equal priors if there is neither."""
        if self.network.trained or not self._own or refused[0] == self._own:
            return self.network
        try:
            return self._opened((self._own, "auto", "f32"))
        except Exception as error:
            self._say(f"error {error}")
            return self.network

    def _plan_warming(self, settings: Settings) -> None:
        options = self.search_options(settings)
        threads, leaves = int(options.threads), int(options.leaves_per_tree)
        if self._made.get("warm") != (self.network, threads, leaves):
            self._made["warm"] = (self.network, threads, leaves)
            self._to_warm = networks.warming_steps(self.network, threads, leaves)

    def _ready_file(self, kind: str, path: str, opened: Callable[[str], Any]) -> None:
        if self._made.get(kind, "") == path:
            return
        self._made[kind] = path
        old, made = getattr(self, kind), None
        if path:
            try:
                made = opened(path)
            except UserError as error:
                self._say(f"error {error}")
            except Exception as error:
                self._say(f"error the {kind} '{path}' cannot be read: {error}")
        setattr(self, kind, made)
        if old is not None:
            if kind == "tablebase":
                self.live = None  # its evaluator asks the old tables
            old.close()

    def _evaluator(self, num_actions: int) -> Evaluator:
        if self.tablebase is None:
            return self.network.evaluator
        from zermelo.players.chess_tablebase import TablebaseEvaluator

        inner = self.network.evaluator if callable(self.network.evaluator) else None
        return TablebaseEvaluator(inner, self.tablebase, self.network.encoder, num_actions)


def _open_tablebase(path: str) -> Any:
    from zermelo.players.chess_tablebase import Tablebase

    return Tablebase(path)


def _open_book(path: str, seed: int) -> Any:
    from zermelo.players.chess_book import Book

    return Book(path, seed)


def cache_entry_bytes() -> int:
    """Memory of one cached evaluation of a chess position."""
    return (1 << 20) // int(_core.EvaluationCache(1, _core.Chess().num_actions).capacity)


def memory_bytes() -> int:
    """Of the machine; 4 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 4 << 30
