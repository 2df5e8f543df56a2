"""The single properties of a sound game: functions that raise `UnsoundError` with a sentence.

Cheap ones run at every position of a random game, in an order in which each builds on those before
it; costly ones at some. Optional protocols are checked where a game has them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sized
from typing import Any

import numpy as np

from zermelo import _core
from zermelo.games.perft import plain_perft
from zermelo.games.protocol import (
    Game,
    HasCells,
    HasHash,
    HasRepetition,
    Outcome,
    missing_members,
)
from zermelo.games.supported import missing_property, not_supported, strange_outcome, strange_player
from zermelo.testing.declared import check_declared
from zermelo.testing.position import (
    Known,
    Position,
    UnsoundError,
    difference,
    method_of,
    snapshot,
)

NAMES = (
    "attributes",
    "initial position",
    "player",
    "outcome",
    "legal actions",
    "observation",
    "play",
    "illegal actions",
    "end of the game",
    "hash",
    "symmetries",
    "notation",
    "cells",
    "repetition",
    "perft",
)
MAX_ACTIONS = 65535  # an action is 16 bits in the core
MAX_PERFT_PATHS = 3000
SYMMETRY_METHODS = ("transform", "transform_action", "transform_cell")


def is_whole(value: object) -> bool:
    """Whether it is an integer of Python or NumPy, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


# --- once -----------------------------------------------------------------------------------------


def check_attributes(game: Game) -> None:
    missing = missing_members(game)
    if missing:
        raise UnsoundError(f"the game lacks {', '.join(missing)}")
    if lacks := missing_property(game):
        raise UnsoundError(not_supported(lacks))
    if not isinstance(game.name, str) or not game.name or game.name != game.name.strip():
        raise UnsoundError(f"name must be a text, not {game.name!r}")
    if not game.name.isprintable():
        raise UnsoundError(f"name must be one line that can be shown, not {game.name!r}")
    if not is_whole(game.num_actions) or not 1 <= game.num_actions <= MAX_ACTIONS:
        raise UnsoundError(f"num_actions must be from 1 to {MAX_ACTIONS}, not {game.num_actions!r}")
    shape = game.observation_shape
    good = isinstance(shape, tuple | list) and len(shape) == 3
    if not good or not all(is_whole(extent) and extent > 0 for extent in shape):
        raise UnsoundError(
            f"observation_shape must be (planes, rows, columns), all above 0, not {shape!r}"
        )


def check_initial(game: Game) -> None:
    position = Position(game, None, (), random.Random())
    state = position.call("initial")
    position.require(state is not None, "initial() returned None")
    outcome = position.call("outcome", state)
    position.supported(strange_outcome(outcome))
    position.require(outcome is None, "the game is already over")


def check_perft(game: Game) -> str:
    """The core's count of paths, through its adaptor for Python games, equals the plain one."""
    adaptor: Any = getattr(_core, "PyGame", None)
    position = Position(game, None, (), random.Random())
    state = position.call("initial")
    native = type(game).__module__ == _core.__name__
    if adaptor is None and not native:
        return "the core has no adaptor for Python games"
    counter: Any = game if native else adaptor(game)
    paths, depth = len(list(position.call("legal_actions", state))), 1
    deepest = 2 if native else 8  # native games may count whole moves of several plies
    while depth < deepest:
        more = plain_perft(game, state, depth + 1)
        if more > MAX_PERFT_PATHS and depth > 1:
            break
        paths, depth = more, depth + 1
        if more > MAX_PERFT_PATHS or more == 0:
            break
    try:
        counted = int(counter.perft(state, depth))
    except Exception as error:
        where = method_of(game, error)
        raise UnsoundError(f"the core cannot count perft({depth}): {where}{error}") from error
    if counted != paths:
        raise UnsoundError(f"perft({depth}) is {paths} in Python but {counted} in the core")
    return f"{paths} paths of {depth} plies, in Python and in the core"


def never_ends(max_plies: int) -> None:
    raise UnsoundError(f"a random game is not over after {max_plies} plies")


def check_both_move(lacks: str) -> None:
    """`lacks` says who alone moves."""
    if lacks:
        raise UnsoundError(not_supported(lacks))


# --- at every position ----------------------------------------------------------------------------


def check_player(p: Position) -> None:
    p.player = p.call("player", p.state)
    p.supported(strange_player(p.player))
    good = is_whole(p.player) and p.player in (0, 1)
    p.require(good, f"player() must be 0 or 1, not {p.player!r},")


def check_outcome(p: Position) -> None:
    p.outcome = p.call("outcome", p.state)
    p.supported(strange_outcome(p.outcome))
    good = p.outcome is None or isinstance(p.outcome, Outcome)
    p.require(good, f"outcome() must be None or an Outcome, not {p.outcome!r},")


