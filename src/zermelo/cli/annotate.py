"""`zermelo annotate game.pgn`: evaluations, marks and better lines, written into the PGN."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from zermelo.analysis.make import make_engine
from zermelo.cli.evaluators import open_evaluator, rules_for
from zermelo.cli.options import (
    MOST_SIMULATIONS,
    BackendOption,
    SearchSetOption,
    WeightsOption,
    finite,
    read_settings,
)
from zermelo.errors import UserError
from zermelo.files import refuse_special
from zermelo.games import game as find_game
from zermelo.players.at_hand import usable_network
from zermelo.players.search_player import EVALUATORS

if TYPE_CHECKING:
    import chess.pgn

    from zermelo.analysis.annotate import GameReview

NO_TEXT_WITHIN = 1 << 16  # bytes in which a zero says that a file is no text
# Bytes that are no UTF-8 go through unchanged.
ENCODING: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape"}


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(annotate)


def annotate(
    pgn: Annotated[Path, typer.Argument(help="A PGN file with one or more games.")],
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; standard output by default."),
    ] = None,
    weights: WeightsOption = None,
    simulations: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_SIMULATIONS, metavar="N", help="Simulations for each position."
        ),
    ] = 800,
    backend: BackendOption = "auto",
    evaluator: Annotated[
        str | None, typer.Option(help=f"Without a network: {', '.join(EVALUATORS)}.")
    ] = None,
    inaccuracy: Annotated[
        float, typer.Option(callback=finite, help="Loss of expected score marked ?!.")
    ] = 0.05,
    mistake: Annotated[
        float, typer.Option(callback=finite, help="Loss of expected score marked ?.")
    ] = 0.10,
    blunder: Annotated[
        float, typer.Option(callback=finite, help="Loss of expected score marked ??.")
    ] = 0.15,
    line_plies: Annotated[
        int, typer.Option(help="Longest variation, in plies; 0 writes none.")
    ] = 8,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads; by default one per processor.")
    ] = None,
    settings: SearchSetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; -o writes the PGN.")] = False,
) -> None:
    """Write evaluations, blunders and better lines into chess games.

    Ctrl-C keeps the games that are done.
    """
    from zermelo.analysis.annotate import AnnotateOptions, annotate_games
    from zermelo.options import make_options

    if weights is None and evaluator is None:
        weights = usable_network(find_game("chess"))
    options = make_options(
        AnnotateOptions,
        {
            "simulations": simulations,
            "inaccuracy": inaccuracy,
            "mistake": mistake,
            "blunder": blunder,
            "line_plies": line_plies,
        },
        "annotate",
    )
    count = count_games(pgn)
    check_output(pgn, output)
    rules = rules_for("chess", weights)
    network = open_evaluator(rules, weights, backend, evaluator or "")
    # Values are compared from position to position: they must not shrink on the way.
    given = {"turn_discount": "1"} | read_settings(settings or ())
    engine = make_engine(network, given, simulations, threads)
    reviews: list[GameReview] = []
    started = time.perf_counter()
    interrupted = False
    try:
        with engine, opened(output, as_json) as file, bar(count) as advance:
            for game, review in annotate_games(read_games(pgn), engine, options, advance):
                sign(game, network.title, simulations)
                with whole():
                    write_game(game, file)
                    reviews.append(review)
                for warning in review.warnings:
                    print(f"zermelo: {printable(warning)}", file=sys.stderr)
    except KeyboardInterrupt:
        interrupted = True
    if as_json:
        figures = {
            "file": str(pgn),
            "output": None if output is None else str(output),
            "evaluator": network.title,
            "simulations": simulations,
            "seconds": round(time.perf_counter() - started, 3),
            "interrupted": interrupted,
            "games": [review.to_dict() for review in reviews],
        }
        print(json.dumps(figures, indent=2))
    elif output is not None:
        print(summary(reviews, count, output))
    if interrupted:
        raise KeyboardInterrupt


def read_games(path: Path) -> Iterator[chess.pgn.Game]:
    """The games of a file; what is wrong in one stands in its `errors`."""
    from zermelo.games.pgn import read_pgn_game

    with path.open(**ENCODING) as file:
        while (game := read_pgn_game(file)) is not None:
            yield game


def count_games(path: Path) -> int:
    """How many there are; refuses the file if one is no chess."""
    import chess.pgn

    from zermelo.games.pgn import check_variant

    if not path.is_file():
        refuse_special(path)
        raise UserError(f"there is no file '{path}'")
    count = 0
    with path.open("rb") as binary:
        if b"\0" in binary.read(NO_TEXT_WITHIN):
            raise UserError(f"'{path}' is no PGN: it is not text, or text in UTF-16")
    with path.open(**ENCODING) as file:
        while (headers := chess.pgn.read_headers(file)) is not None:
            count += 1
            check_variant(headers, f"game {count}")
    if not count:
        raise UserError(f"there is no game in '{path}'")
    return count


def check_output(pgn: Path, output: Path | None) -> None:
    """Refuses what could not be written, or would be lost, after the work."""
    if output is None:
        return
    if not output.parent.is_dir():
        raise UserError(f"-o '{output}': there is no folder '{output.parent}'")
    if output.exists() and os.path.samefile(pgn, output):
        raise UserError(f"-o '{output}' is the input itself: give another name")


@contextmanager
def opened(output: Path | None, as_json: bool) -> Iterator[TextIO | None]:
    """Where the PGN goes: a file, standard output, or nowhere."""
    with output.open("w", **ENCODING) if output is not None else nullcontext() as file:
        if file is not None or as_json:
            yield file
            return
        usual = sys.stdout.errors
        reconfigure = getattr(sys.stdout, "reconfigure", lambda **_: None)
        reconfigure(errors=ENCODING["errors"])
        try:
            yield sys.stdout
        finally:
            reconfigure(errors=usual)


@contextmanager
def bar(games: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on the terminal; elsewhere a line for each tenth of the games."""
    terminal = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.1f}/{task.total:.0f} games, {task.fields[positions]}"),
        TimeRemainingColumn(),
    )
    done, positions, told = 0.0, 0, 0
    moving = terminal.is_terminal
    with Progress(*columns, console=terminal, transient=True, disable=not moving) as progress:
        task = progress.add_task("annotate", total=games, positions="0 positions")

        def advance(count: int) -> None:
            nonlocal done, positions, told
            done, positions = done + 1 / count, positions + 1
            progress.update(task, completed=done, positions=f"{positions} positions")
            whole = int(done + 1e-6)
            if not moving and 10 * whole // games > told:
                told = 10 * whole // games
                print(f"{whole} of {games} games, {positions} positions", file=sys.stderr)

        yield advance


