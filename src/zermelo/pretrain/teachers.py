"""Labels from a teacher: exact play where it can be had, or games of any player with itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from zermelo.errors import UserError
from zermelo.games.protocol import State, value_for
from zermelo.games.registry import kind_of
from zermelo.players.human import HumanPlayer
from zermelo.players.perfect import PerfectPlayer
from zermelo.players.protocol import PlayerError, Reseeds, StartsGames
from zermelo.players.registry import player as find_player
from zermelo.players.solver import Solver
from zermelo.pretrain.samples import Label, Labels

PERFECT = "perfect"
CONNECT4_PLIES = 14  # earlier positions take the solver long
ENGINE_NODES = 2000  # of a UCI engine whose text sets no limit
OPENING_PLIES = (2, 8)  # random ones before a teacher's game
LONGEST = 240  # plies of a teacher's game
DECIDED = 0.9  # a game that is cut off there counts as won from this value on


def teacher_labels(game: Any, teacher: str, seed: int) -> Iterator[Labels]:
    """Without end; `teacher` is a player's text."""
    if teacher.partition("?")[0] == PERFECT:
        found = find_player(teacher, game)
        assert isinstance(found, PerfectPlayer)
        return perfect_positions(game, found, seed)
    return taught_games(game, teacher, seed)


# --- exact play -----------------------------------------------------------------------------------


def perfect_positions(game: Any, teacher: PerfectPlayer, seed: int) -> Iterator[Labels]:
    """Positions of random games, each with all its best actions and its exact result."""
    chance = random.Random(f"perfect {seed}")
    connect4 = kind_of(game) == "connect4"
    first, last = (CONNECT4_PLIES, 41) if connect4 else (0, 8)
    while True:
        state = random_position(game, chance, chance.randint(first, last))
        if state is None:
            continue
        scores = teacher.scores(game, state)
        top = max(scores.values())
        best = [action for action, score in scores.items() if score == top]
        ply = int(game.ply(state))
        left = connect4_distance(ply, top) if connect4 else tictactoe_distance(ply, top)
        policy = {action: 1 / len(best) for action in best}
        yield [Label(state, policy, (top > 0) - (top < 0), None, ply, left)]


def random_position(game: Any, chance: random.Random, plies: int) -> State | None:
    """After so many random plies; None if the game was over by then."""
    state = game.initial()
    for _ in range(plies):
        state = game.play(state, chance.choice(list(game.legal_actions(state))))
        if game.outcome(state) is not None:
            return None
    return state


def connect4_distance(ply: int, score: int) -> int:
    """Plies until the end under best play.

    A score of s is a win with the winner's stone number 22 - s.
    """
    if score == 0:
        return 42 - ply
    winner = (ply % 2) ^ (score < 0)
    return 2 * (22 - abs(score)) - (winner == 0) - ply


def tictactoe_distance(ply: int, score: int) -> int:
    """Plies until the end under best play; scores are the solver's."""
    return Solver.WIN - abs(score) if score else 9 - ply


# --- games ----------------------------------------------------------------------------------------


def taught_games(game: Any, teacher: str, seed: int) -> Iterator[Labels]:
    """Games of the teacher with itself after a few random plies."""
    own = find_player(with_limit(teacher), game)
    if isinstance(own, HumanPlayer):
        raise UserError("a teacher plays without people: 'human' cannot teach")
    number = 0
    try:
        while True:
            chance = random.Random(f"taught {seed} {number}")
            number += 1
            plies = chance.randint(*OPENING_PLIES)
            state = random_position(game, chance, plies)
            if state is None:
                continue
            if isinstance(own, StartsGames):
                own.start_game()
            if isinstance(own, Reseeds):
                own.reseed(chance.getrandbits(52))
            try:
                yield taught_game(game, own, state, plies)
            except PlayerError as error:
                raise UserError(f"the teacher {own.name} cannot go on: {error}") from None
    finally:
        close = getattr(own, "close", None)
        if close is not None:
            close()


def with_limit(teacher: str) -> str:
    """An engine with a limit that does not depend on the clock, unless one is given."""
    if not teacher.startswith("uci:"):
        return teacher
    given = teacher.partition("?")[2]
    if any(part.partition("=")[0] in ("nodes", "seconds", "depth") for part in given.split("&")):
        return teacher
    return f"{teacher}{'&' if given else '?'}nodes={ENGINE_NODES}"


def taught_game(game: Any, teacher: Any, state: State, plies: int) -> Labels:
    """One game from a state after so many plies.

    Its result is the rules', or the teacher's opinion if it is cut off.
    """
    states: list[State] = []
    actions: list[int] = []
    values: list[float | None] = []
    while game.outcome(state) is None and len(states) < LONGEST:
        action = teacher.choose(game, state)
        report = teacher.report() if hasattr(teacher, "report") else None
        states.append(state)
        actions.append(action)
        values.append(None if report is None else report.value)
        state = game.play(state, action)
    outcome = game.outcome(state)
    labels = []
    for i, (one, action, value) in enumerate(zip(states, actions, values, strict=True)):
        if outcome is not None:
            result = value_for(outcome, game.player(one))
        else:
            side = 1 if game.player(one) == game.player(states[-1]) else -1
            last = values[-1] or 0.0
            result = side * ((last > DECIDED) - (last < -DECIDED))
        left, judged = len(states) - i, outcome is None
        labels.append(Label(one, {action: 1.0}, result, value, plies + i, left, judged))
    return labels
