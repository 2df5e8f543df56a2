"""Properties that every registered game has, at positions of random games.

`check_game` is run too, but these properties are stated here on their own, so that a fault in the
kit does not hide a fault in a game.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zermelo
from zermelo.games.perft import divide, perft, plain_perft
from zermelo.games.protocol import HasCells, HasHash, HasNotation, HasSymmetries, State
from zermelo.games.render import ascii_board, svg_board
from zermelo.testing import check_game

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"
NATIVE = [
    *zermelo.game_names(),
    "hex?size=3",
    "hex?size=4&swap=on",
    "othello?size=6",
    "checkers?quiet_plies=12",
    "chess?encoder=lc0&mirror=on",
    "chess?chess960=on",
]
ALL = [*NATIVE, str(EXAMPLE)]

native_games = pytest.mark.parametrize("spec", NATIVE)
all_games = pytest.mark.parametrize("spec", ALL)
# A walk is a list of numbers; each picks one of the legal actions of its ply.
walks = st.lists(st.integers(0, 2**16), max_size=120)
few = settings(max_examples=15)


def walk(spec: str, picks: list[int]) -> tuple[Any, State, list[int]]:
    """The game, the position that the picks lead to, or the end of the game, and the actions."""
    game: Any = zermelo.game(spec)
    state, actions = game.initial(), []
    for pick in picks:
        if game.outcome(state) is not None:
            break
        legal = game.legal_actions(state)
        actions.append(legal[pick % len(legal)])
        state = game.play(state, actions[-1])
    return game, state, actions


def refusal(read: Callable[[str], object], text: str) -> str | None:
    """Why the text is refused; None if it is not."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.technique("E6")
@all_games
def test_the_conformance_kit_passes(spec: str) -> None:
    report = check_game(zermelo.game(spec), games=5, seed=11)
    assert report.ok, str(report)


@native_games
def test_native_games_have_every_optional_protocol_but_repetition(spec: str) -> None:
    game = zermelo.game(spec)
    for protocol in (HasHash, HasSymmetries, HasNotation, HasCells):
        assert isinstance(game, protocol)


@pytest.mark.technique("E6")
@all_games
@given(picks=walks)
@few
def test_exactly_the_legal_actions_can_be_played(spec: str, picks: list[int]) -> None:
    game, state, _ = walk(spec, picks)
    legal = set(game.legal_actions(state)) if game.outcome(state) is None else set()
    stride = max(1, game.num_actions // 60)
    for action in {*range(0, game.num_actions, stride), -1, game.num_actions} - legal:
        if game.outcome(state) is None:
            with pytest.raises(ValueError, match=r"\S"):
                game.play(state, action)
    for action in legal:
        game.play(state, action)


@all_games
@given(picks=walks)
@few
def test_a_finished_game_has_a_result_and_a_position_before_it_had_none(
    spec: str, picks: list[int]
) -> None:
    game, state, actions = walk(spec, picks)
    states = [game.initial()]
    for action in actions:
        states.append(game.play(states[-1], action))
    assert all(game.outcome(earlier) is None for earlier in states[:-1])
    assert game.outcome(states[-1]) == game.outcome(state)


@native_games
@given(picks=walks)
@few
def test_playing_the_same_actions_gives_an_equal_state(spec: str, picks: list[int]) -> None:
    game, state, actions = walk(spec, picks)
    again = game.initial()
    for action in actions:
        again = game.play(again, action)
    assert again == state
    assert hash(again) == hash(state)
    assert game.hash(again) == game.hash(state)


@native_games
@given(picks=walks)
@few
def test_states_survive_pickling_and_play_on(spec: str, picks: list[int]) -> None:
    game, state, _ = walk(spec, picks)
    copy = pickle.loads(pickle.dumps(state))
    assert copy == state
    assert game.outcome(copy) == game.outcome(state)
    assert game.legal_actions(copy) == game.legal_actions(state)
    assert np.array_equal(game.observe(copy), game.observe(state))


@native_games
@given(picks=walks)
@few
def test_a_packed_observation_expands_to_the_observation(spec: str, picks: list[int]) -> None:
    game, state, _ = walk(spec, picks)
    packed = game.observe_packed(state)
    assert packed.shape == (game.packed_words,)
    assert np.array_equal(game.expand_observations(packed[None])[0], game.observe(state))


@native_games
@given(picks=walks)
@few
def test_symmetries_commute_with_playing(spec: str, picks: list[int]) -> None:
    game, state, _ = walk(spec, picks)
    if game.outcome(state) is not None:
        return
    action = game.legal_actions(state)[-1]
    after = game.play(state, action)
    for k in range(game.num_symmetries(state)):
        image = game.play(game.transform(state, k), game.transform_action(action, k))
        assert game.hash(image) == game.hash(game.transform(after, k))
        assert game.outcome(image) == game.outcome(after)


@native_games
@given(picks=walks)
@few
def test_positions_and_actions_are_read_as_they_are_written(spec: str, picks: list[int]) -> None:
    game, state, _ = walk(spec, picks)
    text = game.position_text(state)
    assert game.position_text(game.parse_position(text)) == text
    for action in game.legal_actions(state):
        assert game.parse_action(state, game.action_text(state, action)) == action


@native_games
@given(text=st.text(st.characters(exclude_categories=("C", "Z")), max_size=40))
@few
def test_any_text_is_a_position_or_a_value_error(spec: str, text: str) -> None:
    game: Any = zermelo.game(spec)
    for read in (game.parse_position, lambda t: game.parse_action(game.initial(), t)):
        reason = refusal(read, text)
        assert reason is None or (reason and "\n" not in reason)


@all_games
@given(picks=walks)
@few
def test_every_position_can_be_drawn(spec: str, picks: list[int]) -> None:
    game, state, _ = walk(spec, picks)
    assert len(ascii_board(game, state).splitlines()) >= game.observation_shape[1]
    assert svg_board(game, state).startswith("<svg")


@all_games
def test_perft_is_the_plain_count_and_divides(spec: str) -> None:
    game = zermelo.game(spec)
    state = game.initial()
    assert perft(game, state, 0) == 1
    assert perft(game, state, 2) == plain_perft(game, state, 2)
    assert sum(divide(game, state, 2).values()) == perft(game, state, 2)
