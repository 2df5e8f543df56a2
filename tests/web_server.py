"""A real server of the page in a thread of this process, on a free port, for tests."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from zermelo.web.app import create_app
from zermelo.web.messages import PROTOCOL
from zermelo.web.serve import listen
from zermelo.web.settings import WebSettings


@dataclass
class Server:
    """Where it is."""

    port: int
    uvicorn: uvicorn.Server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False, **options)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One request of the protocol by HTTP."""
        with self.client() as client:
            answer: dict[str, Any] = client.post("/api/message", json=request).json()
            return answer


@contextmanager
def running(settings: WebSettings | None = None, port: int = 0) -> Iterator[Server]:
    """Until the block ends."""
    chosen = replace(settings or WebSettings(), port=port)
    listening = listen(chosen)
    chosen = replace(chosen, port=listening.getsockname()[1])
    config = uvicorn.Config(
        create_app(chosen),
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=chosen.bounds.frame_bytes,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            thread.join(0.02)
        yield Server(chosen.port, server)
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


class Page:
    """The page's side of the socket."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.events: list[dict[str, Any]] = []
        self._serial = 0

    async def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request; events that come before its reply are kept."""
        self._serial += 1
        await self.socket.send(json.dumps(request | {"id": self._serial}))
        while True:
            message = await self.receive()
            if message["reply"] == self._serial:
                return message
            self.events.append(message)

    async def event(self, kind: str, seconds: float = 20.0) -> dict[str, Any]:
        """The next event of a type."""
        for index, message in enumerate(self.events):
            if message["type"] == kind:
                return self.events.pop(index)
        async with asyncio.timeout(seconds):
            while True:
                message = await self.receive()
                if message["type"] == kind and message["reply"] is None:
                    return message

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.socket.recv())
        return message


@asynccontextmanager
async def page(server: Server, **options: Any) -> Any:
    """A page that has said hello."""
    address = f"ws://127.0.0.1:{server.port}/ws"
    async with connect(address, max_size=None, proxy=None, **options) as socket:
        visitor = Page(socket)
        welcome = await visitor.ask(type="hello", version=PROTOCOL)
        assert welcome["type"] == "welcome", welcome
        yield visitor
