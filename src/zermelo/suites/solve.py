"""Has a player solve the problems of a suite, and counts how many simulations it takes.

A search is looked at while it grows: after every simulation at first, later whenever it has grown
by a sixteenth. *Simulations to solve* is the first look from which on the answer stayed right to
the end; for a puzzle of several moves the largest of its moves, so that it is the budget per move
that solves the whole. Every move is searched in a fresh tree.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.matches.contestants import game_of
from zermelo.players import Player
from zermelo.players import player as find_player
from zermelo.players.human import HumanPlayer
from zermelo.players.protocol import Closes, PlayerError, Prepares, Reports, StartsGames
from zermelo.players.search_player import SearchPlayer
from zermelo.search import Limits, LiveSearch, SearchResult
from zermelo.suites.files import Problem, Suite
from zermelo.suites.mate_proof import ProofTree, verify_mate

FINEST = 16  # between two looks a search grows by at most this part of itself


@dataclass(frozen=True)
class Answer:
    """What a player made of a problem."""

    name: str
    solved: bool
    given: str  # the action played, at the first mistake if the problem asks for several
    wanted: str
    themes: tuple[str, ...]
    seconds: float
    simulations: int | None = None  # to solve; None if unsolved or not known
    optimal: bool | None = None  # with exact scores: no action has a better one
    value_error: float | None = None  # with exact scores: |value - result|, from 0 to 2
    mate: int | None = None  # claimed; negative if the mover is mated
    exact: bool | None = None  # whether the claim is the suite's
    verified: bool | None = None  # by the rules, against every defence; None: undecided

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        return vars(self) | {"themes": list(self.themes)}


class SuiteSolver:
    """One player before the problems of one suite."""

    def __init__(self, suite: Suite, player: str | Player) -> None:
        self.suite = suite
        self.game: Any = game_of([player], suite.game)
        if kind_of(self.game) != suite.game:
            raise UserError(f"'{suite.name}' is about {suite.game}, not {self.game.name}")
        self.player = find_player(player, self.game)
        if isinstance(self.player, HumanPlayer):
            raise UserError("a suite is solved without people: 'human' cannot take part")
        for problem in suite.problems:
            if self._must_prove(problem) and not isinstance(self.player, SearchPlayer):
                raise UserError(
                    f"'{suite.name}' asks for proofs of mates (the first is {problem.name}), which "
                    f"only a search gives, not '{self.player.name}'"
                )
        if isinstance(self.player, Prepares):
            self.player.prepare(self.game)

    def answers(self) -> Iterator[Answer]:
        """One after the other, in the order of the file."""
        try:
            for problem in self.suite.problems:
                yield self.solve(problem)
        finally:
            if isinstance(self.player, Closes):
                self.player.close()

    def solve(self, problem: Problem) -> Answer:
        """One problem."""
        started = time.perf_counter()
        try:
            if self._must_prove(problem):
                made = self._prove(problem)
            elif problem.line:
                made = self._follow(problem)
            else:
                made = self._choose(problem)
        except PlayerError as error:
            raise UserError(f"{self.player.name} at {problem.name}: {error}") from error
        seconds = time.perf_counter() - started
        return Answer(name=problem.name, themes=problem.themes, seconds=seconds, **made)

    def _must_prove(self, problem: Problem) -> bool:
        """A mate, unless the player cannot prove and the problem also names the move."""
        named = problem.best and not isinstance(self.player, SearchPlayer)
        return problem.mate is not None and not named

    def _choose(self, problem: Problem) -> dict[str, Any]:
        """One action of one position."""
        state = self.game.parse_position(problem.position)
        if problem.score is not None:
            return self._keep_result(problem, state, problem.score)

        def right(action: int) -> bool:
            text = self.game.action_text(state, action)
            return text not in problem.avoid and (not problem.best or text in problem.best)

        choice = self._ask(state, right)
        wanted = " or ".join(problem.best) or "not " + " or ".join(problem.avoid)
        return choice.told(self.game, state, wanted)

    def _keep_result(self, problem: Problem, state: State, score: int) -> dict[str, Any]:
        """Exact scores are known, or can be computed: the result must not be given away."""
        scores: dict[int, int] = {}

        def score_of(action: int) -> int:
            if action not in scores:
                scores[action] = self._exact_score(problem, state, action)
            return scores[action]

        choice = self._ask(state, lambda action: _sign(score_of(action)) >= _sign(score))
        best = " or ".join(t for t, s in problem.scores.items() if s == score)
        told = choice.told(self.game, state, best or f"score {score:+d}")
        told["optimal"] = score_of(choice.action) >= score
        if choice.value is not None:
            told["value_error"] = abs(choice.value - _sign(score))
        return told

    def _exact_score(self, problem: Problem, state: State, action: int) -> int:
        if problem.scores:
            # A move that the file does not list is taken for the worst.
            return problem.scores.get(action_text(self.game, state, action), -64)
        return -self._connect4.solve(self.game.play(state, action))

    @cached_property
    def _connect4(self) -> _core.Connect4Solver:
        return _core.Connect4Solver(table_mib=64)

    def _follow(self, problem: Problem) -> dict[str, Any]:
        """A puzzle: the opponent's moves are given, ours must be found; any mate is right."""
        state = self.game.parse_position(problem.position)
        simulations: int | None = 0
        told: dict[str, Any] = {}
        for theirs, ours in zip(problem.line[::2], problem.line[1::2], strict=False):
            state = self.game.play(state, self.game.parse_action(state, theirs))
            choice = self._ask(state, partial(self._right_move, state, ours))
            told = choice.told(self.game, state, ours)
            if not choice.solved:
                return told
            if choice.simulations is None or simulations is None:
                simulations = None
            else:
                simulations = max(simulations, choice.simulations)
            if told["given"] != ours:  # another mate
                break
            state = self.game.play(state, choice.action)
        return told | {"simulations": simulations}

    def _right_move(self, state: State, wanted: str, action: int) -> bool:
        if action_text(self.game, state, action) == wanted:
            return True
        outcome = self.game.outcome(self.game.play(state, action))
        return outcome in (_core.Outcome.FIRST_WINS, _core.Outcome.SECOND_WINS)

    def _prove(self, problem: Problem) -> dict[str, Any]:
        """A mate must be proven; the claim is then checked by the rules."""
        import chess

        mate = problem.mate
        assert mate is not None
        state = self.game.parse_position(problem.position)

        def proven(result: SearchResult) -> bool:
            return result.mate is not None and (result.mate > 0) == (mate > 0)

        choice = self._ask(state, None, proven)
        assert choice.result is not None and choice.search is not None
        told = choice.told(self.game, state, f"mate in {mate}" if mate > 0 else f"mated in {-mate}")
        claimed = choice.result.mate
        if claimed is None:
            return told
        tree = ProofTree(choice.search.tree(2 * abs(claimed) + 1, 0).nodes)
        verified = verify_mate(chess.Board(problem.position), claimed, tree)
        # What the rules refute is no solution, whatever the search says.
        solved = choice.solved and verified is not False
        return told | {
            "solved": solved,
            "mate": claimed,
            "exact": claimed == mate,
            "verified": verified,
        }

    def _ask(
        self,
        state: State,
        right: Callable[[int], bool] | None,
        enough: Callable[[SearchResult], bool] | None = None,
    ) -> Choice:
        """The player's answer, and if it is a search, since when it was right."""
        if isinstance(self.player, StartsGames):
            self.player.start_game()
        judge = enough or (lambda result: right is not None and right(result.best_action))
        if isinstance(self.player, SearchPlayer):
            return watch_search(self.player, self.game, state, judge)
        action = self.player.choose(self.game, state)
        report = self.player.report() if isinstance(self.player, Reports) else None
        value = report.value if report else None
        return Choice(action, right is not None and right(action), None, value)


