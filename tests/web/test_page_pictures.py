"""The pictures of README and guide: taken here, so that they show the page as it is.

`make pictures` writes them to docs/images; without ZERMELO_PICTURES they are taken and thrown away.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_browser import Visitor, chromium, needs_browser
from web_server import Server

pytestmark = needs_browser
IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


def take(page: Any, name: str, folder: Path) -> None:
    place = (IMAGES if os.environ.get("ZERMELO_PICTURES") else folder) / f"{name}.png"
    place.parent.mkdir(parents=True, exist_ok=True)
    page.mouse.move(2, 400)
    page.screenshot(path=str(place))
    assert place.stat().st_size > 20_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_welcome_page_has_its_picture_taken(
    browser: Any, server: Server, scheme: str, tmp_path: Path
) -> None:
    with Visitor(browser, server, viewport=SIZE, color_scheme=scheme) as visitor:
        page = visitor.open("#/")
        page.wait_for_selector(".hero-board .pieces > g:nth-child(12)")
        page.wait_for_timeout(700)
        take(page, f"welcome-{scheme}", tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_game_has_its_picture_taken(
    browser: Any, server: Server, scheme: str, tmp_path: Path
) -> None:
    with Visitor(browser, server, viewport=SIZE, color_scheme=scheme) as visitor:
        page = visitor.new_game("connect4", "person")
        for ply, move in enumerate("44335453", 1):
            page.fill("#typed-move", move)
            page.keyboard.press("Enter")
            visitor.wait_for_moves(ply)
        page.check("#evaluate")
        page.wait_for_selector(".evaluation:not(.unknown)")
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.wait_for_timeout(900)
        take(page, f"play-{scheme}", tmp_path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_analysis_has_its_picture_taken(
    browser: Any, server: Server, scheme: str, tmp_path: Path
) -> None:
    size = {"width": 1440, "height": 900}
    with Visitor(browser, server, viewport=size, color_scheme=scheme) as visitor:
        page = visitor.open("#/analyse?game=connect4&moves=4+4+3+5+5+4+3+3+4+6+2+3+3+6&ply=9")
        page.wait_for_selector("#network-a")
        page.select_option("#review-simulations", "100")
        page.click("#review")
        page.wait_for_selector("#review:has-text('Analyse the game')")
        page.click("#search")
        page.wait_for_selector(".candidates tr.best")
        page.wait_for_timeout(2500)
        page.click("#open-tree")
        page.wait_for_selector(".tree > li > .tree-row")
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.mouse.move(2, 400)
        page.wait_for_timeout(500)
        take(page, f"analyse-{scheme}", tmp_path)
