"""A search in a notebook: the board with its best actions on it, and the table, as HTML."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from native_games import native

import zermelo
from zermelo.games.svg import _BEST, _HINT
from zermelo.search import Search, SearchOptions, SearchResult, UniformEvaluator
from zermelo.search.notebook import NotebookView

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"
SPECS = [*zermelo.game_names(), str(EXAMPLE)]
SVG = "{http://www.w3.org/2000/svg}"


def searched(spec: str, simulations: int = 200) -> SearchResult:
    game = zermelo.game(spec)
    return Search(game, UniformEvaluator()).run(game.initial(), simulations=simulations)


def page(result: SearchResult) -> ElementTree.Element:
    """Well-formed, or this fails."""
    return ElementTree.fromstring(result._repr_html_())


@pytest.mark.parametrize("spec", SPECS)
def test_the_best_action_and_its_rivals_are_marked_on_the_board(spec: str) -> None:
    result = searched(spec)
    shapes = [
        colour
        for element in page(result).iter()
        for colour in (element.get("fill"), element.get("stroke"))
        if colour
    ]
    # Chess writes the opacity as two more digits of the colour.
    best = [colour for colour in shapes if colour.startswith(_BEST)]
    others = [colour for colour in shapes if colour.startswith(_HINT)]
    assert best
    assert len(others) >= 3 * len(best)
    assert shapes.index(best[0]) > max(shapes.index(colour) for colour in others)  # lies on top


def test_an_arrow_of_chess_goes_from_square_to_square() -> None:
    game = native("chess")
    state = game.parse_position("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
    result = Search(game, UniformEvaluator()).run(state, simulations=500)
    (arrow,) = [
        element
        for element in page(result).iter(f"{SVG}line")
        if (element.get("stroke") or "").startswith(_BEST)
    ]
    assert arrow.get("x1") == arrow.get("x2")  # d1d8: straight up the board
    assert float(arrow.get("y1", 0)) > float(arrow.get("y2", 0))


def test_the_table_has_the_candidates_and_what_is_proven() -> None:
    game = native("tictactoe")
    state = game.parse_position("XX./OO./...")
    result = Search(game, UniformEvaluator()).run(state, simulations=50)
    root = page(result)
    caption = root.findtext(".//caption")
    assert caption is not None
    assert caption.startswith("c3: value +")
    assert "(win in 1)" in caption
    rows = root.findall(".//table/tr")[1:]
    assert [rows[0].findtext("td"), len(rows)] == ["c3", 5]
    assert "win in 1" in [cell.text for cell in rows[0]]


def test_a_view_redraws_one_place_while_the_search_runs() -> None:
    shown: list[str] = []

    class Handle:
        def update(self, picture: object) -> None:
            shown.append(picture._repr_html_())  # type: ignore[attr-defined]

    def display(picture: object, display_id: bool) -> Handle:
        assert display_id
        assert not shown  # only once
        Handle().update(picture)
        return Handle()

    game = native("connect4")
    view = NotebookView(frames_per_second=20, display=display)
    search = Search(game, UniformEvaluator(), SearchOptions(solver=False))
    result = search.run(game.initial(), seconds=0.4, progress=view)
    frames = len(shown)
    assert 2 <= frames <= 10
    assert len(set(shown)) == frames
    view.show(result)
    assert shown[-1] == result._repr_html_()
