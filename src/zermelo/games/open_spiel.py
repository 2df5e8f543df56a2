"""OpenSpiel's games by their name: `open_spiel:breakthrough(rows=6,columns=6)`.

An adapter over `pyspiel` (extra `open_spiel`), imported when such a name is first asked for. A name
is data: it chooses among rules that OpenSpiel has compiled and runs nothing of whoever wrote it, so
a stranger's run may have one; games that are read from a file are refused. Knows no search.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import math
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError, nearest, one_line
from zermelo.games.protocol import Outcome
from zermelo.games.supported import not_supported

PREFIX = "open_spiel:"
PLAIN = "ansi_color_output"  # of some games: colours, which our boards do without
START = "-"  # the first position as text
_FROM_FILES = re.compile(r"\b(efg_game|nfg_game|crossword)\b")


class SpielState:
    """A position. OpenSpiel's own state in it is never changed after it was made."""

    __slots__ = ("game", "legal", "mover", "native")

    def __init__(self, game: OpenSpielGame, native: Any, mover: int) -> None:
        self.game = game
        self.native = native
        current = native.current_player()
        self.mover = current if current >= 0 else 1 - mover  # at the end, whose turn it would be
        self.legal: list[int] = native.legal_actions()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SpielState)
            and self.game.name == other.game.name
            and self.native.history() == other.native.history()
        )

    def __hash__(self) -> int:
        return hash((self.game.name, *self.native.history()))

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.game.name, self.native.history())

    def __str__(self) -> str:
        return str(self.native)

    def __repr__(self) -> str:
        return f"<{self.game.name} {self.game.position_text(self)!r}>"


class OpenSpielGame:
    """Rules of OpenSpiel with the six methods of a game.

    What a network sees is OpenSpiel's tensor for the player to move, with one more plane that tells
    which player that is: most of OpenSpiel's tensors show both players alike. The outcome is the
    sign of the first player's return; margins are not learned.
    """

    def __init__(self, native: Any) -> None:
        self.native = native
        self.name = PREFIX + str(native).removesuffix("()")
        self.num_actions: int = native.num_distinct_actions()
        self._planes = planes_of(native.observation_tensor_shape())
        planes, rows, columns = self._planes
        self.observation_shape = (planes + 1, rows, columns)
        self._observer: Any = None
        with contextlib.suppress(Exception):  # a few games have none
            observation = importlib.import_module("open_spiel.python.observation")
            self._observer = observation.make_observation(native)
        self._first = SpielState(self, native.new_initial_state(), 1)

    def initial(self) -> SpielState:
        """As OpenSpiel begins."""
        return self._first

    def legal_actions(self, state: SpielState) -> list[int]:
        """OpenSpiel's numbers, in its order."""
        return state.legal

    def play(self, state: SpielState, action: int) -> SpielState:
        """A new state."""
        if action not in state.legal:
            raise ValueError(f"action {action} is not legal")
        return SpielState(self, state.native.child(action), state.mover)

    def player(self, state: SpielState) -> int:
        """0 or 1."""
        return state.mover

    def outcome(self, state: SpielState) -> Outcome | None:
        """By the sign of the first player's return."""
        if not state.native.is_terminal():
            return None
        first = state.native.player_return(0)
        if first == 0:
            return Outcome.DRAW
        return Outcome.FIRST_WINS if first > 0 else Outcome.SECOND_WINS

    def observe(self, state: SpielState) -> NDArray[np.float32]:
        """The tensor, and a plane of ones where the second player moves."""
        planes, rows, columns = self._planes
        found = np.empty(self.observation_shape, np.float32)
        found[:planes] = self._tensor(state).reshape(planes, rows, columns)
        found[planes] = state.mover
        return found

    def hash(self, state: SpielState) -> int:
        """Of all that can be seen of a position: tensor, text, legal actions, mover."""
        digest = hashlib.blake2b(self._tensor(state).tobytes(), digest_size=8)
        digest.update(str(state.native).encode())
        digest.update(np.array([state.mover, *state.legal], np.int32).tobytes())
        return int.from_bytes(digest.digest(), "little")

    def action_text(self, state: SpielState, action: int) -> str:
        """OpenSpiel's name for it."""
        return one_line(state.native.action_to_string(state.mover, action))

    def parse_action(self, state: SpielState, text: str) -> int:
        """By name, in capitals or not, else by number."""
        wanted = one_line(text)
        names = {self.action_text(state, action): action for action in state.legal}
        if wanted in names:
            return names[wanted]
        folded = [action for name, action in names.items() if name.lower() == wanted.lower()]
        if len(folded) == 1:
            return folded[0]
        if wanted.isdecimal() and int(wanted) in state.legal:
            return int(wanted)
        raise ValueError(f"'{text}' is not legal here; legal are {', '.join(names)}")

    def position_text(self, state: SpielState) -> str:
        """The actions since the start by number: positions of all games can be told so."""
        return " ".join(str(action) for action in state.native.history()) or START

    def parse_position(self, text: str) -> SpielState:
        """The position after these actions."""
        state = self._first
        for word in () if text.strip() == START else text.split():
            if not word.isdecimal() or int(word) not in state.legal:
                raise ValueError(f"'{text}': '{word}' is no legal action's number there")
            state = self.play(state, int(word))
        return state

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _tensor(self, state: SpielState) -> NDArray[np.float32]:
        """Flat; the observer's own memory, valid until the next call."""
        if self._observer is None:
            return np.array(state.native.observation_tensor(state.mover), np.float32)
        self._observer.set_from(state.native, state.mover)
        return np.asarray(self._observer.tensor, np.float32)