def check_legal_actions(p: Position) -> None:
    if p.outcome is not None:
        return
    found = p.call("legal_actions", p.state)
    listed = isinstance(found, Iterable) and isinstance(found, Sized)  # else perhaps endless
    p.require(listed, f"legal_actions() must be a list, not {found!r},")
    actions = list(found)
    p.require(bool(actions), "the game goes on, but legal_actions() is empty")
    for action in actions:
        good = is_whole(action) and 0 <= action < p.game.num_actions
        p.require(good, f"action {action!r} is not a number below {p.game.num_actions}")
    p.require(len(set(actions)) == len(actions), "legal_actions() names an action twice")
    same = actions == list(p.call("legal_actions", p.state))
    p.require(same, "legal_actions() changes from call to call")
    p.actions = actions


def check_observation(p: Position) -> None:
    planes = p.observe(p.state)
    shape = tuple(p.game.observation_shape)
    p.require(planes.shape == shape, f"observe() has the shape {planes.shape}, not {shape},")
    p.require(bool(np.isfinite(planes).all()), "observe() has numbers that are not finite")
    same = np.array_equal(planes, p.observe(p.state))
    p.require(same, "observe() changes from call to call")
    p.seen = planes


CHEAP: tuple[tuple[str, Callable[[Position], None]], ...] = (
    ("player", check_player),
    ("outcome", check_outcome),
    ("legal actions", check_legal_actions),
    ("observation", check_observation),
)

# --- at some positions ----------------------------------------------------------------------------


def check_same_start(p: Position, _: Known) -> None:
    if not p.path:
        same = np.array_equal(p.observe(p.state), p.observe(p.call("initial")))
        p.require(same, "initial() returns another position each time, as seen")


def check_play(p: Position, _: Known) -> None:
    """The old state stays as it was, and the same action leads to the same position."""
    before = snapshot(p, p.state)
    for action in p.random.sample(p.actions, min(4, len(p.actions))):
        after = p.call("play", p.state, action)
        p.require(after is not p.state, f"play() returned the same object for action {action}")
        p.require(after is not None, f"play() returned None for action {action}")
        changed = difference(before, snapshot(p, p.state))
        p.require(not changed, f"play() of action {action} changed the old state's {changed}")
        again = p.call("play", p.state, action)
        differs = difference(snapshot(p, after), snapshot(p, again), names=("observation",))
        p.require(
            not differs,
            f"action {action} leads to another {differs} when played again; games with chance "
            "(dice, cards) are not supported",
        )


def check_illegal(p: Position, _: Known) -> str | None:
    if p.outcome is not None:
        return None
    illegal = sorted(set(range(p.game.num_actions)) - set(p.actions))
    tried = [*p.random.sample(illegal, min(3, len(illegal))), -1, p.game.num_actions]
    remark = None
    for action in tried:
        try:
            p.game.play(p.state, action)
        except ValueError:
            continue
        except Exception as error:
            remark = f"refused, but with {type(error).__name__} where ValueError is expected"
            continue
        raise UnsoundError(f"play() accepts action {action}, which is not legal, {p.where()}")
    return remark


def check_hash(p: Position, known: Known) -> None:
    if not isinstance(p.game, HasHash):
        return
    code = p.call("hash", p.state)
    good = is_whole(code) and 0 <= code < 1 << 64
    p.require(good, f"hash() must be from 0 to 2**64 - 1, not {code!r},")
    p.require(code == p.call("hash", p.state), "hash() changes from call to call")
    if p.path:
        replayed = p.game.initial()
        for action in p.path:
            replayed = p.call("play", replayed, action)
        p.require(code == p.call("hash", replayed), "equal positions have different hashes")
    # Older history may be seen and yet be left out of the hash; the board may not.
    if isinstance(p.game, HasRepetition) and isinstance(p.game, HasCells):
        look = p.call("cells", p.state).encode() + bytes([p.player])
    else:
        look = p.observe(p.state).tobytes() + bytes([p.player])
    other = known.looks_by_hash.setdefault(code, look)
    p.require(other == look, "another position with another look has the same hash as the one")


def check_symmetries(p: Position, _: Known) -> None:
    game = p.game
    if hasattr(game, "symmetries"):
        check_declared(p)
        return
    if not hasattr(game, "num_symmetries"):
        return
    lacking = [name for name in SYMMETRY_METHODS if not hasattr(game, name)]
    p.require(not lacking, f"a game with num_symmetries() also needs {', '.join(lacking)}, seen")
    count = p.call("num_symmetries", p.state)
    p.require(is_whole(count) and count >= 1, f"num_symmetries() must be 1 or more, not {count!r},")
    planes = p.observe(p.state)
    cells = planes.shape[1] * planes.shape[2]
    for k in range(count):
        image = p.call("transform", p.state, k)
        moved = [p.call("transform_cell", cell, k) for cell in range(cells)]
        p.require(
            sorted(moved) == list(range(cells)), f"transform_cell() of symmetry {k} maps two to one"
        )
        expected = np.empty_like(planes).reshape(planes.shape[0], cells)
        expected[:, moved] = planes.reshape(planes.shape[0], cells)
        same_look = np.array_equal(p.observe(image).reshape(expected.shape), expected)
        p.require(same_look, f"symmetry {k} moves the observation otherwise than transform_cell()")
        if k == 0:
            p.require(moved == list(range(cells)), "symmetry 0 must be the identity, but is not,")
        p.require(
            p.call("player", image) == p.player and p.call("outcome", image) == p.outcome,
            f"symmetry {k} changes the player or the outcome",
        )
        if p.outcome is not None:
            continue
        renamed = [p.call("transform_action", action, k) for action in p.actions]
        p.require(
            sorted(renamed) == sorted(p.call("legal_actions", image)),
            f"symmetry {k} does not map the legal actions to those of its image",
        )
        i = p.random.randrange(len(p.actions))
        after = p.call("play", p.state, p.actions[i])
        if k < p.call("num_symmetries", after):
            one_way = p.observe(p.call("transform", after, k))
            other_way = p.observe(p.call("play", image, renamed[i]))
            same = np.array_equal(one_way, other_way)
            p.require(same, f"symmetry {k} and action {p.actions[i]} do not commute")


