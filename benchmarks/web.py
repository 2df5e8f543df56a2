"""What the web page costs and bears: first paint, updates, a viewer's price, crowds, many games.

Usage: python benchmarks/web.py [--quick] [--only paint|viewer|crowd|games|viewers] [--json]

Starts a server of its own in another process. Needs the extras `web` and `dev`, and Chromium for
the first paint. Prints one line per figure, with the bound that it must keep; with `--json` one
object. The exit code is 1 if a bound is not kept.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

QUICK = "--quick" in sys.argv
JSON = "--json" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
FIGURES: dict[str, str] = {}
MISSED: list[str] = []
TRIED: list[int] = []  # requests, viewers, games
CHROMIUM = "/usr/bin/chromium"
LINE = {"game": "connect4", "start": None, "moves": []}
SEATS = [{"opponent": None}, {"opponent": None}]


def report(name: str, figure: str, bound: str, kept: bool) -> None:
    """One figure."""
    FIGURES[name] = figure
    if not kept:
        MISSED.append(name)
    if not JSON:
        verdict = "" if kept else "   MISSED"
        print(f"{name:<44} {figure:>24}   must be {bound}{verdict}", flush=True)


def start() -> tuple[subprocess.Popen[str], str]:
    """A server on a free port."""
    command = [sys.executable, "-m", "zermelo", "web", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split()[3].rstrip("/")
    return server, address


def memory(pid: int) -> float:
    """Resident MiB."""
    for row in Path(f"/proc/{pid}/status").read_text().splitlines():
        if row.startswith("VmRSS"):
            return int(row.split()[1]) / 1024
    return 0.0


def processor_seconds(pid: int) -> float:
    """That the server has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_paint(address: str) -> None:
    """As the browser measures it, the median of some visits."""
    if not os.path.exists(CHROMIUM):
        print("no Chromium: first paint is not measured", file=sys.stderr)
        return
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for _ in range(3 if QUICK else 7):
            page = browser.new_page()
            page.goto(f"{address}/#/analyse")
            page.wait_for_selector(".analyse")
            times.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            page.close()
        browser.close()
    median = statistics.median(times)
    report("first paint, median", f"{median:.0f} ms", "<= 1,000 ms", median <= 1000)


async def socket_of(address: str) -> Any:
    """A page's side of the socket."""
    socket = await connect(address.replace("http", "ws") + "/ws", max_size=None, proxy=None)
    await ask(socket, {"type": "hello", "version": 1})
    return socket


