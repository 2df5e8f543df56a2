"""Bad input and load: a reason for everybody, never a 5xx that is not a 503, bounds that hold."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_protocol import PERSON, line
from web_server import Server, page, running
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from zermelo.web.settings import Bounds, WebSettings

TRAVERSALS = [
    "../pyproject.toml", "..%2fpyproject.toml", "%2e%2e/%2e%2e/etc/passwd", "....//etc/passwd",
    "/etc/passwd", "//etc/passwd", "..\\..\\etc\\passwd", "%5c..%5cetc", "style/../../app.py",
    "static/../app.py", "%00", "index.html%00.png", "style/%2e%2e/%2e%2e/guard.py", "a" * 5000,
    "assets/pieces/..%2f..%2fapp.py", "assets/pieces/xx.svg", "api/runs/../../../etc/passwd",
    "\u00e9\U0001f600", "file:///etc/passwd", "http://127.0.0.1/",
]  # fmt: skip
# Every way up, in every spelling, from every folder that is served, to files that are there.
UP = ("..", "%2e%2e", ".%2e", "%2e.", "%252e%252e", "..;", "..%00", "%c0%ae%c0%ae")
SLASH = ("/", "%2f", "\\", "%5c", "//", "%252f")
BELOW = ("", "style/", "assets/", "api/runs/")
GOALS = ("app.py", "guard.py", "etc/passwd")
PAYLOADS = [
    f"{below}{(up + slash) * depth}{goal}"
    for up in UP
    for slash in SLASH
    for below in BELOW
    for depth, goal in ((1, GOALS[0]), (2, GOALS[1]), (9, GOALS[2]))
]
Record = Callable[[str, object], None]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["hello", "line", "read", "write", "play.new", "play.open", "play.move", "play.undo", "judge",
     "exact", "analyse.start", "analyse.stop", "analyse.watch", "analyse.tree", "training.watch"]
)  # fmt: skip
LINES = st.fixed_dictionaries(
    {"game": st.sampled_from(["connect4", "chess", "hex?size=5", "x"]) | st.text(max_size=9)},
    optional={
        "start": st.none() | st.text(max_size=40),
        "moves": st.lists(st.text(max_size=5), max_size=4),
    },
)
REQUESTS = st.fixed_dictionaries(
    {"type": TYPES | st.text(max_size=9)},
    optional={
        "id": st.integers(), "version": JSON, "line": LINES | JSON, "game": JSON, "text": st.text(),
        "session": JSON, "number": JSON, "move": JSON, "network": st.just("rollout") | JSON,
        "simulations": st.integers(-5, 50), "search": JSON, "path": JSON, "seats": JSON,
        "slot": JSON, "allowed": JSON,
    },
)  # fmt: skip


@pytest.fixture(scope="module")
def small() -> Iterator[Server]:
    """A server with little room."""
    bounds = Bounds(sessions=20, judgements=1, waiting=3, analyses=1, sockets=300)
    with running(WebSettings(bounds=bounds)) as server:
        yield server


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_pages_own_files(server: Server, path: str) -> None:
    with server.client() as client:
        try:
            answer = client.get("/" + path)
        except httpx.InvalidURL:
            return
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text
    assert answer.json()["reason"] if answer.status_code == 404 else True


def test_hundreds_of_spellings_of_a_way_out_lead_nowhere(
    server: Server, record_property: Record
) -> None:
    for payload in PAYLOADS:
        # As it stands: a client would resolve it.
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
            raw.sendall(
                f"GET /{payload} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            answer = b"".join(iter(partial(raw.recv, 65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.split()[1] in (b"400", b"404"), (payload, head)
        assert b"root:" not in body and b"import" not in body, payload
    assert len(PAYLOADS) > 200
    record_property("tried", len(PAYLOADS))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_ten_thousand_requests_are_answered_by_a_reason_and_not_by_a_fault(
    server: Server, record_property: Record
) -> None:
    @settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
    @given(request=REQUESTS | JSON)
    def ask(request: Any) -> None:
        answered_by_a_reason(server, request)

    ask()
    record_property("tried", 10_000)


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(request=REQUESTS | JSON)
def test_whatever_is_asked_is_answered_by_a_reason_and_not_by_a_fault(
    server: Server, request: Any
) -> None:
    answered_by_a_reason(server, request)


def answered_by_a_reason(server: Server, request: Any) -> None:
    body = json.dumps(request).encode()
    with server.client() as client:
        answer = client.post("/api/message", content=body)
    assert answer.status_code < 500, (request, answer.text)
    if answer.status_code >= 400:
        assert answer.json()["reason"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'"' + b"x" * 200_000])
def test_what_is_no_json_is_refused(server: Server, body: bytes) -> None:
    with server.client() as client:
        answer = client.post("/api/message", content=body)
    assert answer.status_code == 400


def closing_code(server: Server, scenario: Any) -> int | None:
    """What a socket is closed with."""

    async def run() -> int | None:
        address = f"ws://127.0.0.1:{server.port}/ws"
        async with connect(address, max_size=None, proxy=None) as visitor:
            try:
                await scenario(visitor)
                async with asyncio.timeout(20):
                    async for _ in visitor:  # what was answered before
                        pass
            except ConnectionClosed:
                pass
            return visitor.close_code

    return asyncio.run(run())


def test_a_flooder_is_closed(server: Server) -> None:
    async def flood(page: Any) -> None:
        for _ in range(10_000):
            await page.send('{"type": "hello", "version": 1}')

    assert closing_code(server, flood) == 1008


def test_a_frame_of_a_megabyte_closes_the_socket(server: Server) -> None:
    async def large(page: Any) -> None:
        await page.send("x" * 1_000_000)

    assert closing_code(server, large) == 1009


def test_bytes_close_the_socket(server: Server) -> None:
    async def binary(page: Any) -> None:
        await page.send(b"\x00\x01")

    assert closing_code(server, binary) == 1008


def test_games_are_forgotten_the_oldest_first(small: Server) -> None:
    new = {"type": "play.new", "line": line("tictactoe"), "seats": [PERSON, PERSON]}
    sessions = [small.ask(new)["session"] for _ in range(30)]
    found = [small.ask({"type": "play.open", "session": s})["type"] for s in sessions]
    assert found == ["refused"] * 10 + ["play.board"] * 20


def test_searches_beyond_the_room_are_told_when_to_come_again(small: Server) -> None:
    asked = {
        "type": "judge", "line": line("othello"), "network": "rollout", "simulations": 3000,
    }  # fmt: skip

    async def crowd() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=small.url, timeout=60, trust_env=False) as client:
            return list(
                await asyncio.gather(*(client.post("/api/message", json=asked) for _ in range(12)))
            )

    answers = asyncio.run(crowd())
    codes = [answer.status_code for answer in answers]
    assert set(codes) == {200, 503}
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["place"] >= 1


def test_a_live_search_too_many_gets_a_place_in_the_queue(small: Server) -> None:
    async def scenario() -> None:
        start = {"type": "analyse.start", "line": line("othello"), "network": "rollout"}
        async with page(small) as first, page(small) as second, page(small) as third:
            started = await first.ask(**start)
            assert started["type"] == "analyse.started"
            assert (await second.ask(**start))["place"] == 1
            assert (await third.ask(**start))["place"] == 2
            await first.ask(type="analyse.stop", search=started["search"])
            assert (await third.ask(**start))["place"] == 2  # the second one is before it
            assert (await second.ask(**start))["type"] == "analyse.started"

    asyncio.run(scenario())


def test_every_viewer_of_one_search_gets_its_last_frame_also_a_slow_one(small: Server) -> None:
    async def scenario() -> None:
        async with page(small) as owner:
            start = {"type": "analyse.start", "line": line("hex?size=5"), "network": "rollout"}
            while (started := await owner.ask(**start))["type"] == "refused":
                await asyncio.sleep(0.2)  # the last test's search is still ending
            viewers = [page(small) for _ in range(25)]
            pages = [await viewer.__aenter__() for viewer in viewers]
            for each in pages:
                watched = await each.ask(type="analyse.watch", search=started["search"])
                assert watched["search"] == started["search"]
            await asyncio.sleep(0.5)  # nobody reads meanwhile
            await owner.ask(type="analyse.stop", search=started["search"])
            finals = await asyncio.gather(*(final_frame(each) for each in (owner, *pages)))
            assert len({frame["visits"] for frame in finals}) == 1
            for viewer in viewers:
                await viewer.__aexit__(None, None, None)

    asyncio.run(scenario())


async def final_frame(visitor: Any) -> dict[str, Any]:
    while True:
        frame: dict[str, Any] = await visitor.event("analyse.frame")
        if frame["final"]:
            return frame


def test_a_crowd_of_light_requests_is_answered(server: Server) -> None:
    async def crowd() -> list[int]:
        limits = httpx.Limits(max_connections=200)
        asked = {"type": "line", "line": line("connect4", "4", "4")}
        async with httpx.AsyncClient(
            base_url=server.url, timeout=60, limits=limits, trust_env=False
        ) as client:
            answers = await asyncio.gather(
                *(client.post("/api/message", json=asked) for _ in range(300))
            )
            return [answer.status_code for answer in answers]

    assert set(asyncio.run(crowd())) == {200}
