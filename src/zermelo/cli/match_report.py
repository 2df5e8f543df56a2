"""What the commands that play matches share: their options, live progress, tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from zermelo.cli.options import PIPED_WIDTH
from zermelo.errors import UserError

if TYPE_CHECKING:
    from zermelo.matches.match import MatchResult
    from zermelo.matches.workers import PlayTasks

PLAIN_SECONDS = 10.0  # between two lines of progress where there is no terminal
GAMES = 100  # where nothing says how many
MOST_GAMES = 20_000  # of a sequential test

GameOption = Annotated[str | None, typer.Option("--game", help="Needed if no player is a network.")]
OpeningsOption = Annotated[
    str, typer.Option(help="random:PLIES, start, or a book: FILE.epd, FILE.pgn?plies=8.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed for openings and players.")]
SimulationsOption = Annotated[
    int | None, typer.Option(min=1, help="Simulations for each move of players without a budget.")
]
VisitsOption = Annotated[int | None, typer.Option(min=1, hidden=True)]  # --simulations as it was
ConcurrencyOption = Annotated[
    int, typer.Option(min=1, help="Processes; with networks, each plays 16 games at once.")
]
OutOption = Annotated[
    Path | None, typer.Option(help="Directory for the games; an unfinished match continues.")
]
MaxPliesOption = Annotated[
    int, typer.Option(min=0, help="A longer game is a draw; 0 means no limit.")
]
SprtOption = Annotated[
    str | None, typer.Option(help="ELO0,ELO1[,ALPHA,BETA]: stop when the sequential test decides.")
]
ResignOption = Annotated[
    str | None, typer.Option(help="VALUE,MOVES: end a game when both agree who wins: 0.95,3.")
]
DrawOption = Annotated[
    str | None, typer.Option(help="VALUE,MOVES,PLIES: end a game when both agree on a draw.")
]
TablebaseOption = Annotated[
    str, typer.Option(help="Directory of Syzygy tables, which decide chess endgames.")
]


def numbers(option: str, text: str, least: int, most: int) -> list[float]:
    """The numbers of `--sprt 0,5` and its like."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not least <= len(found) <= most:
        count = str(least) if least == most else f"{least} to {most}"
        raise UserError(f"--{option} must be {count} numbers joined by commas, not '{text}'")
    return found


def sprt_of(text: str | None) -> Any:
    """The test that `--sprt` asks for."""
    from zermelo.statistics.sprt import Sprt

    return None if text is None else Sprt(*numbers("sprt", text, 2, 4))


def games_of(games: int | None, sprt: str | None) -> int:
    """As many as were asked for; a sequential test ends by itself."""
    return games or (GAMES if sprt is None else MOST_GAMES)


def undecided(result: MatchResult) -> str:
    """A sentence about a test that all games did not decide, "" if there is none."""
    state = result.sprt_state
    if state is None or state.decision:
        return ""
    return f"the test is undecided after {len(result.records)} games"


def adjudication_of(
    max_plies: int, resign: str | None = None, draw: str | None = None, tablebase: str = ""
) -> Any:
    """Options of the adjudication, from those of the command line."""
    from zermelo.matches.adjudicate import AdjudicateOptions
    from zermelo.options import make_options

    values: dict[str, Any] = {"max_plies": max_plies, "tablebase": tablebase}
    if resign is not None:
        given = numbers("resign", resign, 1, 2)
        values |= dict(zip(("resign_value", "resign_moves"), given, strict=False))
    if draw is not None:
        given = numbers("draw", draw, 1, 3)
        values |= dict(zip(("draw_value", "draw_moves", "draw_after"), given, strict=False))
    return make_options(AdjudicateOptions, values, "adjudication")


def say_interrupted(done: int, total: int, out: Path | None) -> None:
    """After Ctrl-C, on the standard error: how far it came and how to go on."""
    rest = "the same command goes on" if out else "with --out the same command could go on"
    print(f"{done} of {total} games are finished; {rest}", file=sys.stderr)


@contextmanager
def playing_on(cluster: str | None) -> Iterator[PlayTasks | None]:
    """What plays a match's games on a cluster; None plays them here."""
    if cluster is None:
        yield None
        return
    from zermelo.cluster.needed import need_ray

    need_ray()
    from zermelo.cluster.connection import connect
    from zermelo.cluster.matches import play_on

    with connect(cluster) as joined:
        yield play_on(joined)


class Live:
    """Progress on the standard error: a bar on a terminal, else a line now and then."""

    def __init__(self) -> None:
        console = Console(stderr=True, markup=False, emoji=False)
        self._plain = not console.is_terminal
        self._shown = time.monotonic()
        columns = (BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(
            *columns,
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
            disable=self._plain,
        )
        self._task = self._bar.add_task("")
        self._console = console

    def show(self, done: int, total: int, text: str) -> None:
        """How far it is; a total of 0 is not known."""
        self._bar.update(self._task, completed=done, total=total or None, description=text)
        if self._plain and time.monotonic() - self._shown > PLAIN_SECONDS:
            self._shown = time.monotonic()
            self._console.print(f"{done}/{total or '?'}  {text}", soft_wrap=True, highlight=False)

    def __enter__(self) -> Live:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()


def short_name(name: str) -> str:
    """A player's name without the directories above its network."""
    head, mark, settings = name.partition("?")
    if head.startswith("uci:"):
        return name
    parts = head.split("/")
    kept = parts[-3:] if parts[-1].isdecimal() else parts[-1:]  # a checkpoint, with its run
    return "/".join(kept) + mark + settings


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """The first `left` columns are text, the others are figures."""
    # Names may have brackets and colons in them.
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPED_WIDTH)
    table = Table(box=None, pad_edge=False)
    for index, head in enumerate(heads):
        text = index < left
        table.add_column(
            head, justify="left" if text else "right", no_wrap=not text, overflow="fold"
        )
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_notes(figures: dict[str, Any], about: str = "") -> None:
    """What should make one careful with the figures of a match or tournament."""
    again, equal = figures["duplicates"], figures["equal_pairs"]
    openings, distinct = figures["openings"], figures["distinct_openings"]
    if again:
        games = "game is" if again == 1 else "games are"
        print(f"{about}{again} {games} the same as an earlier one: use more openings")
    if equal == 1:
        print(f"{about}1 pair has the same moves in both games: it says nothing")
    elif equal:
        print(f"{about}{equal} pairs have the same moves in both games: they say nothing")
    if distinct < openings:
        print(
            f"{about}{openings} pairs from {distinct} opening{'s' * (distinct > 1)}: the interval "
            "takes all pairs as independent, which those from one opening are not"
        )
    for name, kinds in figures["failures"].items():
        if kinds:
            listing = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
            print(f"{about}{short_name(name)} failed: {listing}")
