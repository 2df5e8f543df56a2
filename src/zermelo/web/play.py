"""The games that visitors play: `Tables` remembers them, lets opponents answer, and tells watchers.

A game that nobody used for long is forgotten, the oldest first if there are too many; the page can
bring it back, since it knows all moves. Owner: the event loop; players think in the room's threads.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict

from zermelo.errors import one_line, users_sentence
from zermelo.games.notation import parse_action
from zermelo.games.protocol import State
from zermelo.players.game_in_progress import GameInProgress
from zermelo.players.protocol import PlayerError
from zermelo.web import messages
from zermelo.web.catalogue import Catalogue, OfferedGame
from zermelo.web.connection import Connection
from zermelo.web.positions import Played, position_at, refusing
from zermelo.web.refusal import Refusal
from zermelo.web.room import Room
from zermelo.web.seats import Seats
from zermelo.web.settings import Bounds


class Table:
    """One game with its seats and whoever looks on."""

    def __init__(self, offered: OfferedGame, played: Played, request: messages.PlayNew) -> None:
        self.id = secrets.token_urlsafe(12)
        self.offered = offered
        self.start = request.line.start
        self.seats = request.seats
        self.board = GameInProgress(offered.rules, played.states[0])
        self.failure = ""
        self.used = time.monotonic()
        self.watchers: set[Connection] = set()
        self.thinking: asyncio.Task[None] | None = None

    def past(self) -> tuple[State, tuple[int, ...]]:
        """For players: where it began and what was played."""
        return self.board.states[0], self.board.actions

    def shown(self) -> messages.PlayBoard:
        """As the page sees it."""
        board = self.board
        played = Played.of(board.game, board.states, board.actions)
        boards = played.boards()
        moves = [each.move or "" for each in boards[1:]]
        position = position_at(board.game, played.state, boards[-1])
        waits = position.outcome is None and board.seats[boards[-1].turn] is not None
        return messages.PlayBoard(
            session=self.id,
            number=board.number,
            line=messages.Line(game=self.offered.id, start=self.start, moves=moves),
            seats=self.seats,
            boards=boards,
            position=position,
            thinking=waits and not self.failure,
            failure=self.failure,
        )


class Tables:
    """All games under way."""

    def __init__(self, catalogue: Catalogue, seats: Seats, room: Room, bounds: Bounds) -> None:
        self._catalogue = catalogue
        self._seats = seats
        self._room = room
        self._bounds = bounds
        self._tables: OrderedDict[str, Table] = OrderedDict()  # least recently used first

    def __len__(self) -> int:
        return len(self._tables)

    def prepare(self, request: messages.PlayNew) -> Table:
        """A new table, in any thread; it is not remembered yet."""
        offered = self._catalogue.game(request.line.game)
        played = Played(offered.rules, request.line)
        table = Table(offered, played, request)
        players = [self._seats.player(seat, offered, table.past) for seat in request.seats]
        table.board.restart(played.states[0], players)
        for action in played.actions:
            table.board.play(action)
        return table

    def sit_down(self, table: Table, connection: Connection | None) -> None:
        """Remembers it, and forgets others."""
        self._tables[table.id] = table
        self._forget_old()
        self._watch(table, connection)
        self._let_answer(table)

    def find(self, ident: str, connection: Connection | None) -> Table:
        """Of that id; a Refusal if it is not there any more."""
        self._forget_old()
        table = self._tables.get(ident)
        if table is None:
            raise Refusal(404, "this game is not remembered any more")
        table.used = time.monotonic()
        self._tables.move_to_end(ident)
        self._watch(table, connection)
        return table

    def move(self, table: Table, request: messages.PlayMove) -> None:
        """A person's move, in any thread; a Refusal if it is not legal or too late."""
        board = table.board
        if request.number != board.number:
            raise Refusal(409, "the board has changed meanwhile")
        if board.outcome is not None:
            raise Refusal(409, "the game is over")
        if board.mover is not None:
            raise Refusal(409, "it is not your turn")
        action = refusing(lambda: parse_action(board.game, board.state, request.move))
        if not refusing(lambda: board.play(action, request.number)):
            raise Refusal(409, "the board has changed meanwhile")

    def undo(self, table: Table) -> None:
        """Back to a person's last decision."""
        table.failure = ""
        if not table.board.undo():
            raise Refusal(409, "there is nothing to take back")

    def changed(self, table: Table, but: Connection | None) -> None:
        """Tells everybody else, and lets an opponent answer."""
        self._tell(table, but)
        self._let_answer(table)

    def close(self, ident: str) -> None:
        """Forgets a game."""
        table = self._tables.pop(ident, None)
        if table is not None:
            table.board.restart()  # whoever thinks thinks in vain, and is stopped

    def _watch(self, table: Table, connection: Connection | None) -> None:
        if connection is not None and connection not in table.watchers:
            table.watchers.add(connection)
            connection.on_close.append(lambda: table.watchers.discard(connection))

    def _tell(self, table: Table, but: Connection | None = None) -> None:
        others = [each for each in table.watchers if each is not but]
        if others:
            text = table.shown().model_dump_json()
            for each in others:
                each.post_text(text, ("board", table.id))

    def _let_answer(self, table: Table) -> None:
        board = table.board
        idle = table.thinking is None or table.thinking.done()
        if board.outcome is None and board.mover is not None and idle and not table.failure:
            table.thinking = asyncio.create_task(self._answers(table))

    async def _answers(self, table: Table) -> None:
        """Until it is a person's turn."""
        board = table.board
        while board.outcome is None and board.mover is not None and table.id in self._tables:
            try:
                await self._room.run(board.answer)
            except Refusal as refusal:  # no place: come again
                await asyncio.sleep(refusal.retry_after or 1.0)
                continue
            except PlayerError as error:
                table.failure = f"The opponent cannot go on: {error}"
            except Exception as error:
                table.failure = users_sentence(error) or one_line(
                    f"{type(error).__name__}: {error}"
                )
            self._tell(table)
            if table.failure:
                return

    def _forget_old(self) -> None:
        oldest = time.monotonic() - self._bounds.session_seconds
        while self._tables:
            first = next(iter(self._tables.values()))
            if len(self._tables) <= self._bounds.sessions and first.used >= oldest:
                return
            self.close(first.id)
