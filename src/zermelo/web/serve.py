"""Runs the page until Ctrl-C: a uvicorn server with our bounds."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from zermelo.errors import UserError
from zermelo.web.app import create_app
from zermelo.web.settings import WebSettings


def with_token(settings: WebSettings) -> WebSettings:
    """An address that others can reach needs a token."""
    return settings if settings.local else replace(settings, token=secrets.token_urlsafe(24))


def address(settings: WebSettings) -> str:
    """To be opened in a browser."""
    any_of_ours = settings.host in ("0.0.0.0", "::")
    host = socket.gethostname() if any_of_ours else settings.host
    host = f"[{host}]" if ":" in host else host
    query = f"/?token={settings.token}" if settings.token else "/"
    return f"http://{host}:{settings.port}{query}"


def listen(settings: WebSettings) -> socket.socket:
    """The port, taken; UserError if that cannot be. Port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listening.close()
        place = f"{settings.host}:{settings.port}"
        raise UserError(f"the page cannot be served at {place}: {error}") from None
    listening.listen(2048)
    return listening


def serve(settings: WebSettings, ready: Callable[[str], None]) -> None:
    """Until it is interrupted; `ready` gets the address once the port is ours."""
    settings = with_token(settings)
    with listen(settings) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        app = create_app(settings)
        config = uvicorn.Config(
            app,
            log_level="warning",
            ws="websockets-sansio",
            ws_max_size=settings.bounds.frame_bytes,
            timeout_graceful_shutdown=2,
            server_header=False,
        )
        ready(address(settings))
        uvicorn.Server(config).run(sockets=[listening])
