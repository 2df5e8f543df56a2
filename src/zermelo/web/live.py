"""Live analysis: searches that run until they are stopped, and whoever watches them.

A board belongs to the connection that began it and is searched by one `LiveSearch`; others may
watch by its id. It ends with its last watcher. Frames are made in the searching thread, some times
a second, and written once for all watchers. Owner of everything else: the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from zermelo.games.notation import parse_action
from zermelo.games.protocol import State
from zermelo.search import Limits, LiveSearch, SearchResult
from zermelo.web import messages
from zermelo.web.catalogue import OfferedGame
from zermelo.web.connection import Connection
from zermelo.web.frames import frame, selection_path, tree_node
from zermelo.web.judges import Judge
from zermelo.web.positions import Played, board_at, refusing
from zermelo.web.refusal import Refusal
from zermelo.web.room import within
from zermelo.web.settings import Bounds

LOOK_SECONDS = 5.0  # that a running search has to let somebody look


class LiveBoard:
    """One search, its position, its watchers."""

    def __init__(self, slot: str, offered: OfferedGame, judge: Judge, bounds: Bounds) -> None:
        self.id = secrets.token_urlsafe(9)
        self.slot = slot
        self.offered = offered
        self.judge = judge
        self.run = 0
        self.line = messages.Line(game=offered.id)
        self.network = ""
        self.watchers: set[Connection] = set()
        self.steering = asyncio.Lock()  # one start or stop at a time
        self._pause = 1.0 / bounds.frames_per_second
        self._bounds = bounds
        self._sent = 0.0
        self._state: State = None
        self._last = ""  # the newest frame as text, for whoever comes later
        self._lock = threading.Lock()
        self._looks: list[Callable[[], None]] = []  # guarded: done by the searching thread
        self.live = self._make()

    @property
    def running(self) -> bool:
        """Whether it is searching."""
        return self.live.running

    def _make(self) -> LiveSearch:
        live = self.judge.search(counted=False, max_nodes=self._bounds.analysis_nodes)
        live.subscribe(self._heard, self._ended)
        return live

    # --- in a thread that may wait ----------------------------------------------------------------

    def start(self, played: Played, allowed: tuple[int, ...]) -> None:
        """Searches the end of a line from now on."""
        self.live.stop()
        state = self.judge.translated(played.game, played.states[0], tuple(played.actions))
        if self.judge.rules.outcome(state) is not None:
            raise Refusal(422, "the game is over: there is nothing to search")
        self.live.follow(state)
        self._state = state
        self.run += 1
        self._sent = 0.0
        self.live.start(Limits(seconds=self._bounds.analysis_seconds, allowed=allowed))

    def stop(self) -> None:
        """Ends the search; everybody gets its last frame."""
        self.live.stop()
        with contextlib.suppress(Exception):
            self.live.wait(10.0)

    def close(self) -> None:
        """Ends everything."""
        self.live.stop()
        self.live.close()

    def path_to(self, texts: list[str]) -> tuple[list[int], State]:
        """The actions of a path below the root, and the position there."""
        rules, state, actions = self.judge.rules, self._state, []
        for text in texts:
            if rules.outcome(state) is not None:
                raise Refusal(422, "the game is over there")
            action = refusing(lambda s=state, t=text: parse_action(rules, s, t))
            actions.append(action)
            state = rules.play(state, action)
        return actions, state

    # --- in the searching thread ------------------------------------------------------------------

    def _heard(self, result: SearchResult) -> None:
        self._serve_looks()
        now = time.monotonic()
        if not result.final and now - self._sent < self._pause:
            return
        if not len(result.actions):
            return
        self._sent = now
        head = {"search": self.id, "run": self.run, "watchers": len(self.watchers)}
        path = selection_path(self.live, self._state)
        self._last = frame(result, self.live, self._state, path, head).model_dump_json()
        for watcher in list(self.watchers):
            watcher.post_text(self._last, ("frame", self.id))

    def _ended(self, error: BaseException | None) -> None:
        self._serve_looks()
        if error is not None:
            reason = f"The search has ended: {type(error).__name__}: {error}"
            answer = messages.Refused(code=500, reason=" ".join(reason.split()))
            for watcher in list(self.watchers):
                watcher.post(answer)

    def _serve_looks(self) -> None:
        with self._lock:
            looks, self._looks = self._looks, []
        for look in looks:
            look()

    # --- in the event loop ------------------------------------------------------------------------

    def started(self) -> messages.SearchStarted:
        """The reply to whoever starts or watches."""
        return messages.SearchStarted(
            search=self.id, run=self.run, slot=self.slot, line=self.line, network=self.network
        )

    def add(self, watcher: Connection) -> None:
        """Sends it the newest frame too."""
        self.watchers.add(watcher)
        if self._last:
            watcher.post_text(self._last, ("frame", self.id))

    async def look(self, texts: list[str]) -> messages.TreeNode:
        """A node of the tree, also while it grows."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        actions, state = self.path_to(texts)

        def answer() -> None:
            try:
                found: Any = tree_node(self.live, state, actions)
            except Exception as error:
                found = error
            loop.call_soon_threadsafe(settle, found)

        def settle(found: Any) -> None:
            if not future.done():
                future.set_result(found)

        if self._state is None:
            raise Refusal(409, "nothing was searched yet")
        with self._lock:
            self._looks.append(answer)
        if not self.live.running:
            self._serve_looks()
        found = await within(LOOK_SECONDS, future, "the search is too busy to be looked into")
        if isinstance(found, Exception):
            raise Refusal(503, "the search is too busy to be looked into", retry_after=1.0)
        if found is None:
            raise Refusal(404, "the search has not come so far")
        visits, children = found
        rules = self.judge.rules
        board = board_at(rules, state)
        return messages.TreeNode(
            search=self.id, path=texts, visits=visits, board=board, children=children
        )
