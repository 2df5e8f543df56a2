"""Writes what a search thinks of a chess game into its PGN.

Every move of the main line gets an evaluation, [%eval] in pawns or moves to mate, for White, as
Lichess writes it. A move that gives away expected score gets a mark and the better line as a
variation. Knows python-chess and the analysis engine, nothing of files or terminals.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import chess
import chess.engine
import chess.pgn

from zermelo.analysis.answer import Listener
from zermelo.analysis.engine import AnalysisEngine
from zermelo.analysis.request import Analyse
from zermelo.errors import REFUSALS, UserError
from zermelo.games.notation import parse_action, parse_position
from zermelo.games.pgn import check_variant
from zermelo.games.protocol import Game, State
from zermelo.games.registry import related_game
from zermelo.options import option
from zermelo.search.result import centipawns

MARKS = {  # by name: the NAG and its sign
    "inaccuracy": (chess.pgn.NAG_DUBIOUS_MOVE, "?!"),
    "mistake": (chess.pgn.NAG_MISTAKE, "?"),
    "blunder": (chess.pgn.NAG_BLUNDER, "??"),
}
CLOCK = 4  # field of a FEN: half moves since a capture or a pawn's move


@dataclass(frozen=True)
class AnnotateOptions:
    """What is marked and how much is written. Drops are in expected score, 0 to 1."""

    simulations: int = option(800, "Simulations per position.", low=1, high=1_000_000_000)
    inaccuracy: float = option(0.05, "Least loss of a move marked ?!.", low=0.0, high=1.0)
    mistake: float = option(0.10, "Least loss of a move marked ?.", low=0.0, high=1.0)
    blunder: float = option(0.15, "Least loss of a move marked ??.", low=0.0, high=1.0)
    line_plies: int = option(8, "Longest variation in plies; 0 means none.", low=0, high=100)

    def mark(self, drop: float) -> str | None:
        """The name of the mark for a drop."""
        for name in ("blunder", "mistake", "inaccuracy"):
            if drop >= getattr(self, name):
                return name
        return None


@dataclass(frozen=True)
class Evaluation:
    """A position for the player to move."""

    value: float  # -1 to 1
    mate: int | None  # moves to the proven end, as UCI counts
    best: str | None  # in UCI notation; None when the game is over
    line: tuple[str, ...]
    over: bool

    @property
    def expected(self) -> float:
        """Expected score: win 1, draw 1/2."""
        return (1.0 + self.value) / 2.0

    def score(self, turn: chess.Color) -> chess.engine.PovScore:
        """As engines say it; `turn` is the player to move."""
        if self.over and self.value < 0:
            return chess.engine.PovScore(chess.engine.Mate(0), turn)
        if self.mate is not None:
            return chess.engine.PovScore(chess.engine.Mate(self.mate), turn)
        return chess.engine.PovScore(chess.engine.Cp(centipawns(self.value)), turn)


@dataclass(frozen=True)
class MoveReview:
    """One move of the main line."""

    ply: int  # 1 is the first move of the game
    white: bool  # who played it
    san: str
    eval: str  # after it, for White: "+0.35", "#-3"; "" when it mates
    expected: float  # after it, for the player who made it
    best: str  # SAN of the best move
    drop: float  # of expected score against the best move
    mark: str | None


@dataclass
class GameReview:
    """What was written into a game."""

    number: int  # of the game in its file, from 1
    headers: dict[str, str]
    moves: list[MoveReview] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def counts(self, white: bool) -> dict[str, Any]:
        """Marks and the mean drop of a player."""
        own = [move for move in self.moves if move.white == white]
        found: dict[str, Any] = {name: sum(m.mark == name for m in own) for name in MARKS}
        found["moves"] = len(own)
        found["mean_drop"] = round(sum(m.drop for m in own) / len(own), 4) if own else 0.0
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        return {
            "game": self.number,
            "headers": self.headers,
            "white": self.counts(True),
            "black": self.counts(False),
            "moves": [vars(move) for move in self.moves],
            "warnings": self.warnings,
        }


def annotate_games(
    games: Iterable[chess.pgn.Game],
    engine: AnalysisEngine,
    options: AnnotateOptions,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[chess.pgn.Game, GameReview]]:
    """Each game, annotated in place, in the order they came.

    Positions of several games are searched together. `progress` is called for each one that is
    done, with the number of positions of its game. A game that cannot be played is left as it is,
    with the reason among its warnings.
    """
    ahead = 2 * engine.boards * engine.threads  # positions to keep the batches full
    source = enumerate(games, 1)
    answers: Answers = queue.SimpleQueue()
    under_way: deque[_Job] = deque()
    more = True
    while more or under_way:
        while more and engine.pending < ahead:
            number, game = next(source, (0, None))
            if game is None:
                more = False
                break
            job = _Job(number, game, engine.game)
            under_way.append(job)
            engine.add(job.request(options), job.listener(answers))
        while under_way and under_way[0].complete:
            job = under_way.popleft()
            yield job.game, job.write(options)
        if under_way:
            job, answer = answers.get()
            job.take(answer)
            if progress is not None:
                progress(job.count)


Answers: TypeAlias = "queue.SimpleQueue[tuple[_Job, dict[str, Any]]]"


class _Job:
    """A game with the evaluations of its positions, as they come."""

    def __init__(self, number: int, game: chess.pgn.Game, rules: Game) -> None:
        self.game = game
        check_variant(game.headers, f"game {number}")
        self.review = GameReview(number, dict(game.headers))
        self.review.warnings = [f"game {number}: {error}" for error in game.errors]
        self.nodes: list[chess.pgn.ChildNode] = list(game.mainline())
        board = game.board()
        spec = "chess?chess960=on" if board.chess960 else "chess"
        self.rules = related_game(spec, rules)
        self.found: dict[int, Evaluation] = {}
        try:
            self.states = self._play(board)
        except REFUSALS as error:
            self.review.warnings.append(f"game {number} is left as it is: {error}")
            self.states, self.nodes = [], []

    @property
    def count(self) -> int:
        return len(self.states)

    @property
    def complete(self) -> bool:
        return len(self.found) == self.count

    def _play(self, board: chess.Board) -> list[State]:
        """The positions before and after every move."""
        states = [parse_position(self.rules, board.fen())]
        for node in self.nodes:
            state = states[-1]
            if self.rules.outcome(state) is not None:
                # Nobody claimed the draw by repetition or 50 moves: the search begins afresh.
                parts = board.fen().split()
                parts[CLOCK] = "0"
                state = parse_position(self.rules, " ".join(parts))
            text = board.uci(node.move)
            states.append(self.rules.play(state, parse_action(self.rules, state, text)))
            board.push(node.move)
        return states

    def listener(self, answers: Answers) -> Listener:
        return lambda answer: answers.put((self, answer))

    def request(self, options: AnnotateOptions) -> Analyse:
        return Analyse(
            id=self.review.number,
            game=self.rules,
            turns=tuple(enumerate(self.states)),
            simulations=options.simulations,
            max_actions=1,
        )

    def take(self, answer: dict[str, Any]) -> None:
        if "error" in answer or answer.get("noResults"):
            reason = answer.get("error", "it was stopped")
            raise UserError(f"game {self.review.number}, ply {answer['turn']}: {reason}")
        self.found[answer["turn"]] = read_evaluation(answer)

    def learn_from_play(self) -> None:
        """A mate that the players found is a proof for the positions before it."""
        for ply in range(len(self.nodes), 0, -1):
            before, after = self.found[ply - 1], self.found[ply]
            mated = after.over and after.value < 0
            if not mated and (after.mate is None or after.mate >= 0):
                continue
            mate = 1 if mated else 1 - (after.mate or 0)
            if not before.over and (before.mate is None or before.mate > mate):
                text = self.nodes[ply - 1].uci()
                self.found[ply - 1] = Evaluation(1.0, mate, text, (text, *after.line), over=False)

    def write(self, options: AnnotateOptions) -> GameReview:
        self.learn_from_play()
        board = self.game.board()
        for ply, node in enumerate(self.nodes, 1):
            self.review.moves.append(self._write_move(ply, node, board, options))
            board.push(node.move)
        return self.review

    def _write_move(
        self, ply: int, node: chess.pgn.ChildNode, board: chess.Board, options: AnnotateOptions
    ) -> MoveReview:
        """`board` stands before the move."""
        before, after = self.found[ply - 1], self.found[ply]
        score = after.score(not board.turn)
        best = board.parse_uci(before.best) if before.best else node.move
        expected = 1.0 - after.expected
        drop = 0.0 if best == node.move else max(0.0, before.expected - expected)
        mark = None if best == node.move else options.mark(drop)
        node.set_eval(score)
        node.nags -= {nag for nag, _ in MARKS.values()}
        if mark is not None:
            node.nags.add(MARKS[mark][0])
            self._add_line(node, board, before, options.line_plies)
        return MoveReview(
            ply=ply,
            white=board.turn,
            san=board.san(node.move),
            eval=eval_text(score),
            expected=round(expected, 4),
            best=board.san(best),
            drop=round(drop, 4),
            mark=mark,
        )

    def _add_line(
        self, node: chess.pgn.ChildNode, board: chess.Board, before: Evaluation, plies: int
    ) -> None:
        """The better line as a variation beside `node`, unless one begins with its move."""
        there = board.copy(stack=False)
        moves = []
        for text in before.line[:plies]:
            moves.append(there.parse_uci(text))
            there.push(moves[-1])
        if moves and not node.parent.has_variation(moves[0]):
            first = node.parent.add_variation(moves[0])
            first.set_eval(before.score(board.turn))
            if moves[1:]:
                first.add_line(moves[1:])


def read_evaluation(answer: dict[str, Any]) -> Evaluation:
    """From an answer of the engine with at least one row; the best action's value counts."""
    if "outcome" in answer:
        return Evaluation(answer["value"], None, None, (), over=True)
    row = answer["actions"][0]
    value = answer["value"] if not row["visits"] else row["q"]
    if answer["proven"] is not None:
        value = float(answer["proven"])
    return Evaluation(value, answer["mate"], answer["best"], tuple(answer["pv"]), over=False)


def eval_text(score: chess.engine.PovScore) -> str:
    """For White, as in the comment; "" for a mate that is on the board."""
    white = score.white()
    mate = white.mate()
    if mate is not None:
        return f"#{mate}" if mate else ""
    return f"{(white.score() or 0) / 100:+.2f}"
