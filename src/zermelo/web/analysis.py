"""The live searches of all visitors: who has which, how many run, and when one must wait.

Owner: the event loop. Starting and stopping wait in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from zermelo.games.notation import parse_action
from zermelo.web import messages
from zermelo.web.catalogue import Catalogue
from zermelo.web.connection import Connection
from zermelo.web.judges import Judges
from zermelo.web.live import LiveBoard
from zermelo.web.positions import Played, refusing
from zermelo.web.refusal import Refusal
from zermelo.web.settings import Bounds

RETRY = 5.0  # seconds until a search may have ended
Threaded = Callable[[Callable[[], Any]], Awaitable[Any]]


class Analyses:
    """By id, and by connection and slot."""

    def __init__(
        self, catalogue: Catalogue, judges: Judges, bounds: Bounds, threaded: Threaded
    ) -> None:
        self._catalogue = catalogue
        self._judges = judges
        self._bounds = bounds
        self._threaded = threaded
        self._boards: dict[str, LiveBoard] = {}
        self._slots: dict[Connection, dict[str, LiveBoard]] = {}
        self._waiting: dict[Connection, None] = {}  # who was refused and may come again, in order
        self._starting = 0
        self._endings: set[asyncio.Task[Any]] = set()

    async def start(
        self, connection: Connection | None, request: messages.AnalyseStart
    ) -> messages.SearchStarted:
        """Searches the end of a line; takes the place of what the slot searched before."""
        if connection is None:
            raise Refusal(422, "a live search needs a socket: use judge")
        slots = self._known(connection)
        old = slots.get(request.slot)
        self._take_place(connection, old)
        self._starting += 1
        try:
            board = await self._threaded(lambda: self._board_for(request, old))
            if board is not old:
                slots[request.slot] = board
                self._boards[board.id] = board
                if old is not None:
                    self._end(old)
            async with board.steering:
                await self._threaded(lambda: self._search(board, request))
        finally:
            self._starting -= 1
        if not connection.open:  # gone meanwhile
            self._leave(connection)
        board.add(connection)
        started: messages.SearchStarted = board.started()
        for other in board.watchers - {connection}:
            other.post(started)
        return started

    async def stop(self, request: messages.AnalyseStop) -> messages.Answer:
        """Ends a search; its tree stays as long as it is watched."""
        board = self._find(request.search)
        async with board.steering:
            await self._threaded(board.stop)
        return messages.Done()

    async def watch(
        self, connection: Connection | None, request: messages.AnalyseWatch
    ) -> messages.Answer:
        """Follows a search."""
        if connection is None:
            raise Refusal(422, "watching needs a socket")
        board = self._find(request.search)
        self._known(connection)
        board.add(connection)
        return board.started()

    async def tree(self, request: messages.AnalyseTree) -> messages.Answer:
        """A node of a search's tree."""
        return await self._find(request.search).look(list(request.path))

    def close(self) -> None:
        """Ends all."""
        for board in self._boards.values():
            board.live.stop()

    def _find(self, ident: str) -> LiveBoard:
        board = self._boards.get(ident)
        if board is None:
            raise Refusal(404, "this search is not there any more")
        return board

    def _known(self, connection: Connection) -> dict[str, LiveBoard]:
        if connection not in self._slots:
            self._slots[connection] = {}
            connection.on_close.append(lambda: self._leave(connection))
        return self._slots[connection]

    def _take_place(self, connection: Connection, old: LiveBoard | None) -> None:
        """Refuses, with a place in the queue, whoever would be one too many."""
        running = sum(board.running for board in self._boards.values() if board is not old)
        before = 0
        for waiting in self._waiting:
            if waiting is connection:
                break
            before += 1
        if running + self._starting + before >= self._bounds.analyses:
            self._waiting.setdefault(connection)
            place = list(self._waiting).index(connection) + 1
            raise Refusal(
                503, "as many searches run as this machine has room for", retry_after=RETRY,
                place=place,
            )  # fmt: skip
        self._waiting.pop(connection, None)

    def _board_for(self, request: messages.AnalyseStart, old: LiveBoard | None) -> LiveBoard:
        offered = self._catalogue.game(request.line.game)
        judge = self._judges.judge(offered, request.network)
        if old is not None and old.judge is judge:
            return old
        return LiveBoard(request.slot, offered, judge, self._bounds)

    def _search(self, board: LiveBoard, request: messages.AnalyseStart) -> None:
        played = Played(board.offered.rules, request.line)
        state = played.state
        allowed = tuple(
            refusing(lambda text=text: parse_action(played.game, state, text))
            for text in request.allowed
        )
        board.line, board.network = request.line, request.network
        board.start(played, allowed)

    def _leave(self, connection: Connection) -> None:
        """A visitor is gone; what nobody watches ends."""
        self._waiting.pop(connection, None)
        self._slots.pop(connection, None)
        for board in list(self._boards.values()):
            board.watchers.discard(connection)
            if not board.watchers:
                self._end(board)

    def _end(self, board: LiveBoard) -> None:
        self._boards.pop(board.id, None)
        board.live.stop()
        task = asyncio.ensure_future(self._threaded(board.close))
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)
