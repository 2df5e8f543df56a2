"""One socket: reads requests, sends replies and events, and closes on whoever abuses it.

Knows the protocol's envelope, nothing of what requests mean. Replies wait in a queue of bounded
length. Of events with the same key only the newest waits, so a slow reader gets fewer of them, and
always the last. Everything here runs in the server's event loop; `post` may be called from any
thread.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from zermelo.web.messages import REQUEST, Answer, Refused
from zermelo.web.refusal import Refusal
from zermelo.web.settings import Bounds

POLICY_VIOLATION, TOO_LARGE, TRY_LATER = 1008, 1009, 1013
MOST_WAITING = 256  # messages for one reader
AT_ONCE = 8  # requests of one connection under way

Dispatch = Callable[["Connection", Any], Awaitable[Answer]]


class Connection:
    """A visitor."""

    def __init__(self, socket: WebSocket, dispatch: Dispatch, bounds: Bounds) -> None:
        self._socket = socket
        self._dispatch = dispatch
        self._bounds = bounds
        self._loop = asyncio.get_running_loop()
        self._outbox: OrderedDict[Hashable, str] = OrderedDict()
        self._filled = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._credit = float(bounds.message_burst)  # messages that may come at once
        self._counted = time.monotonic()
        self._serial = 0
        self.open = True
        self.on_close: list[Callable[[], None]] = []

    async def serve(self) -> None:
        """Until one side has had enough."""
        await self._socket.accept()
        writer = asyncio.create_task(self._write())
        try:
            await self._read()
        except (WebSocketDisconnect, RuntimeError):
            pass  # gone; starlette says so in two ways
        finally:
            self.open = False
            writer.cancel()
            for task in list(self._tasks):
                task.cancel()
            for leave in self.on_close:
                leave()

    def post(self, answer: Answer, key: Hashable | None = None) -> None:
        """Sends it soon; with a key, in place of one with the same key that still waits."""
        text = answer.model_dump_json(exclude_none=False)
        self._loop.call_soon_threadsafe(self._put, text, key)

    def post_text(self, text: str, key: Hashable | None = None) -> None:
        """The same for a message that is already written, for many at once."""
        self._loop.call_soon_threadsafe(self._put, text, key)

    def _put(self, text: str, key: Hashable | None) -> None:
        if not self.open:
            return
        if key is None:
            self._serial += 1
            key = self._serial
        self._outbox[key] = text
        self._filled.set()
        if len(self._outbox) > MOST_WAITING:
            self._drop(TRY_LATER, "the messages are not read quickly enough")

    async def _write(self) -> None:
        try:
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._outbox:
                    _, text = self._outbox.popitem(last=False)
                    await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError):
            self.open = False

    async def _read(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not self._may_speak():
                await self._close(POLICY_VIOLATION, "too many messages")
                return
            text = message.get("text")
            if text is None:
                await self._close(POLICY_VIOLATION, "messages are texts")
                return
            if len(text.encode()) > self._bounds.frame_bytes:
                await self._close(TOO_LARGE, "the message is too large")
                return
            await self._take(text)

    async def _take(self, text: str) -> None:
        try:
            request = read_request(text)
        except Refusal as refusal:
            self.post(refused(refusal, number_of(text)))
            return
        if len(self._tasks) >= AT_ONCE:
            self.post(refused(Refusal(429, "too many requests at a time"), request.id))
            return
        task = asyncio.create_task(self._answer(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Any) -> None:
        try:
            answer = await self._dispatch(self, request)
        except Refusal as refusal:
            answer = refused(refusal, request.id)
        self.post(answer.model_copy(update={"reply": request.id}))

    def _may_speak(self) -> bool:
        now = time.monotonic()
        earned = (now - self._counted) * self._bounds.messages_per_second
        self._credit = min(self._credit + earned, float(self._bounds.message_burst)) - 1.0
        self._counted = now
        return self._credit >= 0.0

    def _drop(self, code: int, reason: str) -> None:
        self.open = False
        task = asyncio.create_task(self._close(code, reason))
        self._tasks.add(task)

    async def _close(self, code: int, reason: str) -> None:
        self.open = False
        if self._socket.application_state is not WebSocketState.DISCONNECTED:
            await self._socket.close(code, reason)


def read_request(text: str | bytes) -> Any:
    """The request that a message is; a Refusal says what is wrong with it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal(400, "the message is not JSON") from None
    if not isinstance(found, dict):
        raise Refusal(400, "the message is JSON but no object")
    try:
        return REQUEST.validate_python(found)
    except ValidationError as error:
        raise Refusal(400, what_is_wrong(error)) from None
    except RecursionError:
        raise Refusal(400, "the message is nested too deeply") from None


def what_is_wrong(error: ValidationError) -> str:
    """The first thing, in one sentence."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part)[:40] for part in first["loc"][1:] or first["loc"])
    message = " ".join(str(first["msg"]).split())
    return f"{place}: {message}" if place else message


def number_of(text: str) -> int:
    """The request's id, if it can be read at all."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return 0
    number = found.get("id", 0) if isinstance(found, dict) else 0
    return number if isinstance(number, int) and 0 <= number <= 2**53 else 0


def refused(refusal: Refusal, reply: int | None = None) -> Refused:
    """As a message."""
    return Refused(
        reply=reply,
        code=refusal.code,
        reason=refusal.reason,
        retry_after=refusal.retry_after,
        place=refusal.place,
    )
