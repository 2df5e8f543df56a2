"""Where the games of a match begin: random plies, or a book of positions or games.

Two games from one opening with colours swapped are a pair. No two openings are the same position,
nor mirror images of each other, and none goes through another while there are others, so that no
two pairs can have the same game.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from zermelo.errors import REFUSALS, UserError
from zermelo.files import refuse_special
from zermelo.games.notation import action_text, parse_action, parse_position
from zermelo.games.parameters import Setting, parse_settings, split_spec
from zermelo.games.protocol import Game, State, state_hash
from zermelo.games.registry import kind_of
from zermelo.games.symmetries import has_symmetries, image_hash
from zermelo.search import Search, SearchOptions, UniformEvaluator

RANDOM = "random"
DEFAULT = "random:4"
PATIENCE = 300  # random openings in a row that were of no use, before one ply more is tried
MORE_PLIES = 12
MAX_BOOK = 256 << 20  # bytes of a book's text
MAX_GROWTH = 100  # of a packed book; text grows by ten, a bomb by a thousand
_BOOK = (
    Setting("plies", 16, int, low=0),  # of a PGN's games
    Setting("order", RANDOM, str, choices=(RANDOM, "given")),
)


@dataclass(frozen=True)
class Opening:
    """A position, and actions from there, in the game's notation."""

    position: str = ""  # "" is the position in which every game begins
    actions: tuple[str, ...] = ()

    def states(self, game: Game) -> list[State]:
        """The first position and the one after each action."""
        state = parse_position(game, self.position) if self.position else game.initial()
        states = [state]
        for text in self.actions:
            states.append(game.play(states[-1], parse_action(game, states[-1], text)))
        return states

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"position": self.position, "actions": list(self.actions)}

    @classmethod
    def from_dict(cls, values: Any) -> Opening:
        """What `to_dict` gave."""
        return cls(values["position"], tuple(values["actions"]))


def make_openings(game: Game, source: str, count: int, seed: int) -> list[Opening]:
    """The first `count` openings of `random:4`, `start` or a book's file.

    They depend on the source and the seed alone: a longer match has the same first openings. If
    there are not as many, they come again from the first on, which makes duplicate games likely.
    """
    if source == "start":
        found = [Opening()]
    elif source == RANDOM or source.startswith(RANDOM + ":"):
        found = _random_openings(game, _plies(source), count, seed)
    else:
        found = _book_openings(game, source, count, seed)
    if not found:
        raise UserError(f"openings '{source}': there is none from which {game.name} can go on")
    return [found[i % len(found)] for i in range(count)]


def source_digest(source: str) -> str:
    """A hash of a book's content, "" for openings that are not from a file."""
    name, _ = split_spec(source)
    if source == "start" or name.partition(":")[0] == RANDOM:
        return ""
    return hashlib.sha256(_read(name)).hexdigest()


def canonical_hash(game: Game, state: State) -> int:
    """The same for all mirror images of a position."""
    return image_hash(game, state) if has_symmetries(game) else state_hash(game, state)


