"""Labelled games and positions from files: PGN, JSON lines of matches, and suites such as EPD.

What cannot be read is refused by file and line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO, get_args

from zermelo.errors import REFUSALS, UserError
from zermelo.files import refuse_special
from zermelo.games.notation import parse_action, parse_position
from zermelo.games.protocol import State
from zermelo.games.registry import kind_of
from zermelo.matches.game_record import POINTS, RESULTS, GameRecord
from zermelo.players.protocol import FailureKind
from zermelo.pretrain.samples import Label, Labels
from zermelo.pretrain.teachers import connect4_distance
from zermelo.suites.files import Problem, read_suite

FAILURES = get_args(FailureKind)  # ends of games that say nothing about their positions


def labelled_file(game: Any, path: Path) -> Iterator[Labels]:
    """The games of a file, told by its ending; every other one is taken for a suite."""
    if not path.is_file():
        refuse_special(path)
        raise UserError(f"there is no file '{path}'")
    ending = path.suffix.lower()
    if ending == ".pgn":
        return pgn_games(game, path)
    if ending in (".jsonl", ".json"):
        return recorded_games(game, path)
    return suite_positions(game, path)


# --- games ----------------------------------------------------------------------------------------


def labels_of_game(
    game: Any,
    states: list[State],
    actions: list[int],
    points: float,
    first_ply: int = 0,
    adjudicated: bool = False,
) -> Labels:
    """Of `states[i]`, in which `actions[i]` was played; `points` are the first player's."""
    first = {1.0: 1, 0.5: 0, 0.0: -1}[points]
    return [
        Label(
            state=state,
            policy={action: 1.0},
            result=first if game.player(state) == 0 else -first,
            ply=first_ply + i,
            plies_left=len(actions) - i,
            adjudicated=adjudicated,
        )
        for i, (state, action) in enumerate(zip(states, actions, strict=True))
    ]


class _Lines:
    """A text file that knows which line it is at."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.number = 0

    def readline(self) -> str:
        line = self._file.readline()
        self.number += bool(line)
        return line


def pgn_games(game: Any, path: Path) -> Iterator[Labels]:
    """Chess games with a result; those without one and other variants are passed over.

    So are games of `zermelo match` in which a player failed.
    """
    from zermelo.games.pgn import read_pgn_game

    if kind_of(game) != "chess":
        raise UserError(f"'{path}': PGN is for chess, not for {game.name}")
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines: Any = _Lines(file)
        while True:
            place = f"{path} line {lines.number + 1}"
            try:
                found = read_pgn_game(lines)
            except UserError as error:
                raise UserError(f"{place}: {error}") from None
            if found is None:
                return
            if not _is_chess(found.headers) or found.headers.get("Termination") in FAILURES:
                continue
            if found.errors:
                raise UserError(f"{place}: in the game that begins here, {found.errors[0]}")
            points = POINTS.get(found.headers.get("Result", "*"))
            if points is not None:
                yield _pgn_labels(game, found, points, place)


def _is_chess(headers: Any) -> bool:
    """Whether the pieces move as in chess, from whatever position."""
    import chess

    try:
        return headers.variant() is chess.Board
    except ValueError:  # a variant that nobody knows
        return False


def _pgn_labels(game: Any, found: Any, points: float, place: str) -> Labels:
    board = found.board()
    try:
        standard = "FEN" not in found.headers
        state = game.initial() if standard else parse_position(game, board.fen())
        states, actions = [], []
        for move in found.mainline_moves():
            if game.outcome(state) is not None:
                break  # drawn by rule, and played on
            action = parse_action(game, state, board.uci(move))
            states.append(state)
            actions.append(action)
            state = game.play(state, action)
            board.push(move)
    except REFUSALS as error:
        raise UserError(f"{place}: in the game that begins here, {error}") from None
    return labels_of_game(game, states, actions, points)


def recorded_games(game: Any, path: Path) -> Iterator[Labels]:
    """Games as `zermelo match` writes them; openings are not their players' choice.

    Games in which a player failed are passed over.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = GameRecord.from_json(line)
                if record.failure is None:
                    yield _record_labels(game, record)
            except KeyError as error:
                raise UserError(f"{path} line {number}: the game has no {error}") from None
            except (ValueError, TypeError, AttributeError) as error:
                raise UserError(f"{path} line {number}: this is no game: {error}") from None


def _record_labels(game: Any, record: GameRecord) -> Labels:
    states = record.opening.states(game)[-1:]
    actions: list[int] = []
    for text in record.actions:
        action = parse_action(game, states[-1], text)
        actions.append(action)
        states.append(game.play(states[-1], action))
    outcome = game.outcome(states[-1])
    by_rules = record.reason == "rules"
    if by_rules and (outcome is None or RESULTS[outcome] != record.result):
        raise UserError(
            f"by the rules of {game.name} it does not end {record.result}, so it is of another game"
        )
    first_ply = len(record.opening.actions)
    return labels_of_game(
        game, states[:-1], actions, record.points, first_ply, adjudicated=not by_rules
    )


# --- positions ------------------------------------------------------------------------------------


def suite_positions(game: Any, path: Path) -> Iterator[Labels]:
    """Positions of EPD, puzzles, or exact scores of Connect Four and Othello."""
    suite = read_suite(path)
    if kind_of(game) != suite.game.partition("?")[0]:
        raise UserError(f"'{path}' has positions of {suite.game}, not of {game.name}")
    for problem in suite.problems:
        try:
            label = problem_label(game, problem)
        except REFUSALS as error:
            raise UserError(f"{path}, position {problem.name}: {error}") from None
        if label is not None:
            yield [label]


def problem_label(game: Any, problem: Problem) -> Label | None:
    """What a problem says; None if that is nothing to learn from."""
    state = parse_position(game, problem.position)
    best = problem.best
    if problem.line:  # a puzzle begins with the opponent's action
        state = game.play(state, parse_action(game, state, problem.line[0]))
        best = problem.line[1:2]
    if game.outcome(state) is not None:
        return None
    score = problem.score
    if problem.scores:
        score = max(problem.scores.values()) if score is None else score
        top = max(problem.scores.values())
        best = tuple(text for text, found in problem.scores.items() if found == top)
    if problem.mate is not None:
        score = problem.mate
    actions = [parse_action(game, state, text) for text in best]
    result = None if score is None else (score > 0) - (score < 0)
    if not actions and result is None:
        return None
    policy = {action: 1 / len(actions) for action in actions}
    return Label(state, policy, result, plies_left=plies_left(game, state, problem))


def plies_left(game: Any, state: State, problem: Problem) -> int | None:
    """Until the end under best play; None if the problem does not tell."""
    if problem.mate is not None:
        return 2 * abs(problem.mate) - (problem.mate > 0)
    if problem.score is None or kind_of(game) != "connect4":
        return None
    left = connect4_distance(int(game.ply(state)), problem.score)
    if left < 1:
        raise UserError(f"it cannot have the score {problem.score}")
    return left
