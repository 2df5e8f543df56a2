"""`zermelo play`: a game in the terminal, against a player or another person.

Reads lines from the standard input, so a game can be scripted; its end ends the game politely.
"""

from __future__ import annotations

import random
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from zermelo.cli.evaluators import game_and_run, tell_choice
from zermelo.cli.match_report import short_name
from zermelo.cli.options import MOST_SIMULATIONS, GameOrRunArgument
from zermelo.errors import REFUSALS, UserError
from zermelo.games.notation import outcome_text, parse_position
from zermelo.games.protocol import Game
from zermelo.games.registry import kind_of
from zermelo.games.render import rich_board
from zermelo.games.written import game_text, line_text, move_text, read_move
from zermelo.matches.contestants import game_of, with_budget
from zermelo.players import Player
from zermelo.players import player as find_player
from zermelo.players.at_hand import OPPONENT_SIMULATIONS, adviser, default_opponent, searcher
from zermelo.players.game_in_progress import GameInProgress
from zermelo.players.human import HumanPlayer
from zermelo.players.protocol import PlayerError, Prepares
from zermelo.players.search_player import SearchPlayer

RUN_SIMULATIONS = 800
HELP = (
    "Type an action, its number in the list of 'moves', or: moves, undo, hint, board, save FILE, "
    "help, quit."
)
SIDES = ("first", "second")
LINE = 8  # actions of an expected line


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(play)


def play(
    game: GameOrRunArgument,
    against: Annotated[
        str | None,
        typer.Option(
            help="human, random, minimax?depth=4, perfect, a network FILE?simulations=800, ...",
            show_default="a network that comes with the package, else a search by random games",
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Play against the newest checkpoint of a run."),
    ] = None,
    side: Annotated[str, typer.Option(help="Your side: first, second or random.")] = "first",
    simulations: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_SIMULATIONS,
            metavar="N",
            help="Of each of the opponent's moves, if it searches and names none itself.",
        ),
    ] = None,
    position: Annotated[str | None, typer.Option(help="Begin from this position.")] = None,
) -> None:
    """Play a game in the terminal."""
    if side not in (*SIDES, "random"):
        raise UserError(f"--side must be first, second or random, not '{side}'")
    game, named = game_and_run(game)
    run = run or (named if against is None else None)
    rules = game_of([against] if against else [], game)  # chess, as a network sees it
    state = rules.initial() if position is None else parse_position(rules, position)
    if run is not None and against is not None:
        raise UserError("--run and --against both name the opponent: give one of them")
    opponent: Player
    note = ""
    if run is not None:
        changed = refuse_other_run(run, rules)
        newest = searcher(str(run), simulations or RUN_SIMULATIONS)
        opponent, note = newest, changed + checkpoint_text(run, newest.network or "")
    elif against is not None:
        opponent = find_player(with_budget([against], simulations)[0], rules)
    else:
        opponent = default_opponent(rules, simulations or OPPONENT_SIMULATIONS)
    seat = random.randrange(2) if side == "random" else SIDES.index(side)
    players: list[Player | None] = [None, None]  # None is a person
    if not isinstance(opponent, HumanPlayer):
        players[1 - seat] = opponent
        make_ready(opponent, rules)
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text are a wrong answer only
    if note:
        print(note)
    # A training may remove the checkpoint before a hint is asked for, so whoever has it gives them.
    helper: Player = opponent if run is not None else adviser(rules)
    board = GameInProgress(rules, state, players)
    try:
        Session(board, helper).run()
    finally:
        board.close()


def refuse_other_run(run: Path, game: Game) -> str:
    """A directory that is no run, or a run of another game; a line if its file is another one."""
    from zermelo.loop import Run

    opened = Run.open(run)
    opened.check_game(game)
    changed = opened.check_changed(game)
    return f"Note: {changed}.\n" if changed else ""


def checkpoint_text(run: Path, checkpoint: str) -> str:
    """Which checkpoint of the run plays."""
    number = Path(checkpoint).name
    untrained = "" if number.strip("0") else ", which is untrained"
    return f"The newest checkpoint of {run} is {number}{untrained}."


def make_ready(player: Player, game: Game) -> None:
    """Loads its network, if it has one, and says what runs it before the first move."""
    if isinstance(player, Prepares):
        player.prepare(game)
    if isinstance(player, SearchPlayer):
        tell_choice(player.choice)