@contextmanager
def whole() -> Iterator[None]:
    """Ctrl-C inside comes at its end, if it is heard at all: a game is written and counted."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)


def write_game(game: chess.pgn.Game, file: TextIO | None) -> None:
    """At once: what is finished is in the file."""
    import chess.pgn

    if file is not None:
        file.write(game.accept(chess.pgn.StringExporter(columns=80)) + "\n\n")
        file.flush()


def sign(game: chess.pgn.Game, evaluator: str, simulations: int) -> None:
    """The header Annotator, unless somebody else stands there."""
    if game.headers.get("Annotator", "zermelo").startswith("zermelo"):
        game.headers["Annotator"] = f"zermelo, {evaluator}, {simulations} simulations"


def summary(reviews: list[GameReview], count: int, output: Path) -> str:
    """A line per game and one about the file."""
    lines = []
    for review in reviews:
        players = []
        for colour in ("White", "Black"):
            counts = review.counts(colour == "White")
            marks = f"{counts['inaccuracy']} ?!, {counts['mistake']} ?, {counts['blunder']} ??"
            players.append(f"{printable(review.headers.get(colour, '?'))}: {marks}")
        lines.append(f"game {review.number}: {'; '.join(players)}")
    games = f"{len(reviews)} of {count} games" if len(reviews) < count else f"{count} games"
    return "\n".join([*lines, f"{games} with annotations in {output}"])


def printable(text: str) -> str:
    """Without what came from bytes that are no UTF-8."""
    return text.encode("utf-8", "replace").decode()
