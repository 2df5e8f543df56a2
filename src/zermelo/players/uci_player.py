"""An external chess engine as a player: `uci:stockfish?UCI_Elo=1500&seconds=0.1`.

With `base` and `increment` it has a clock for the game, which this player keeps.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zermelo.errors import REFUSALS, UserError
from zermelo.games.notation import action_text, parse_action, position_text
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.players.protocol import MoveReport, PlayerError
from zermelo.search.path import path_between

if TYPE_CHECKING:
    import chess
    import chess.engine

    from zermelo.players.uci_engine import UciEngine

SECONDS = 0.1  # for a move, if nothing else limits it
GRACE, CLOCK_GRACE = 2.0, 0.01  # seconds: a fixed time is a wish, a clock is not
GAMES_FOLDERS = ("/usr/games", "/usr/local/games")  # not on everybody's PATH


class UciPlayer:
    """Starts its engine when it is first needed, and again after the engine failed.

    The engine sees the moves since it was first asked in this game, so it knows repetitions.
    """

    def __init__(
        self,
        game: Game,
        command: list[str],
        seconds: float | None = None,
        nodes: int | None = None,
        depth: int | None = None,
        base: float | None = None,
        increment: float = 0.0,
        start: float = 10.0,
        grace: float | None = None,
        stall: float = 20.0,
        options: Mapping[str, str] | None = None,
        text: str = "",
    ) -> None:
        """`options` are the engine's own; `text` is how the command was spelled.

        `base` is the clock at the beginning of a game and `increment` what each move adds, both in
        seconds. The opponent's clock is not known here: the engine is told its own for both.
        """
        if kind_of(game) != "chess":
            raise UserError(f"{text or command[0]}: UCI engines play chess, not {game.name}")
        limits = {"seconds": seconds, "nodes": nodes, "depth": depth, "base": base}
        self._check(limits | {"stall": stall})
        if base is not None and seconds is not None:
            raise UserError("uci: either base, a clock, or seconds, a fixed time, but not both")
        if not 0 <= increment < math.inf:
            raise UserError(f"uci: increment must be 0 or more, not {increment:g}")
        if increment and base is None:
            raise UserError("uci: an increment needs a base")
        if all(limit is None for limit in limits.values()):
            seconds = limits["seconds"] = SECONDS
        own = limits | {"increment": increment or None}
        usual = GRACE if base is None else CLOCK_GRACE
        if grace is None:
            grace = usual
        if (start, grace, stall) != (10.0, usual, 20.0):
            own |= {"start": start, "grace": grace, "stall": stall}
        settings = {key: value for key, value in own.items() if value is not None}
        listing = [f"{key}={value}" for key, value in (settings | dict(options or {})).items()]
        self.name = f"{text or 'uci:' + shlex.join(command)}?{'&'.join(listing)}"
        self.command = command
        self.options = dict(options or {})
        self._limits = {"time": seconds, "nodes": nodes, "depth": depth}
        self._base, self._increment = base, increment
        self._clock = base or 0.0  # what is left of it in this game
        self._patience = (start, grace, stall)
        self._engine: UciEngine | None = None
        self._number = 0  # of the game, for `ucinewgame`
        self._board: chess.Board | None = None
        self._after: State | None = None  # the position of `_board`
        self._report: MoveReport | None = None
        self._refused: PlayerError | None = None  # it could not be started for this game

    def start_game(self) -> None:
        """The engine is told of a new game before its next move."""
        self._number += 1
        self._clock = self._base or 0.0
        self._board = self._after = self._report = self._refused = None

    def prepare(self, game: Game) -> None:  # noqa: ARG002
        """Starts the engine; an engine that cannot be started fails later, in its game."""
        try:
            self._running()
        except PlayerError as error:
            self._refused = error

    def try_out(self) -> None:
        """Starts the engine and ends it again; a UserError says why it cannot play."""
        try:
            self._running()
        except PlayerError as error:
            raise UserError(f"'{self.name}' cannot play: {error}") from None
        finally:
            self.close()

    def report(self) -> MoveReport | None:
        """The engine's score as a value, and its nodes."""
        return self._report

    def close(self) -> None:
        """Ends the engine; the next choice starts it again."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def choose(self, game: Game, state: State) -> int:
        """The engine's move; PlayerError if there is none."""
        if self._refused is not None:
            raise self._refused
        engine = self._running()
        board = self._board_at(game, state)
        limit, seconds = self._limit()
        try:
            result = engine.play(board, limit, self._number, seconds)
        except BaseException:
            self._engine = None  # a new one for the next game
            raise
        assert result.move is not None
        self._report = _report_of(result.info)
        if self._base is not None:
            self._clock = max(self._clock - engine.seconds, 0.0) + self._increment
        try:
            action = parse_action(game, state, board.uci(result.move))
        except REFUSALS as error:
            self.close()
            raise PlayerError("illegal move", str(error)) from error
        board.push(result.move)
        self._after = game.play(state, action)
        return action

    def _limit(self) -> tuple[chess.engine.Limit, float | None]:
        """What the engine is told, and after how many seconds its time is over."""
        import chess.engine

        limits: dict[str, Any] = dict(self._limits)
        if self._base is None:
            return chess.engine.Limit(**limits), limits["time"]
        limits |= {"white_clock": self._clock, "black_clock": self._clock}
        limits |= {"white_inc": self._increment, "black_inc": self._increment}
        return chess.engine.Limit(**limits), self._clock

    def _running(self) -> UciEngine:
        if self._engine is None:
            from zermelo.players.uci_engine import Patience, UciEngine

            self._engine = UciEngine(self.command, self.options, Patience(*self._patience))
        return self._engine

    def _board_at(self, game: Game, state: State) -> chess.Board:
        """The last board with the opponent's answer, or a new one."""
        import chess

        if self._board is not None and self._after is not None:
            path = path_between(game, self._after, state)
            for action in path or ():  # one: in chess a turn is one action
                self._board.push_uci(action_text(game, self._after, action))
            if path is not None:
                return self._board
        chess960 = "chess960=on" in game.name
        self._board = chess.Board(position_text(game, state), chess960=chess960)
        return self._board

    @staticmethod
    def _check(limits: Mapping[str, float | None]) -> None:
        for name, value in limits.items():
            if value is not None and not 0 < value < math.inf:
                raise UserError(f"uci: {name} must be above 0, not {value:g}")


def engine_command(text: str) -> list[str]:
    """The program and its arguments; UserError if there is no such program."""
    words = shlex.split(text)
    if not words:
        raise UserError("uci: which engine? Write uci:stockfish, or uci:PATH")
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *GAMES_FOLDERS))
    found = shutil.which(words[0], path=path)
    if found is None:
        raise UserError(f"there is no program '{words[0]}' to be run as a UCI engine")
    return [found, *words[1:]]


def _report_of(info: Any) -> MoveReport:
    score = info.get("score")
    nodes = int(info.get("nodes", 0))
    if score is None:
        return MoveReport(None, nodes)
    value = 2.0 * score.relative.wdl(model="sf").expectation() - 1.0
    pawns = score.relative.score()
    text = f"#{score.relative.mate()}" if pawns is None else f"{pawns / 100:+.2f}"
    return MoveReport(value, nodes, f"{text}/{info.get('depth', 0)}")