def check_notation(p: Position, _: Known) -> None:
    game = p.game
    if p.outcome is None and hasattr(game, "action_text"):
        texts = {action: p.call("action_text", p.state, action) for action in p.actions}
        p.require(len(set(texts.values())) == len(texts), "two actions have the same text")
        for action, text in texts.items() if hasattr(game, "parse_action") else ():
            read = p.call("parse_action", p.state, text)
            p.require(read == action, f"action {action} is written '{text}' but read as {read!r}")
    if p.outcome is None and hasattr(game, "parse_action"):
        refuses(p, "parse_action", p.state, "no such action")
    if hasattr(game, "position_text"):
        text = p.call("position_text", p.state)
        one_line = isinstance(text, str) and "\n" not in text
        p.require(one_line, f"position_text() must be one line, not {text!r},")
        if hasattr(game, "parse_position"):
            check_read_position(p, text)
    if hasattr(game, "parse_position"):
        refuses(p, "parse_position", "no such position")


def check_read_position(p: Position, text: str) -> None:
    """The text brings back the position, but for a history that it does not tell."""
    read = p.call("parse_position", text)
    p.require(p.call("position_text", read) == text, f"'{text}' is read and written otherwise")
    p.require(p.call("player", read) == p.player, f"'{text}' is read with the wrong player")
    outcome = p.call("outcome", read)
    if isinstance(p.game, HasRepetition):
        if outcome is None and p.outcome is None:
            same = list(p.call("legal_actions", read)) == p.actions
            p.require(same, f"'{text}' is read with other legal actions")
        return
    p.require(outcome == p.outcome, f"'{text}' is read with another outcome")
    if outcome is None:
        same = sorted(p.call("legal_actions", read)) == sorted(p.actions)
        p.require(same, f"'{text}' is read with other legal actions")
    same = np.array_equal(p.observe(read), p.observe(p.state))
    p.require(same, f"'{text}' is read with another observation")


def refuses(p: Position, method: str, *arguments: Any) -> None:
    """Nonsense must be refused with a ValueError."""
    try:
        getattr(p.game, method)(*arguments)
    except ValueError:
        return
    except Exception as error:
        kind = type(error).__name__
        raise UnsoundError(
            f"{method}() raises {kind} for nonsense instead of ValueError"
        ) from error
    raise UnsoundError(f"{method}() accepts '{arguments[-1]}' {p.where()}")


def check_cells(p: Position, _: Known) -> None:
    if not isinstance(p.game, HasCells):
        return
    cells = p.call("cells", p.state)
    size = p.game.observation_shape[1] * p.game.observation_shape[2]
    good = isinstance(cells, str) and len(cells) == size
    p.require(good, f"cells() must be {size} letters, not {cells!r},")


def check_repetition(p: Position, _: Known) -> None:
    if not isinstance(p.game, HasRepetition):
        return
    answers = [p.call("repeated_within", p.state, plies) for plies in (0, 4, 1000)]
    good = all(isinstance(answer, bool | np.bool_) for answer in answers)
    p.require(good, "repeated_within() must be True or False, but is not,")
    p.require(not answers[0], "repeated_within(0) is True")
    p.require(answers[1] <= answers[2], "repeated_within() is True for 4 plies but not for 1000")


COSTLY: tuple[tuple[str, Callable[[Position, Known], str | None]], ...] = (
    ("initial position", check_same_start),
    ("play", check_play),
    ("illegal actions", check_illegal),
    ("hash", check_hash),
    ("symmetries", check_symmetries),
    ("notation", check_notation),
    ("cells", check_cells),
    ("repetition", check_repetition),
)


def absent(game: Game, name: str) -> str:
    """Why an optional property need not be tried, or ""."""
    methods = {
        "hash": ("hash",),
        "symmetries": ("symmetries", "num_symmetries"),
        "notation": ("action_text", "position_text"),
        "cells": ("cells",),
        "repetition": ("repeated_within",),
    }.get(name)
    if methods is None or any(hasattr(game, method) for method in methods):
        return ""
    return "the game has none (optional)"