class Decided:
    """A quick look whether a position is won or lost, by a small search that proves results."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._search = Search(game, UniformEvaluator(), SearchOptions(cache_mib=0))

    def __call__(self, state: State) -> bool:
        self._search.clear()
        simulations = 64 + len(list(self._game.legal_actions(state)))
        proven = self._search.run(state, simulations).proven
        return proven is not None and proven.result != 0


# --- random plies ---------------------------------------------------------------------------------


def _plies(source: str) -> int:
    text = source.partition(":")[2] or DEFAULT.partition(":")[2]
    if not text.isdecimal():
        raise UserError(f"openings '{source}': it should look like {DEFAULT}")
    return int(text)


def _random_openings(game: Game, plies: int, count: int, seed: int) -> list[Opening]:
    """Different openings; where there are too few of so many plies, also longer ones.

    Next come those that go through another opening, whose games may be the same. In a game whose
    positions are all won or lost, such as Nim, these are used, and if it is too short the start.
    """
    chance = random.Random(f"openings {seed}")
    choice = _Choice(game, Decided(game))
    lengths = range(plies, plies + MORE_PLIES + 1)
    found = list(choice.openings(lengths, count, chance))
    if found:
        choice.may_go_through = True
        return found + list(choice.openings(lengths, count - len(found), chance))
    anything = _Choice(game, decided=None)
    found = list(anything.openings(lengths, count, chance))
    return found or ([Opening()] if game.outcome(game.initial()) is None else [])


class _Choice:
    """Which random lines are openings: new, undecided, and not through one that was taken.

    Without `decided` also those that are won or lost.
    """

    def __init__(self, game: Game, decided: Decided | None) -> None:
        self.may_go_through = False
        self._game = game
        self._decided = decided
        self._seen: set[int] = set()  # positions that are taken or decided
        self._taken: dict[int, set[int]] = {}  # positions of the openings, by their plies

    def openings(self, lengths: range, count: int, chance: random.Random) -> Iterator[Opening]:
        """So many at most, the short ones first."""
        made = 0
        for plies in lengths:
            useless = 0
            while made < count and useless < PATIENCE:
                opening, states = _random_line(self._game, plies, chance)
                if opening is None or not self._takes(states):
                    useless += 1
                else:
                    made, useless = made + 1, 0
                    yield opening

    def _takes(self, states: list[State]) -> bool:
        key = canonical_hash(self._game, states[-1])
        if key in self._seen or (not self.may_go_through and self._goes_through(states)):
            return False
        self._seen.add(key)
        if self._decided is not None and self._decided(states[-1]):
            return False
        self._taken.setdefault(len(states) - 1, set()).add(key)
        return True

    def _goes_through(self, states: list[State]) -> bool:
        return any(
            canonical_hash(self._game, states[plies]) in keys
            for plies, keys in self._taken.items()
            if plies < len(states) - 1
        )


def _random_line(
    game: Game, plies: int, chance: random.Random
) -> tuple[Opening | None, list[State]]:
    """The line and its positions; None if the game ended."""
    states, texts = [game.initial()], []
    for _ in range(plies):
        if game.outcome(states[-1]) is not None:
            return None, states
        action = chance.choice(list(game.legal_actions(states[-1])))
        texts.append(action_text(game, states[-1], action))
        states.append(game.play(states[-1], action))
    return (None if game.outcome(states[-1]) is not None else Opening("", tuple(texts))), states


# --- books ----------------------------------------------------------------------------------------


def _book_openings(game: Game, source: str, count: int, seed: int) -> list[Opening]:
    name, given = split_spec(source)
    settings: dict[str, Any] = {"plies": 16, "order": RANDOM} | parse_settings(name, _BOOK, given)
    text = _text(_read(name), name)
    inner = name.removesuffix(".gz").removesuffix(".zip")
    entries: list[tuple[int, str | Opening]] = []  # a line's number, and what it says
    if inner.endswith(".pgn"):
        entries += _pgn_openings(game, text, settings["plies"])
    else:
        entries += _rows(text)
    if settings["order"] == RANDOM:
        random.Random(f"book {seed}").shuffle(entries)
    found: list[Opening] = []
    seen: set[int] = set()
    for line, entry in entries:
        if len(found) == count:
            break
        opening = _line_opening(game, entry) if isinstance(entry, str) else entry
        try:
            state = opening.states(game)[-1]
        except REFUSALS as error:
            raise UserError(f"{name} line {line}: {error}") from None
        key = canonical_hash(game, state)
        if key not in seen and game.outcome(state) is None:
            found.append(opening)
        seen.add(key)
    return found


def _read(name: str) -> bytes:
    refuse_special(Path(name))
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UserError(
            f"openings '{name}': it is no book that can be read ({error.strerror}), and neither "
            f"'start' nor '{DEFAULT}'"
        ) from None


def _text(data: bytes, name: str) -> str:
    """Unpacked, if it was packed; a little file may be packed of an endless one."""
    packed: Any
    try:
        if name.endswith(".gz"):
            source = io.BytesIO(data)
            with gzip.open(source) as packed:
                data = _unpacked(packed, source, name)
        elif name.endswith(".zip"):
            source = io.BytesIO(data)
            archive = zipfile.ZipFile(source)
            with archive, archive.open(archive.namelist()[0]) as packed:
                data = _unpacked(packed, source, name)
        if len(data) <= MAX_BOOK:
            return _decoded(data)
    except UserError:
        raise
    except (
        OSError,
        EOFError,
        RuntimeError,  # a zip with a password, or packed in a way that is not known here
        ValueError,  # no text, or places outside the file
        IndexError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        raise UserError(f"openings '{name}': it is damaged or no text") from None
    raise UserError(f"openings '{name}': it has more than {MAX_BOOK >> 20} MiB")


def _unpacked(packed: IO[bytes], source: io.BytesIO, name: str) -> bytes:
    """Piece by piece, up to the largest book; what grows as no text does is refused before that."""
    found = bytearray()
    while len(found) <= MAX_BOOK and (piece := packed.read(1 << 20)):
        found += piece
        if len(found) > MAX_GROWTH * source.tell() + (16 << 20):
            raise UserError(f"openings '{name}': it unpacks to more than a book can hold")
    return bytes(found)


def _decoded(data: bytes) -> str:
    """UTF-8 or, as in old PGN, Latin-1, in which anything without a zero byte is text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        if b"\0" in data:
            raise
        return data.decode("latin-1")


def _rows(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def _line_opening(game: Game, line: str) -> Opening:
    """A position of the game, or for chess a line of EPD, of which the position is taken."""
    if kind_of(game) != "chess":
        return Opening(line)
    fields = line.split()
    clocks = fields[4:6]
    whole = len(clocks) == 2 and all(clock.isdecimal() for clock in clocks)
    return Opening(" ".join(fields[:6] if whole else fields[:4]))


def _pgn_openings(game: Game, text: str, plies: int) -> list[tuple[int, Opening]]:
    """The first plies of each game, numbered by game."""
    import chess

    from zermelo.games.pgn import check_variant, read_pgn_game

    if kind_of(game) != "chess":
        raise UserError(f"a PGN book is for chess, not for {game.name}")
    found: list[tuple[int, Opening]] = []
    stream = io.StringIO(text)
    while (read := read_pgn_game(stream)) is not None:
        check_variant(read.headers, f"game {len(found) + 1} of the book")
        if read.errors:
            raise UserError(f"game {len(found) + 1} of the book: {read.errors[0]}")
        start = read.board()
        position = "" if start.fen() == chess.STARTING_FEN else start.fen()
        moves = [start.uci(move) for move in list(read.mainline_moves())[:plies]]
        found.append((len(found) + 1, Opening(position, tuple(moves))))
    return found
