"""The core tells what a person gave it from what a program of ours should never have done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from zermelo import _core

GAME = _core.Connect4()
START = GAME.initial()


def finished() -> _core.Connect4State:
    """Four in the first column."""
    state = START
    for action in (0, 1, 0, 1, 0, 1, 0):
        state = GAME.play(state, action)
    return state


INPUT: dict[str, Callable[[], object]] = {
    "an action's text": lambda: GAME.parse_action(START, "z9"),
    "a position's text": lambda: GAME.parse_position("nonsense"),
    "a chess position": lambda: _core.Chess().parse_position("8/8/8/8/8/8/8/8 w - -"),
    "a size of the board": lambda: _core.Hex(1000),
    "an option's name": lambda: _core.SearchOptions(nothing=1),
}
MISUSE: dict[str, Callable[[], object]] = {
    "an action that is not legal": lambda: GAME.play(START, 99),
    "an action after the end": lambda: GAME.play(finished(), 6),
    "a symmetry that is none": lambda: GAME.transform(START, 7),
    "a state of another board": lambda: _core.Hex(5).play(_core.Hex(6).initial(), 0),
}


@pytest.mark.parametrize("what", INPUT)
def test_input_that_the_core_cannot_take_is_refused(what: str) -> None:
    """One sentence for the person; a ValueError for programs that do not know more."""
    with pytest.raises(_core.RefusedError) as found:
        INPUT[what]()
    assert isinstance(found.value, ValueError)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("what", MISUSE)
def test_a_call_that_no_correct_program_makes_is_no_refusal(what: str) -> None:
    """A plain ValueError: the command line must not blame the person for it."""
    with pytest.raises(ValueError, match=" ") as found:
        MISUSE[what]()
    assert not isinstance(found.value, _core.RefusedError)
