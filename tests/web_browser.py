"""A visitor of the page in headless Chromium, who notes whatever goes wrong. For tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from web_server import Server

CHROMIUM = Path("/usr/bin/chromium")
AXE = Path(__file__).parents[1] / "build/web/node_modules/axe-core/axe.min.js"
PATIENCE = 30_000  # milliseconds
needs_browser = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium")

# Where a cell of the board is on the screen.
_PLACE = """async ([cell, shape, flipped]) => {
  const { Geometry } = await import("/board/geometry.js");
  scrollTo(0, 0); // not below the header
  const svg = document.querySelector(".board-frame svg.board");
  const [x, y] = new Geometry(shape, flipped).centre(cell);
  const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  return [at.x, at.y];
}"""


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser."""
    found = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with found.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield launched
        launched.close()


class Visitor:
    """One page; leaving it asserts that nothing went wrong."""

    def __init__(self, browser: Any, server: Server, **options: Any) -> None:
        self.server = server
        self.context = browser.new_context(
            **({"viewport": {"width": 1280, "height": 860}} | options)
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._said)
        self.page.on("request", self._asked)
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog {dialog.message}"))
        welcome = server.ask({"type": "hello", "version": 1})
        self.games = {game["id"]: game for game in welcome["games"]}

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _asked(self, request: Any) -> None:
        ours = (self.server.url, self.server.url.replace("http", "ws"), "data:", "blob:")
        if not request.url.startswith(ours):
            self.faults.append(f"asked for {request.url}")

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.faults == []

    def open(self, address: str) -> Any:
        """A view, by what stands after the #."""
        self.page.goto(f"{self.server.url}/{address}")
        self.page.wait_for_selector("main > *:not(.empty)")
        return self.page

    def place(self, game: str, cell: int, flipped: bool = False) -> tuple[float, float]:
        """A cell's centre on the screen."""
        x, y = self.page.evaluate(_PLACE, [cell, self.games[game]["shape"], flipped])
        return x, y

    def click(self, game: str, cell: int, flipped: bool = False) -> None:
        self.page.mouse.click(*self.place(game, cell, flipped))

    def drag(self, game: str, source: int, target: int) -> None:
        mouse = self.page.mouse
        mouse.move(*self.place(game, source))
        mouse.down()
        x, y = self.place(game, target)
        mouse.move(x - 8, y - 8, steps=3)
        mouse.move(x, y)
        mouse.up()

    def legal(self, game: str, moves: list[str]) -> list[dict[str, Any]]:
        """What can be played after some moves."""
        asked = {"type": "line", "line": {"game": game, "start": None, "moves": moves}}
        position: dict[str, Any] = self.server.ask(asked)["position"]
        return list(position["legal"])

    def new_game(self, game: str, opponent: str, **chosen: str) -> Any:
        """By the form."""
        page = self.open("#/play")
        page.select_option("#setup-game", game)
        page.select_option("#setup-opponent", opponent)
        for name, value in chosen.items():
            page.check(f"#choice-{name}-{value}", force=True)
        self.begin()
        return page

    def begin(self) -> None:
        """Presses the form's button and waits for the new board."""
        self.page.wait_for_selector("[data-session]")
        before = self.page.get_attribute("[data-session]", "data-session")
        self.page.click("#setup-begin")
        self.page.wait_for_selector(f'[data-session]:not([data-session="{before}"])')

    def moves(self) -> int:
        """Moves in the list."""
        return int(self.page.locator(".moves .move").count())

    def wait_for_moves(self, count: int, exactly: bool = False) -> None:
        """Asked again and again: the page's policy allows no script that could wait there."""
        for _ in range(PATIENCE // 20):
            now = self.moves()
            if now == count or (now > count and not exactly):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"there are {self.moves()} moves, not {count}")

    def violations(self) -> list[str]:
        """Serious findings of axe; skips the test where it is not installed."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed: make check-page installs it")
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}"
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]

    def overflow(self) -> int:
        """Pixels that the page is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))