class Session:
    """One game at the terminal: what a person types, and what is shown."""

    def __init__(self, board: GameInProgress, adviser: Player) -> None:
        self.board = board
        self.game = board.game
        self.adviser = adviser
        self.console = Console(highlight=False)
        self.commands: dict[str, Callable[[], None]] = {
            "moves": self.show_moves,
            "undo": self.undo,
            "hint": self.hint,
            "board": self.show_board,
            "help": lambda: self.say(HELP),
        }

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    def run(self) -> None:
        """Until the game is over or the person leaves; UserError if the opponent cannot go on."""
        board = self.board
        for seat, player in enumerate(board.seats):
            if player is not None:
                name = short_name(player.name)
                self.say(f"You are the {SIDES[1 - seat]} player, against {name}. {HELP}")
        if board.seats == (None, None):
            self.say(f"Two people play. {HELP}")
        self.show_board()
        while (outcome := board.outcome) is None:
            if board.mover is not None:
                self.let_answer(board.mover)
            elif not self.ask():
                self.say("Goodbye; the game is not finished.")
                return
        self.say(f"The game is over: {outcome_text(outcome)}.")

    def let_answer(self, player: Player) -> None:
        """A player's turn."""
        name, state = short_name(player.name), self.board.state
        try:
            action = self.board.answer()
        except PlayerError as error:
            raise UserError(f"{name} cannot go on with the game: {error}") from None
        assert action is not None  # nobody else is at this board
        self.say(f"{name} plays {move_text(self.game, state, action)}{chance_text(player)}")
        self.show_board()

    def ask(self) -> bool:
        """One line of the person to move; False if it was the last."""
        line = read_line(f"{SIDES[self.board.turn]} player> ")
        if line is None or line.lower() in ("quit", "exit"):
            return False
        if line.lower() in self.commands:
            self.commands[line.lower()]()
        elif line.lower().split()[:1] == ["save"]:
            self.save(line[4:].strip())
        elif line:
            try:
                action = self.read(line)
            except REFUSALS as error:
                self.say(f"{error}. Type 'moves' to see what is legal.")
            else:
                self.board.play(action)
                self.show_board()
        return True

    def read(self, text: str) -> int:
        """Chess as people write it, too."""
        if kind_of(self.game) == "chess" and not text.removeprefix("#").isdecimal():
            return read_move(self.game, self.board.state, text)
        return self.board.parse(text)

    def save(self, name: str) -> None:
        """The game so far; nothing that is there is replaced."""
        if not name:
            self.say("Where? Give a file's name: save FILE.")
            return
        path = Path(name).expanduser()
        text = game_text(self.game, self.board.states, self.board.actions)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            self.say(f"The game cannot be saved as '{path}': {error.strerror}.")
        else:
            self.say(f"saved as '{path}'")

    def show_board(self) -> None:
        """In Othello with what is legal, which is hard to see there."""
        last = self.board.last or (None, None)
        asked = self.board.outcome is None and self.board.mover is None
        legal: list[int] = []
        if kind_of(self.game) == "othello" and asked:
            legal = list(self.game.legal_actions(self.board.state))
        drawn = rich_board(self.game, self.board.state, *last, legal=legal)
        self.console.print(drawn, soft_wrap=True)

    def show_moves(self) -> None:
        choices = self.board.choices()
        names = [move_text(self.game, self.board.state, action) for action, _ in choices]
        listing = "  ".join(f"{i + 1}:\u00a0{name}" for i, name in enumerate(names))
        self.say(textwrap.fill(listing, 80).replace("\u00a0", " "))

    def undo(self) -> None:
        if self.board.undo():
            self.show_board()
        else:
            self.say("There is nothing to take back.")

    def hint(self) -> None:
        try:
            action = self.adviser.choose(self.game, self.board.state)
        except (UserError, PlayerError, OSError) as error:
            self.say(f"There is no hint: {error}.")
        else:
            state = self.board.state
            said = f"hint: {move_text(self.game, state, action)}{chance_text(self.adviser)}"
            result = self.adviser.result if isinstance(self.adviser, SearchPlayer) else None
            line = line_text(self.game, state, result.pv[:LINE]) if result is not None else ""
            self.say(said + (f"; expected: {line}" if len(line.split()) > 1 else ""))


def chance_text(player: Player) -> str:
    """What a search expects for the side that it chose for, a draw being half a win."""
    result = player.result if isinstance(player, SearchPlayer) else None
    if result is None:
        return ""
    if result.proven is not None:
        return f" ({result.proven})"
    return f" (win chance {(1 + result.value) / 2:.0%})"


def read_line(prompt: str) -> str | None:
    """A line of the standard input without blanks around it; None at its end."""
    if sys.stdin is None:
        return None
    try:
        line = input(prompt).strip()
    except EOFError:
        print()
        return None
    if not sys.stdin.isatty():
        print(line)  # a script's answers are part of the record
    return line
