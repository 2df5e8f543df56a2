"""The application: static files, the socket, one-shot requests by HTTP, and the runs.

`create_app(settings)` is all that a server needs. Knows what is where, nothing of how it is done.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from zermelo.web.assets import assets_router
from zermelo.web.catalogue import Catalogue
from zermelo.web.connection import TRY_LATER, Connection, read_request, refused
from zermelo.web.dispatch import Dispatcher
from zermelo.web.guard import Guard
from zermelo.web.messages import Refused
from zermelo.web.refusal import Refusal
from zermelo.web.settings import WebSettings
from zermelo.web.training.control import TrainingControl
from zermelo.web.training.routes import runs_router

STATIC = Path(__file__).parent / "static"


def create_app(settings: WebSettings) -> FastAPI:
    """The page as an ASGI application."""
    catalogue = Catalogue(settings)
    dispatcher = Dispatcher(settings, catalogue)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        dispatcher.close()

    app = FastAPI(
        title="Zermelo", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(Guard, settings=settings)
    app.include_router(assets_router())
    app.include_router(runs_router(catalogue.library, TrainingControl(settings)))
    _add_faults(app)
    sockets: set[Connection] = set()

    @app.post("/api/message")
    async def message(request: Request) -> JSONResponse:
        """One request of the protocol, answered once."""
        read = read_request(await request.body())
        answer = await dispatcher(None, read)
        return JSONResponse(answer.model_copy(update={"reply": read.id}).model_dump(mode="json"))

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        """The protocol."""
        if len(sockets) >= settings.bounds.sockets:
            await websocket.close(TRY_LATER, "too many visitors: try again later")
            return
        connection = Connection(websocket, dispatcher, settings.bounds)
        sockets.add(connection)
        try:
            await connection.serve()
        finally:
            sockets.discard(connection)

    app.mount("/", Pages(directory=STATIC, html=True))
    return app


class Pages(StaticFiles):
    """The page's own files; asked about anew each time, so that a new version is seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or a JSON refusal."""
        try:
            response = await super().get_response(path, scope)
        except (ValueError, OSError):  # names that no file can have
            raise HTTPException(404) from None
        response.headers["cache-control"] = "no-cache"
        return response


def _add_faults(app: FastAPI) -> None:
    """Whatever goes wrong is JSON with a code and a reason."""

    @app.exception_handler(Refusal)
    async def refusal(_: Request, error: Refusal) -> JSONResponse:
        headers = {}
        if error.retry_after is not None:
            headers["retry-after"] = str(max(1, round(error.retry_after)))
        return _json(refused(error), headers)

    @app.exception_handler(ClientDisconnect)
    async def gone(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=400)  # nobody reads it

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        reasons = {404: "there is nothing here", 405: "this cannot be done here"}
        reason = reasons.get(error.status_code, str(error.detail))
        return _json(Refused(code=error.status_code, reason=reason), error.headers)

    @app.exception_handler(RequestValidationError)
    async def validation(_: Request, error: RequestValidationError) -> JSONResponse:
        first: Any = error.errors()[0]
        place = ".".join(str(part)[:40] for part in first["loc"][1:])
        return _json(Refused(code=422, reason=f"{place}: {first['msg']}"), None)


def _json(answer: Refused, headers: Any) -> JSONResponse:
    return JSONResponse(answer.model_dump(mode="json"), answer.code, headers)
