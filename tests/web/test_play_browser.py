"""Playing in a real browser: by mouse, by drag, by keys; every game to its end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from web_browser import Visitor, chromium, needs_browser
from web_server import Server, running

from zermelo.web.settings import WebSettings

pytestmark = needs_browser
FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    with running(WebSettings(games=("examples/my_game.py",))) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


def play_out(visitor: Visitor, game: str, chosen: list[str], most: int = 400) -> list[str]:
    """Two people at one screen, until the game is over; random moves after the chosen ones."""
    page = visitor.new_game(game, "person")
    chance = random.Random(7)
    moves: list[str] = []
    while len(moves) < most:
        legal = visitor.legal(game, moves)
        if not legal:
            break
        wanted = chosen[len(moves)] if len(moves) < len(chosen) else None
        move = next((each for each in legal if each["text"] == wanted), chance.choice(legal))
        if not move["cells"]:
            page.click(f'[data-action="{move["text"]}"]')
        else:
            visitor.click(game, move["cells"][0])
            if len(move["cells"]) > 1:
                visitor.click(game, move["cells"][-1])
        moves.append(move["text"])
        visitor.wait_for_moves(len(moves))
    page.wait_for_selector(".status.over")
    return moves


@pytest.mark.parametrize(
    "game",
    [
        "tictactoe",
        "connect4",
        "hex?size=5",
        "own-1",
        "othello?size=6",
        pytest.param("checkers", marks=pytest.mark.slow),
        pytest.param("othello", marks=pytest.mark.slow),
        pytest.param("hex?size=7&swap=on", marks=pytest.mark.slow),
    ],
)
def test_a_full_game_is_played_by_mouse(browser: Any, own: Server, game: str) -> None:
    with Visitor(browser, own) as visitor:
        moves = play_out(visitor, game, [])
        assert visitor.moves() == len(moves)


def test_a_game_of_chess_ends_with_mate(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        assert play_out(visitor, "chess", FOOLS_MATE) == FOOLS_MATE
        assert "Black wins" in visitor.page.inner_text(".status")
        assert visitor.page.locator(".tint.check").count() == 1


def test_a_pawn_is_dragged_to_the_last_row_and_becomes_what_is_chosen(
    browser: Any, own: Server
) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.new_game("chess", "person")
        page.click('[aria-label="Share or load"]')
        page.fill("#pasted", "8/P6k/8/8/8/8/8/K7 w - - 0 1")
        page.click("dialog .button.main")
        page.wait_for_selector("dialog", state="detached")
        page.wait_for_selector('.board-frame .pieces [data-cell="52"]', state="detached")
        visitor.drag("chess", 8, 0)
        page.click('.promotion[data-piece="n"]')
        visitor.wait_for_moves(1)
        assert page.inner_text(".moves .move") == "a8=N"


def test_an_illegal_drag_goes_back_and_nothing_happens(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        visitor.new_game("chess", "person")
        visitor.drag("chess", 52, 20)  # e2 to e6
        visitor.drag("chess", 52, 36)  # e2 to e4
        visitor.wait_for_moves(1)
        assert visitor.moves() == 1


def test_an_opponent_answers_a_move_is_taken_back_and_the_sides_are_changed(
    browser: Any, own: Server
) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.new_game("connect4", "shipped-connect4", side="first")
        visitor.click("connect4", 3)
        visitor.wait_for_moves(2)
        page.click('[aria-label="Take back"]')
        visitor.wait_for_moves(0, exactly=True)
        page.check("#choice-side-second", force=True)
        visitor.begin()
        visitor.wait_for_moves(1)
        assert "Your move" in page.inner_text(".status")


def test_the_level_is_chosen_by_a_slider(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.open("#/play/connect4")
        page.locator("#setup-level").fill("9")
        assert "Champion" in page.inner_text("#setup-level-title")
        visitor.begin()
        page.wait_for_selector(".player:has-text('level 9')")


def test_a_hint_and_the_evaluation_are_shown(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.new_game("tictactoe", "person")
        page.check("#evaluate")
        page.wait_for_selector(".evaluation:not(.unknown):not([hidden])")
        page.click('[aria-label="Hint"]')
        page.wait_for_selector(".mark.hint")
        assert "Hint" in page.inner_text(".toasts")


def test_a_clock_runs_out(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.open("#/play/tictactoe")
        page.select_option("#setup-opponent", "person")
        page.evaluate("document.querySelector('#setup-clock option[value=\"60\"]').value = '1'")
        page.select_option("#setup-clock", "1")
        visitor.begin()
        page.wait_for_selector("[data-clock]")
        visitor.click("tictactoe", 4)
        page.wait_for_selector(".status.over:has-text('out of time')")


def test_a_game_is_played_by_keys_alone(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.new_game("tictactoe", "person")
        page.focus("svg.board")
        for keys in (["ArrowUp", "Enter"], ["ArrowLeft", "Enter"], ["ArrowDown", "Enter"]):
            before = visitor.moves()
            for key in keys:
                page.keyboard.press(key)
            visitor.wait_for_moves(before + 1)
            page.focus("svg.board")
        page.focus("#typed-move")
        page.keyboard.type("c3")
        page.keyboard.press("Enter")
        visitor.wait_for_moves(4)
        page.locator("#typed-move").blur()
        page.keyboard.press("u")
        visitor.wait_for_moves(3, exactly=True)


def test_the_page_comes_back_by_itself_after_the_server_was_restarted(browser: Any) -> None:
    with running() as first:
        port = first.port
        visitor = Visitor(browser, first)
        page = visitor.new_game("connect4", "person")
        visitor.click("connect4", 3)
        visitor.wait_for_moves(1)
    page.wait_for_selector('#connection[data-state="lost"]')
    assert "Reconnecting" in page.inner_text("#connection")
    with running(port=port):
        page.wait_for_selector('#connection[data-state="open"]', state="attached")
        page.wait_for_timeout(300)
        visitor.click("connect4", 3)
        visitor.wait_for_moves(2)
        visitor.faults.clear()  # the browser notes that nobody answered
        with visitor:
            pass


def test_hostile_text_is_shown_as_text(browser: Any, own: Server) -> None:
    with Visitor(browser, own) as visitor:
        page = visitor.open("#/analyse?game=chess")
        page.click('[aria-label="Share or load"]')
        hostile = (
            '[White "<img src=x onerror=alert(1)>"]\n[Black "<script>alert(2)</script>"]\n\n1. e4 *'
        )
        page.fill("#pasted", hostile)
        page.click("dialog .button.main")
        page.wait_for_selector(".toast:has-text('<script>')")
        assert page.locator(".toast img").count() == 0
