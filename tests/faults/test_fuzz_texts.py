"""Any text in the place of positions, moves, commands, requests and settings: a value or a refusal.

What a search for such texts found is kept in tests/data/fuzz_texts.json and tried every time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import zermelo
from zermelo.analysis.request import read_line, read_request
from zermelo.errors import REFUSALS
from zermelo.games.notation import parse_action
from zermelo.games.notation import parse_position as read_position
from zermelo.players import player
from zermelo.uci.protocol import parse_go, parse_position, parse_setoption, printable
from zermelo.web.connection import read_request as read_frame
from zermelo.web.refusal import Refusal

NAMES = ("tictactoe", "connect4", "othello?size=6", "hex?size=5", "checkers", "chess")
GAMES: list[Any] = [zermelo.game(name) for name in NAMES]
KEPT: list[str] = json.loads((Path(__file__).parents[1] / "data" / "fuzz_texts.json").read_text())
# Pieces of what is right, and anything between them.
RIGHT = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1|startpos moves|fen|e2e4|XX./OO./...|"
    "go|mate|nodes|wtime|-1|99999999999999999999|searchmoves|infinite|ponder|name|value|position|"
    "hex?size=|search?simulations=|&|=|nan|inf|1e999|uci:|.py|\x00|\ud800|{|}|[|]|null"
)
PIECES = st.sampled_from(RIGHT.split("|"))
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12).map(" ".join),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), PIECES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = (
    "id action game position moves simulations seconds allowed analyseTurns includePolicy "
    "reportEvery type number line terminateId format version token"
)
KEYS = st.sampled_from(FIELDS.split())
OBJECTS = st.dictionaries(st.one_of(KEYS, st.text(max_size=8)), VALUES, max_size=8)


def quietly(read: Callable[[], Any]) -> None:
    """A value, or a refusal that says something."""
    said = "fine"
    try:
        read()
    except (*REFUSALS, Refusal) as error:
        said = str(error)
    assert said


def try_text(text: str) -> None:
    words = text.split()
    parse_go(words)
    assert "\n" not in printable(text)
    line = text.encode(errors="replace").decode()  # as the engine reads its input
    quietly(lambda: parse_position(line.split(), chess960=False))
    quietly(lambda: parse_setoption(text))
    quietly(lambda: read_line(text))
    quietly(lambda: read_frame(text))
    for game in GAMES:
        quietly(partial(read_position, game, text))
        quietly(partial(parse_action, game, game.initial(), text))
    if ".py" not in text and "uci:" not in text:  # those may run something
        quietly(lambda: zermelo.game(text))
        quietly(lambda: player(text, GAMES[0]))


@pytest.mark.parametrize("text", KEPT)
def test_what_was_found_is_refused(text: str) -> None:
    try_text(text)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
@example("go mate -4")
def test_any_text_is_read_or_refused(text: str) -> None:
    try_text(text)


@settings(max_examples=200, deadline=None)
@given(OBJECTS)
def test_any_request_is_read_or_refused(request: dict[str, Any]) -> None:
    for game in (GAMES[0], GAMES[-1]):
        quietly(partial(read_request, request, game, 10))
    quietly(lambda: read_frame(json.dumps(request)))


@pytest.mark.slow
def test_any_text_of_many_is_read_or_refused(
    record_property: Callable[[str, object], None],
) -> None:
    settings(max_examples=20_000, deadline=None)(given(TEXTS)(try_text))()
    record_property("tried", 20_000)
