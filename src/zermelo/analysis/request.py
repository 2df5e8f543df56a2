"""Requests to the analysis engine: JSON objects, checked field by field.

Knows what may be asked for and turns it into positions; knows nothing of searching.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from zermelo.errors import UserError, nearest
from zermelo.games.notation import parse_action, parse_position
from zermelo.games.protocol import Game, State
from zermelo.games.python_file import looks_like_file
from zermelo.games.registry import related_game

Id: TypeAlias = str | int

MAX_SIMULATIONS = 1_000_000_000
MAX_PRIORITY = 2**31
ACTIONS = ("terminate", "terminate_all", "query_version", "clear_cache")


class RequestError(UserError):
    """What is wrong with a request, in which field, and whose request it was."""

    def __init__(self, sentence: str, name: str | None = None, ident: Id | None = None) -> None:
        super().__init__(sentence)
        self.field = name
        self.ident = ident


@dataclass(frozen=True)
class Analyse:
    """Positions of one game to be searched, each answered by itself."""

    id: Id
    game: Game
    turns: tuple[tuple[int, State], ...]  # number of the turn, and its position
    simulations: int
    priority: int = 0  # higher ones first
    allowed: tuple[int, ...] = ()  # root actions; all if empty
    max_actions: int | None = None  # rows of an answer
    policy: bool = False
    tree: bool = False
    keep_tree: bool = False  # go on with the tree of the last request that kept one
    report_every: float = 0.0  # seconds between reports during the search; 0: none


@dataclass(frozen=True)
class Command:
    """Something other than an analysis."""

    id: Id
    action: str  # one of ACTIONS
    terminate_id: Id | None = None
    turns: tuple[int, ...] | None = None  # None: all of them
    echo: Mapping[str, Any] = field(default_factory=dict)  # the request as it came


def read_line(line: str | bytes) -> dict[str, Any]:
    """The object of a line of JSON."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:  # bad UTF-8 is a ValueError too
        raise RequestError(f"the line is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RequestError("the line is JSON but no object")
    return found


def read_request(request: Mapping[str, Any], game: Game, simulations: int) -> Analyse | Command:
    """The request with its positions; `game` and `simulations` are used where it names none."""
    if "id" not in request:
        raise RequestError("a request needs an id", "id")
    ident = request["id"]
    if not isinstance(ident, str | int) or isinstance(ident, bool):
        raise RequestError("the id must be a text or a whole number", "id")
    try:
        if "action" in request:
            return _read_command(ident, request)
        return _read_analyse(ident, request, game, simulations)
    except RequestError as error:
        error.ident = ident
        raise


def _read_command(ident: Id, request: Mapping[str, Any]) -> Command:
    action = request["action"]
    if action not in ACTIONS:
        raise RequestError(
            f"there is no action {action!r}; there are {', '.join(ACTIONS)}", "action"
        )
    known = {"id", "action"}
    if action.startswith("terminate"):
        known.add("turns")
    if action == "terminate":
        known.add("terminateId")
    _refuse_unknown(request, known)
    target = request.get("terminateId")
    if action == "terminate" and (not isinstance(target, str | int) or isinstance(target, bool)):
        raise RequestError("terminate needs the terminateId of a request", "terminateId")
    turns = _numbers(request["turns"], "turns") if "turns" in request else None
    return Command(ident, action, target, turns, dict(request))


def _read_analyse(ident: Id, request: Mapping[str, Any], game: Game, simulations: int) -> Analyse:
    _refuse_unknown(request, _FIELDS | {"id"})
    if "game" in request:
        game = _read_game(request["game"], game)
    states = _read_states(request, game)
    numbers = _read_turns(request, len(states))
    allowed = _read_allowed(request, game, [states[number] for number in numbers])
    return Analyse(
        id=ident,
        game=game,
        turns=tuple((number, states[number]) for number in numbers),
        simulations=_whole(request, "simulations", simulations, 1, MAX_SIMULATIONS),
        priority=_whole(request, "priority", 0, -MAX_PRIORITY, MAX_PRIORITY),
        allowed=allowed,
        max_actions=_whole(request, "maxMoves", 0, 1, 65536) or None,
        policy=_truth(request, "includePolicy"),
        tree=_truth(request, "includeTree"),
        keep_tree=_truth(request, "keepTree"),
        report_every=_seconds(request, "reportEvery"),
    )


_FIELDS = {
    "game",
    "position",
    "moves",
    "analyseTurns",
    "simulations",
    "priority",
    "allowed",
    "maxMoves",
    "includePolicy",
    "includeTree",
    "keepTree",
    "reportEvery",
}


def _refuse_unknown(request: Mapping[str, Any], known: set[str]) -> None:
    for name in request:
        if name not in known:
            raise RequestError(f"there is no field '{name}'; {nearest(name, known)}", name)


def _read_game(value: Any, like: Game) -> Game:
    if value == like.name:
        return like
    if not isinstance(value, str):
        raise RequestError("game must be a text", "game")
    if looks_like_file(value):  # a request is no reason to run a file's code
        raise RequestError("a request can ask for a game by its name only, not by a file", "game")
    found: Game = _checked("game", lambda: related_game(value, like))
    return found


def _read_states(request: Mapping[str, Any], game: Game) -> list[State]:
    """The position of every turn: before all moves, after the first one, and so on."""
    state = game.initial()
    if "position" in request:
        text = request["position"]
        if not isinstance(text, str):
            raise RequestError("position must be a text", "position")
        state = _checked("position", lambda: parse_position(game, text))
    states = [state]
    for index, text in enumerate(_texts(request, "moves")):
        states.append(_after(game, states[-1], text, f"moves[{index}]"))
    return states


def _after(game: Game, state: State, text: str, place: str) -> State:
    if game.outcome(state) is not None:
        raise RequestError(f"{place}: the game is over before '{text}'", "moves")
    action = _checked("moves", lambda: parse_action(game, state, text), place)
    return game.play(state, action)


def _read_turns(request: Mapping[str, Any], count: int) -> tuple[int, ...]:
    if "analyseTurns" not in request:
        return (count - 1,)
    numbers = _numbers(request["analyseTurns"], "analyseTurns")
    if not numbers:
        raise RequestError("analyseTurns names no turn", "analyseTurns")
    for number in numbers:
        if not 0 <= number < count:
            raise RequestError(
                f"analyseTurns: there is no turn {number}; with these moves turns are 0 to "
                f"{count - 1}",
                "analyseTurns",
            )
    return tuple(dict.fromkeys(numbers))


def _read_allowed(
    request: Mapping[str, Any], game: Game, states: Sequence[State]
) -> tuple[int, ...]:
    texts = _texts(request, "allowed")
    if "allowed" not in request:
        return ()
    if not texts:
        raise RequestError("allowed is empty: nothing could be searched", "allowed")
    if len(states) > 1:
        raise RequestError("allowed fits one position, and analyseTurns names several", "allowed")
    if game.outcome(states[0]) is not None:
        raise RequestError("allowed: the game is over", "allowed")
    return tuple(
        _checked("allowed", partial(parse_action, game, states[0], text), f"allowed[{index}]")
        for index, text in enumerate(texts)
    )


def _checked(name: str, read: Callable[[], Any], place: str | None = None) -> Any:
    """What `read` returns; its objection becomes one about the field `name`."""
    try:
        return read()
    except Exception as error:  # a game in Python may raise anything
        text = " ".join(str(error).split()) or type(error).__name__
        raise RequestError(f"{place or name}: {text}", name) from None


def _texts(request: Mapping[str, Any], name: str) -> list[str]:
    value = request.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise RequestError(f"{name} must be a list of texts", name)
    return value


def _numbers(value: Any, name: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise RequestError(f"{name} must be a list of whole numbers", name)
    return tuple(value)


def _whole(request: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    if name not in request:
        return default
    value = request[name]
    if type(value) is not int or not low <= value <= high:
        raise RequestError(f"{name} must be a whole number from {low} to {high}", name)
    return value


def _seconds(request: Mapping[str, Any], name: str) -> float:
    value = request.get(name, 0.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e9:
        raise RequestError(f"{name} must be a number of seconds", name)
    return float(value)


def _truth(request: Mapping[str, Any], name: str) -> bool:
    value = request.get(name, False)
    if not isinstance(value, bool):
        raise RequestError(f"{name} must be true or false", name)
    return value