def restore(name: str, history: list[int]) -> SpielState:
    """A pickled state."""
    from zermelo.games.registry import named_game

    game: Any = named_game(name)
    state: SpielState = game.initial()
    for action in history:
        state = game.play(state, action)
    return state


def open_spiel_game(spec: str) -> OpenSpielGame:
    """The game of a text with the prefix; a UserError names the property that it lacks."""
    text = spec.removeprefix(PREFIX).strip()
    spiel = _spiel()
    short = text.partition("(")[0].strip()
    types = {kind.short_name: kind for kind in spiel.registered_games()}
    if short not in types:
        close = nearest(short, types)
        hint = close if close.startswith("did") else "docs/games/open_spiel.md lists them"
        raise UserError(f"OpenSpiel has no game '{short}'; {hint}")
    if _FROM_FILES.search(text):
        raise UserError(f"{PREFIX}{text} is read from a file, which a game's name must not ask for")
    kind = types[short]
    wraps = "game" in kind.parameter_specification  # then the game inside tells the properties
    if not wraps:
        _refuse(text, missing_property(spiel, kind))
    if PLAIN in kind.parameter_specification and PLAIN not in text:
        given = text.partition("(")[2].rpartition(")")[0]
        text = f"{short}({given}{',' if given else ''}{PLAIN}=False)"
    try:
        with _silent_errors():
            native = spiel.load_game(text)
    except Exception as error:
        reason = str(error).split("\n", 1)[0]
        raise UserError(f"OpenSpiel cannot make '{text}': {one_line(reason)}") from None
    _refuse(text, missing_property(spiel, native.get_type(), native.num_players()))
    return OpenSpielGame(native)


def missing_property(spiel: Any, kind: Any, players: int | None = None) -> str:
    """Why a type of game cannot be learned, as the end of a sentence; "" if it can."""
    of = spiel.GameType
    if (players is not None and players != 2) or not kind.min_num_players <= 2 <= (
        kind.max_num_players
    ):
        return "it is not for two players"
    if kind.dynamics != of.Dynamics.SEQUENTIAL:
        return "players do not move in turns"
    if kind.chance_mode != of.ChanceMode.DETERMINISTIC:
        return "it has chance"
    if kind.information != of.Information.PERFECT_INFORMATION:
        return "it hides information from a player"
    if kind.utility != of.Utility.ZERO_SUM:
        return "it is not zero-sum"
    if not kind.provides_observation_tensor:
        return "it shows a network nothing (no observation tensor)"
    return ""


def planes_of(shape: list[int]) -> tuple[int, int, int]:
    """OpenSpiel's shape as planes, rows and columns; numbers without places become planes."""
    if len(shape) == 3:
        return shape[0], shape[1], shape[2]
    if len(shape) == 2:
        side = math.isqrt(shape[1])
        return (shape[0], side, side) if side * side == shape[1] else (shape[0], 1, shape[1])
    if len(shape) < 2:
        return math.prod(shape), 1, 1
    return math.prod(shape[:-2]), shape[-2], shape[-1]


def _refuse(text: str, lacks: str) -> None:
    if lacks:
        raise UserError(f"{PREFIX}{text} is {not_supported(lacks)}")


def _spiel() -> Any:
    if importlib.util.find_spec("pyspiel") is None:
        raise UserError("OpenSpiel's games need the package 'open_spiel': zermelo[open_spiel]")
    return importlib.import_module("pyspiel")


@contextlib.contextmanager
def _silent_errors() -> Iterator[None]:
    """OpenSpiel prints what it raises, from C++, where only the descriptor can be turned away."""
    try:
        kept = os.dup(2)
    except OSError:  # there is no such stream
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
