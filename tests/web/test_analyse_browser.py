"""Analysis in a real browser, and what every view owes to every visitor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from web_browser import Visitor, chromium, needs_browser
from web_server import Server

pytestmark = needs_browser
GAME = "#/analyse?game=connect4&moves=4+4+4+3+5+2&ply=4"
VIEWS = ("#/", "#/play/connect4", GAME, "#/training")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


def visits(page: Any) -> str:
    return str(page.inner_text(".search-head"))


def searching(visitor: Visitor, address: str = GAME) -> Any:
    page = visitor.open(address)
    page.click("#search")
    page.wait_for_selector(".candidates tr.best")
    return page


def test_a_search_updates_until_it_is_stopped(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        page = searching(visitor, "#/analyse?game=othello")
        seen = {visits(page)}
        for _ in range(20):
            page.wait_for_timeout(100)
            seen.add(visits(page))
        assert len(seen) >= 5
        assert page.locator(".mark").count() > 0
        assert page.locator(".step").count() > 0
        page.click("#search")
        page.wait_for_selector("#search:has-text('Search')")
        page.wait_for_timeout(500)
        stopped = visits(page)
        page.wait_for_timeout(500)
        assert visits(page) == stopped


def test_the_graph_jumps_and_marks_the_blunder(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        page = visitor.open(GAME)
        page.select_option("#review-simulations", "100")
        page.click("#review")
        page.wait_for_selector("#review:has-text('Analyse the game')")
        assert page.locator(".move.blunder").count() >= 1
        assert page.locator(".graph-mark.blunder").count() >= 1
        box = page.locator(".value-graph").bounding_box()
        page.mouse.click(box["x"] + 2, box["y"] + 30)
        page.wait_for_selector(".moves:not(:has([aria-current]))")
        page.keyboard.press("End")
        page.wait_for_selector(".move-row:last-child .move:last-child[aria-current]")


def test_a_variation_is_shown_while_the_pointer_is_on_it(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        page = searching(visitor)
        page.click("#search")
        page.wait_for_timeout(400)
        stones = page.locator(".pieces > g").count()
        page.locator(".candidates tr.best .line-move").nth(2).hover()
        page.wait_for_selector(".board-frame.preview")
        assert page.locator(".pieces > g").count() == stones + 3
        page.mouse.move(5, 5)
        page.wait_for_selector(".board-frame:not(.preview)")
        assert page.locator(".pieces > g").count() == stones


def test_the_tree_opens_node_by_node(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        page = searching(visitor)
        page.wait_for_timeout(500)
        page.click("#open-tree")
        page.wait_for_selector(".tree > li > .tree-row")
        assert page.locator(".chosen-next").count() == 1
        page.locator(".tree > li > .tree-row").first.click()
        page.wait_for_selector(".tree li ul > li > .tree-row")
        page.locator(".tree li ul > li > .tree-row").first.click()
        page.wait_for_selector(".tree li ul ul > li")


def test_a_search_is_restricted_and_another_network_looks_beside_it(
    browser: Any, server: Server
) -> None:
    with Visitor(browser, server) as visitor:
        page = searching(visitor)
        page.click('[aria-label="Search 1 only"]')
        page.wait_for_selector(".chips:not([hidden])")
        page.wait_for_selector('.candidates tr.best .move-choice:text-is("1")')
        page.select_option("#network-b", "rollout")
        page.wait_for_selector(".second:not([hidden]) .candidates tr.best")


def test_the_perfect_answer_stands_beside_the_search(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        moves = "+".join("3133327647756713523256")
        page = searching(visitor, f"#/analyse?game=connect4&moves={moves}")
        page.click("#exact")
        page.wait_for_selector(".candidates td .tag.good:has-text('win in 5')")


def test_a_search_that_ends_before_its_start_is_answered_is_shown(
    browser: Any, server: Server
) -> None:
    with Visitor(browser, server) as visitor:
        held: list[str] = []
        ended: list[bool] = []

        def reorder(route: Any) -> None:
            upstream = route.connect_to_server()

            def passes(message: str) -> None:
                if '"analyse.started"' in message and not ended:
                    held.append(message)
                    return
                route.send(message)
                if '"final":true' in message:
                    ended.append(True)
                    for late in held:
                        route.send(late)

            upstream.on_message(passes)

        visitor.page.route_web_socket("**/ws", reorder)
        moves = "+".join("3133327647756713523256")  # one move wins: the search ends at once
        searching(visitor, f"#/analyse?game=connect4&moves={moves}")


def test_whoever_watches_a_search_goes_where_it_goes(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as owner, Visitor(browser, server) as watcher:
        seen: list[str] = []
        owner.page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda text: seen.append(str(text))),
        )
        page = searching(owner, "#/analyse?game=othello&moves=d3+c5&ply=2")
        found = next(re.search('"search":"([^"]+)"', text) for text in seen if '"search"' in text)
        assert found is not None
        other = watcher.open(f"#/analyse/watch/{found[1]}")
        other.wait_for_selector(".candidates tr.best")
        page.keyboard.press("ArrowLeft")  # the search follows the board
        other.wait_for_selector(".moves .move:has-text('c5')", state="detached")
        other.wait_for_selector(".candidates tr.best")
        before = visits(other)
        other.wait_for_timeout(1000)
        assert visits(other) != before


def test_the_policy_is_a_heat_map(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        page = searching(visitor, "#/analyse?game=othello")
        page.check("#choice-overlay-policy", force=True)
        page.wait_for_selector(".heat")
        assert page.locator(".heat").count() == 4


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [390, 768])
def test_no_view_is_wider_than_the_screen(
    browser: Any, server: Server, view: str, width: int
) -> None:
    with Visitor(browser, server, viewport={"width": width, "height": 844}) as visitor:
        page = visitor.open(view)
        page.wait_for_timeout(300)
        assert visitor.overflow() <= 0


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, server: Server, view: str, scheme: str) -> None:
    with Visitor(browser, server, color_scheme=scheme, bypass_csp=True) as visitor:
        page = visitor.open(view)
        page.wait_for_timeout(400)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert visitor.violations() == []


def test_the_theme_can_be_chosen_and_is_kept(browser: Any, server: Server) -> None:
    with Visitor(browser, server) as visitor:
        page = visitor.open("#/")
        page.click("#theme")
        page.reload()
        page.wait_for_selector(".welcome")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
