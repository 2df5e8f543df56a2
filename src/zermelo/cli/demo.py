"""`zermelo demo`: what the system can do today, in about a minute, without any question.

The native search, with random games in place of a network, plays Connect Four against a player
that cannot err; the solver judges every move of the search. Then the person may play.
"""

from __future__ import annotations

import select
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from zermelo.cli.analyse import proven_text
from zermelo.cli.play import play
from zermelo.cli.waiting import interruptible
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.notation import action_text, outcome_text, parse_action
from zermelo.games.protocol import Game, State
from zermelo.games.render import rich_board
from zermelo.players.perfect import PerfectPlayer
from zermelo.players.search_player import SearchPlayer
from zermelo.search import SearchResult

# The first player can still win from here, but by one action only; earlier positions would take the
# solver longer.
OPENING = "44444222"
OPPONENT = "search?simulations=2000"
VERDICTS = {1: "a win", 0: "a draw", -1: "a loss"}


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(demo)


def demo(
    simulations: Annotated[int, typer.Option(min=1, help="For each move.")] = 200_000,
    opening: Annotated[
        str, typer.Option(help="Columns played first; with fewer than 8 the solver takes long.")
    ] = OPENING,
) -> None:
    """Watch the search play Connect Four against a perfect player, then play it yourself."""
    game = find_game("connect4")
    Demonstration(game, start_position(game, opening), simulations).run()
    say = Console(highlight=False).print
    command = f"zermelo play connect4 --against '{OPPONENT}'"
    if not someone_answers():
        say(f"\nYour turn: {command}", soft_wrap=True)
        return
    say(f"\nYour turn, against 2,000 simulations a move ({command}).", soft_wrap=True)
    play("connect4", against=OPPONENT, side="first", position=None)


def start_position(game: Game, opening: str) -> State:
    """The position after the columns of `opening`."""
    state = game.initial()
    for column in opening:
        if game.outcome(state) is not None:
            raise UserError(f"--opening '{opening}' goes on after the end of the game")
        state = game.play(state, parse_action(game, state, column))
    if game.outcome(state) is not None:
        raise UserError(f"--opening '{opening}' leaves nothing to play")
    return state


def someone_answers() -> bool:
    """Whether the standard input is a terminal or has something to read, if only its end."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        return sys.stdin.isatty() or bool(select.select([sys.stdin], [], [], 0.2)[0])
    except (OSError, ValueError):  # no real file, as in tests
        return True


class Demonstration:
    """One game: the search is the side to move first, the perfect player the other."""

    def __init__(self, game: Game, state: State, simulations: int) -> None:
        self.game, self.state = game, state
        self.searcher = SearchPlayer(simulations=simulations, evaluator="rollout")
        self.perfect = PerfectPlayer(game)
        self.side = game.player(state)
        self.kept = self.choices = 0
        self.console = Console(highlight=False)
        self.console.width = max(self.console.width, 100)

    def say(self, text: str = "") -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    def run(self) -> None:
        """The game and its verdict."""
        self.say(
            f"{'XO'[self.side]} is Zermelo's search: {self.searcher.simulations:,} simulations a "
            "move, random games instead of a network.\n"
            f"{'OX'[self.side]} is a perfect player, a solver that sees to the end of the game. It "
            "also judges every move of the search."
        )
        scores = self.solve()
        self.say(
            f"With best play this position is {VERDICTS[sign(max(scores.values()))]} for "
            f"{'XO'[self.side]}.\n"
        )
        self.console.print(rich_board(self.game, self.state))
        while self.game.outcome(self.state) is None:
            self.turn()
        outcome = outcome_text(self.game.outcome(self.state))
        self.say(
            f"The game is over: {outcome}. {self.kept} of the search's {self.choices} moves kept "
            "what the position was worth."
        )
        if self.kept < self.choices:
            self.say("Without a trained network it does not see everything.")

    def turn(self) -> None:
        """One action of either side. The board is drawn after the perfect player's."""
        scores = self.solve()
        mine = self.game.player(self.state) == self.side
        if mine:
            with self.console.status("searching"):
                action = self.searcher.choose(self.game, self.state)
        else:
            action = max(scores, key=lambda found: scores[found])
        before = self.state
        self.state = self.game.play(before, action)
        over = self.game.outcome(self.state) is not None
        if mine and self.searcher.result is not None:
            self.comment(before, self.searcher.result, scores)
        else:
            self.say(f"perfect  {action_text(self.game, before, action)}")
        if over or not mine:
            self.console.print(rich_board(self.game, self.state, action, before))

    def comment(self, state: State, result: SearchResult, scores: dict[int, int]) -> None:
        """What the search played, what else it considered, and what the solver says."""
        best, played = sign(max(scores.values())), sign(scores[result.best_action])
        self.choices += 1
        self.kept += best == played
        verdict = f"keeps {VERDICTS[best]}"
        if best != played:
            verdict = f"throws away {VERDICTS[best]}: {VERDICTS[played]}"
        total = max(1, sum(row.visits for row in result.rows()))
        candidates = "   ".join(
            f"{row.text} {row.visits / total:4.0%} {row.q:+.2f}"
            + (f" {proven_text(row)}" if row.certain else "")
            for row in result.rows()[:3]
        )
        chosen = action_text(self.game, state, result.best_action)
        line = Text(f"search   {chosen}  {verdict:<32}", "" if best == played else "bold red")
        self.console.print(line + Text(f"considered: {candidates}", "dim"), soft_wrap=True)

    def solve(self) -> dict[int, int]:
        """Exact scores; the first ones of a game take seconds."""
        with self.console.status("solving"):
            return interruptible(lambda: self.perfect.scores(self.game, self.state))


def sign(score: int) -> int:
    """1 for a win, 0 for a draw, -1 for a loss."""
    return (score > 0) - (score < 0)
