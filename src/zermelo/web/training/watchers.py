"""Visitors who watch a run: they are told when it changes, wherever it is worked on.

Looks at each watched run once a second, however many watch it, and at none if nobody does. Runs in
the server's event loop; the looking happens in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from zermelo.web import messages
from zermelo.web.connection import Connection
from zermelo.web.refusal import Refusal
from zermelo.web.training.library import Library

EVERY = 1.0  # seconds
News = tuple[Any, ...]  # what is compared between looks


class Watchers:
    """Which connection watches which run."""

    def __init__(
        self, library: Library, threaded: Callable[[Callable[[], Any]], Awaitable[Any]]
    ) -> None:
        self._library = library
        self._threaded = threaded
        self._watched: dict[Connection, str] = {}
        self._known: dict[str, News] = {}  # by run: what its watchers were told last
        self._task: asyncio.Task[None] | None = None

    async def watch(
        self, connection: Connection | None, request: messages.TrainingWatch
    ) -> messages.Answer:
        """Begins or ends it."""
        if connection is None:
            raise Refusal(400, "a run is watched over the socket")
        if request.run is None:
            self._forget(connection)
            return messages.Done()
        run = request.run
        self._known.setdefault(run, (await self._threaded(partial(self._look, run)))[1])
        if connection not in self._watched:
            connection.on_close.append(partial(self._forget, connection))
        self._watched[connection] = run
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tell())
        return messages.Done()

    def _forget(self, connection: Connection) -> None:
        self._watched.pop(connection, None)

    async def _tell(self) -> None:
        while self._watched:
            await asyncio.sleep(EVERY)
            for run in set(self._watched.values()):
                try:
                    event, news = await self._threaded(partial(self._look, run))
                except Refusal:  # it was removed
                    continue
                if news == self._known.get(run):
                    continue
                self._known[run] = news
                for connection, watched in list(self._watched.items()):
                    if watched == run:
                        connection.post(event, ("training.news", run))
            for run in self._known.keys() - set(self._watched.values()):
                del self._known[run]

    def _look(self, run: str) -> tuple[messages.TrainingNews, News]:
        row = self._library.row(run)
        view = self._library.view(run)
        view.look()
        status = row.status
        doing = status.activity if status is not None and row.alive else None
        lines = view.figures.lines
        event = messages.TrainingNews(run=run, lines=lines, doing=doing)
        written = status.written if status is not None else 0.0
        return event, (lines, view.figures.unread, doing, written, row.alive, row.error)