async def ask(socket: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The reply to one request; frames on the way are dropped."""
    await socket.send(json.dumps(request | {"id": 1}))
    while True:
        found: dict[str, Any] = json.loads(await socket.recv())
        if found["reply"] == 1:
            return found


async def search(address: str, seconds: float) -> tuple[float, float]:
    """Nodes and frames a second of one live search with one viewer."""
    socket = await socket_of(address)
    network = {"type": "analyse.start", "line": LINE, "network": "rollout"}
    started = await ask(socket, network)
    began, frames, last = time.perf_counter(), 0, {}
    while time.perf_counter() - began < seconds:
        last = json.loads(await socket.recv())
        frames += last["type"] == "analyse.frame"
    await ask(socket, {"type": "analyse.stop", "search": started["search"]})
    await socket.close()
    return last["per_second"], frames / seconds


def alone(seconds: float) -> float:
    """The same search without a page."""
    from zermelo import game
    from zermelo.search import Limits, LiveSearch, RolloutEvaluator, SearchOptions

    live = LiveSearch(game("connect4"), RolloutEvaluator(seed=1), SearchOptions(threads=1))
    live.follow(live.game.initial())
    result = live.run(Limits(seconds=seconds))
    return float(result.counters["simulations"]) / result.seconds


def viewer(address: str) -> None:
    """Updates, and what a viewer costs; by turns, since a busy machine drifts."""
    seconds = 2.0 if QUICK else 5.0
    shares, frames = [], []
    for _ in range(2 if QUICK else 5):
        without = alone(seconds)
        watched, rate = asyncio.run(search(address, seconds))
        shares.append(watched / without)
        frames.append(rate)
    rate = statistics.median(frames)
    report("updates of a live search", f"{rate:.1f}/s", ">= 5/s", rate >= 5)
    cost = 100 * (1 - statistics.median(shares))
    report("nodes/s that a viewer costs", f"{cost:.1f} %", "<= 5 %", cost <= 5)


class Poster:
    """Posts one message again and again, each over a connection of its own; does no more."""

    def __init__(self, address: str, message: dict[str, Any]) -> None:
        self._host, _, self._port = address.removeprefix("http://").partition(":")
        body = json.dumps(message).encode()
        head = f"POST /api/message HTTP/1.1\r\nhost: {self._host}\r\nconnection: close\r\n"
        self._request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body

    async def __call__(self) -> tuple[float, int]:
        """Seconds and the status."""
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection(self._host, int(self._port))
        writer.write(self._request)
        answer = await reader.read()
        writer.close()
        return time.perf_counter() - began, int(answer.split()[1])


async def crowd(address: str, count: int, pid: int) -> None:
    """So many requests at a time."""
    post = Poster(address, {"type": "line", "line": LINE | {"moves": ["4", "4", "3"]}})
    before = processor_seconds(pid)
    found = await asyncio.gather(*(post() for _ in range(count)))
    TRIED.append(count)
    used = processor_seconds(pid) - before
    faults = sum(code >= 500 for _, code in found)
    p99 = sorted(seconds for seconds, _ in found)[int(0.99 * count) - 1]
    report(f"{count:,} requests at a time: 5xx", str(faults), "0", faults == 0)
    report(f"{count:,} requests at a time: p99", f"{p99:.2f} s", "<= 2 s", p99 <= 2)
    report(f"{count:,} requests at a time: processor", f"{used:.2f} s", "<= 2 s", used <= 2)


async def viewers(address: str, count: int, pid: int) -> tuple[int, float]:
    """How many viewers of one search get its last frame; MiB that the server grows by."""
    before = memory(pid)
    sockets = [await socket_of(address) for _ in range(count)]
    owner = await socket_of(address)
    started = await ask(
        owner, {"type": "analyse.start", "line": LINE | {"game": "othello"}, "network": "rollout"}
    )
    finals = 0

    async def watch(socket: Any) -> None:
        nonlocal finals
        await ask(socket, {"type": "analyse.watch", "search": started["search"]})
        while True:
            frame = json.loads(await socket.recv())
            if frame["type"] == "analyse.frame" and frame["final"]:
                finals += 1
                return

    tasks = [asyncio.create_task(watch(socket)) for socket in sockets]
    await asyncio.sleep(3.0)
    await ask(owner, {"type": "analyse.stop", "search": started["search"]})
    await asyncio.wait(tasks, timeout=20)
    grown = memory(pid) - before
    for socket in (owner, *sockets):
        await socket.close()
    return finals, grown


def many_viewers(count: int) -> None:
    """A new server each for one viewer and for many: the search takes memory of its own."""
    found = []
    for watching in (1, count):
        server, address = start()
        try:
            found.append(asyncio.run(viewers(address, watching, server.pid)))
        finally:
            server.terminate()
            server.wait(10)
    (_, alone), (finals, together) = found
    TRIED.append(count)
    report(f"{count} viewers: last frames", f"{finals} of {count}", "all", finals == count)
    grown = together - alone
    report(f"{count} viewers: memory", f"{grown:+.0f} MiB", "<= 50 MiB", grown <= 50)


async def games(address: str, count: int, pid: int) -> None:
    """Memory after very many new games."""
    post = Poster(address, {"type": "play.new", "line": LINE, "seats": SEATS})
    began, before = time.perf_counter(), memory(pid)
    for _ in range(count // 50):
        await asyncio.gather(*(post() for _ in range(50)))
    rate = count / (time.perf_counter() - began)
    TRIED.append(count)
    grown = memory(pid) - before
    figure = f"{grown:+.0f} MiB, {rate:.0f}/s"
    report(f"{count:,} new games: memory", figure, "<= 50 MiB", grown <= 50)


def main() -> int:
    """All of them, or one."""
    few = 3_000 if QUICK else 100_000
    parts = {
        "paint": lambda address, _: first_paint(address),
        "viewer": lambda address, _: viewer(address),
        "crowd": lambda address, pid: asyncio.run(crowd(address, 1000, pid)),
        "games": lambda address, pid: asyncio.run(games(address, few, pid)),
    }
    server, address = start()
    try:
        for name, part in parts.items():
            if ONLY in ("", name):
                part(address, server.pid)
    finally:
        server.terminate()
        server.wait(10)
    if ONLY in ("", "viewers"):
        many_viewers(200)
    if JSON:
        missed = {"missed": ", ".join(MISSED)} if MISSED else {}
        print(json.dumps({"tried": sum(TRIED) or len(FIGURES)} | missed | FIGURES))
    return bool(MISSED)


if __name__ == "__main__":
    sys.exit(main())
