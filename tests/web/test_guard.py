"""What every request must bring, and what every answer carries."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from web_server import Server, page, running
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from zermelo.web.settings import WebSettings


def test_the_page_comes_with_a_policy_that_allows_no_inline_script_and_no_other_host(
    server: Server,
) -> None:
    with server.client() as client:
        answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert answer.status_code == 200
    assert "script-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "10.0.0.1", "["])
def test_another_sites_name_is_refused(server: Server, host: str) -> None:
    with server.client() as client:
        answer = client.get("/", headers={"host": host})
    assert answer.status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost:9", "127.0.0.1", "[::1]:8080"])
def test_this_machines_own_names_are_served_under_any_forwarded_port(
    server: Server, host: str
) -> None:
    with server.client() as client:
        assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://[::1", "http://["])
def test_a_request_from_another_sites_script_is_refused(server: Server, origin: str) -> None:
    with server.client() as client:
        answer = client.post(
            "/api/message",
            json={"type": "hello", "version": 1},
            headers={"origin": origin},
        )
    assert answer.status_code == 403
    assert "another site" in answer.json()["reason"]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://[::1"]
)
def test_a_socket_from_another_site_is_refused(server: Server, origin: str) -> None:
    async def visit() -> None:
        address = f"ws://127.0.0.1:{server.port}/ws"
        async with connect(address, origin=origin, proxy=None) as socket:  # type: ignore[arg-type]
            await socket.recv()

    with pytest.raises((InvalidStatus, ConnectionClosed)):
        asyncio.run(visit())


def test_a_socket_from_our_own_page_is_served(server: Server) -> None:
    async def visit() -> None:
        async with page(server, origin=f"http://127.0.0.1:{server.port}"):
            pass

    asyncio.run(visit())


def test_another_address_needs_the_token_which_moves_into_a_cookie() -> None:
    with running(WebSettings(host="0.0.0.0", token="secret")) as server, server.client() as client:
        assert client.get("/").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        handed = client.get("/?token=secret")
        assert handed.status_code == 303
        assert "HttpOnly" in handed.headers["set-cookie"]
        assert client.get("/").status_code == 200
        assert httpx.get(f"{server.url}/api/runs", trust_env=False).status_code == 401


def test_a_body_of_ten_megabytes_is_refused_whether_or_not_it_says_its_length(
    server: Server,
) -> None:
    with server.client() as client:
        told = client.post("/api/message", content=b"x" * 10_000_000)
        streamed = client.post("/api/message", content=(b"x" * 100_000 for _ in range(100)))
    assert told.status_code == streamed.status_code == 413
    assert "at most" in told.json()["reason"]