@dataclass(frozen=True)
class Choice:
    """One action of a player; a search is given with its result."""

    action: int
    solved: bool
    simulations: int | None
    value: float | None
    result: SearchResult | None = None
    search: LiveSearch | None = None

    def told(self, game: Game, state: State, wanted: str) -> dict[str, Any]:
        """The fields of an answer."""
        return {
            "solved": self.solved,
            "given": action_text(game, state, self.action),
            "wanted": wanted,
            "simulations": self.simulations,
        }


def watch_search(
    player: SearchPlayer, game: Game, state: State, right: Callable[[SearchResult], bool]
) -> Choice:
    """Searches as the player would, in steps, and looks after each."""
    search = player.lasting_search_at(game, state)
    budget = player.simulations or player.nodes
    since: int | None = None
    if budget is None or player.options.gumbel or player.seconds:
        # A limit in seconds or a plan for the whole budget: it can only be looked at in the end.
        result = search.run(Limits(budget, seconds=player.seconds))
        solved = right(result)
    else:
        smallest = int(player.options.leaves_per_tree) * int(player.options.threads)
        done = 0
        while True:
            step = max(smallest, done // FINEST)
            result = search.run(Limits(min(step, budget - done)))
            done += min(step, budget - done)
            solved = right(result)
            since = (since or result.root_visits - 1) if solved else None
            if done >= budget or result.proven or result.stop:
                break
    value = float(result.proven.result) if result.proven else result.value
    return Choice(result.best_action, solved, since, value, result, search)


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
