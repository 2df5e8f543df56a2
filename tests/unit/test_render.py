"""Positions are shown to people as text and as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

import zermelo
from zermelo.errors import UserError
from zermelo.games.board import action_cells, board_of
from zermelo.games.notation import action_text, parse_action
from zermelo.games.protocol import Game, State
from zermelo.games.render import ascii_board, rich_board, svg_board

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"

SPECS = [*zermelo.game_names(), "hex?size=5&swap=on", "othello?size=6", str(EXAMPLE)]


def after(game: Game, *texts: str) -> tuple[State, int, State]:
    """The state after some actions, the last action and the state before it."""
    state = before = game.initial()
    action = -1
    for text in texts:
        before, action = state, parse_action(game, state, text)
        state = game.play(state, action)
    return state, action, before


class Counter:
    """A game that does not look like a board."""

    name = "counter"
    num_actions = 2
    observation_shape = (1, 1, 1)

    def __getattr__(self, method: str) -> object:
        raise AttributeError(method)


def test_tictactoe_has_coordinates_and_brackets_around_the_last_action() -> None:
    game = zermelo.game("tictactoe")
    state, action, _ = after(game, "b2", "c1")
    assert ascii_board(game, state, action).splitlines() == [
        "3  . . .",
        "2  . X .",
        "1  . .[O]",
        "   a b c",
    ]


def test_connect4_has_its_columns_below_and_marks_the_stone_that_fell() -> None:
    game = zermelo.game("connect4")
    state, action, _ = after(game, "4", "4")
    assert ascii_board(game, state, action).splitlines()[-3:] == [
        "  . . .[O]. . .",
        "  . . . X . . .",
        "  1 2 3 4 5 6 7",
    ]


def test_othello_counts_its_rows_from_the_top() -> None:
    game = zermelo.game("othello?size=6")
    lines = ascii_board(game, game.initial()).splitlines()
    assert lines[0] == "1  . . . . . ."
    assert lines[-1] == "   a b c d e f"


def test_hex_is_slanted_and_marks_both_players_stones_as_the_board_lies() -> None:
    game = zermelo.game("hex?size=3")
    state, action, before = after(game, "b1", "a3")
    expected = ["   a b c", "1  . X .", " 2  . . .", "  3 [O]. ."]
    assert ascii_board(game, state, action).splitlines() == expected
    assert ascii_board(game, state, action, before).splitlines() == expected


def test_checkers_rows_are_labelled_by_their_squares() -> None:
    game = zermelo.game("checkers")
    state, action, before = after(game, "9-14")
    lines = ascii_board(game, state, action, before).splitlines()
    assert lines[0] == " 1  . b . b . b . b  4"
    assert lines[2] == " 9  .[.]. b . b . b  12"
    assert lines[3] == "13  . .[b]. . . . .  16"
    assert len(lines) == 8


def test_chess_shows_where_a_move_came_from_and_went_to() -> None:
    game = zermelo.game("chess")
    state, action, before = after(game, "e2e4")
    lines = ascii_board(game, state, action, before).splitlines()
    assert lines[0] == "8  r n b q k b n r"
    assert lines[4] == "4  . . . .[P]. . ."
    assert lines[6] == "2  P P P P[.]P P P"
    assert lines[8] == "   a b c d e f g h"


def test_a_game_without_cells_is_shown_as_its_state() -> None:
    assert ascii_board(Counter(), "17 beans") == "17 beans"  # type: ignore[arg-type]
    assert "17 beans &lt;" in svg_board(Counter(), "17 beans <")  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", SPECS)
def test_coloured_text_is_the_plain_text(spec: str) -> None:
    game = zermelo.game(spec)
    state = game.initial()
    for _ in range(3):
        before, action = state, game.legal_actions(state)[0]
        state = game.play(state, action)
        shown = rich_board(game, state, action, before).plain
        assert shown == ascii_board(game, state, action, before)


@pytest.mark.parametrize("spec", SPECS)
def test_every_picture_is_well_formed_with_all_legal_actions_as_arrows(spec: str) -> None:
    game = zermelo.game(spec)
    state = game.initial()
    for ply in range(5):
        actions = game.legal_actions(state)
        arrows = [(action, 1 / len(actions)) for action in actions]
        picture = svg_board(game, state, arrows, size=320)
        root = ElementTree.fromstring(picture)
        assert root.tag.endswith("svg")
        assert root.get("width") == "320"
        state = game.play(state, actions[ply % len(actions)])


@pytest.mark.parametrize("spec", SPECS)
def test_every_action_of_the_first_plies_lies_on_the_board(spec: str) -> None:
    game = zermelo.game(spec)
    state = game.initial()
    for ply in range(5):
        board = board_of(game, state)
        assert board is not None
        actions = game.legal_actions(state)
        for action in actions:
            cells = action_cells(game, state, action)
            assert cells or action >= board.rows * board.columns  # a pass or a swap
            assert all(0 <= cell < len(board.cells) for cell in cells)
            if len(cells) == 1:
                assert board.cells[cells[0]] == "."
        state = game.play(state, actions[-1 - ply % len(actions)])


def test_actions_off_the_board_are_written_below_the_picture() -> None:
    game = zermelo.game("hex?size=5&swap=on")
    state, _, _ = after(game, "c3")
    swap = parse_action(game, state, "swap")
    assert "swap 75%" in svg_board(game, state, [(swap, 0.75)])


def test_placing_games_show_the_weight_in_per_cent() -> None:
    game = zermelo.game("tictactoe")
    assert ">62%<" in svg_board(game, game.initial(), [(4, 0.62)])


def test_letters_are_escaped_in_pictures() -> None:
    class Letters(type(zermelo.game(EXAMPLE))):  # type: ignore[misc]
        def cells(self, _: State) -> str:
            return "<" * 25

    picture = svg_board(Letters(), Letters().initial())
    assert "&lt;" in picture
    ElementTree.fromstring(picture)


class Bare:
    """A game whose author named no actions."""

    def __init__(self, spec: str) -> None:
        self._game: Any = zermelo.game(spec)

    def __getattr__(self, method: str) -> Any:
        if method in ("action_text", "parse_action"):
            raise AttributeError(method)
        return getattr(self._game, method)


def test_actions_without_a_name_are_called_by_the_cell_that_they_fill() -> None:
    named, bare = zermelo.game("tictactoe"), cast(Any, Bare("tictactoe"))
    state = bare.play(bare.initial(), 4)
    for action in bare.legal_actions(state):
        name = action_text(bare, state, action)
        assert name == action_text(named, state, action)
        assert parse_action(bare, state, name) == parse_action(bare, state, str(action)) == action
        assert action_cells(bare, state, action) == (action,)
    for text in ("b2", "4"):  # which is taken
        with pytest.raises(UserError, match=f"'{text}' is not legal here; legal are a3, b3"):
            parse_action(bare, state, text)


@pytest.mark.parametrize("spec", ["connect4", "chess"])
def test_actions_that_are_no_cells_keep_their_numbers(spec: str) -> None:
    bare = cast(Any, Bare(spec))
    state = bare.initial()
    for action in bare.legal_actions(state):
        assert action_text(bare, state, action) == str(action)
