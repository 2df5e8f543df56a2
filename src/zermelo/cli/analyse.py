"""`zermelo analyse`: what a search thinks of a position, while it thinks.

On a terminal the table is drawn again and again; elsewhere only its last state is printed. Ctrl-C
ends the search, not the command: what was found so far is shown. With `--jsonl` many positions are
asked for, line by line (see `jsonl.py`).
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from zermelo.analysis.alone import TREE_DEPTH, TREE_SHARE
from zermelo.analysis.make import make_engine
from zermelo.cli.evaluators import game_and_run, open_evaluator, rules_for
from zermelo.cli.jsonl import serve
from zermelo.cli.options import (
    MOST_SIMULATIONS,
    PIPED_WIDTH,
    BackendOption,
    GameOrRunArgument,
    JsonOption,
    SearchSetOption,
    WeightsOption,
    finite,
    read_settings,
)
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.notation import outcome_text, parse_position, position_text
from zermelo.players.at_hand import usable_network
from zermelo.players.search_player import EVALUATORS
from zermelo.search import ActionRow, Limits, LiveSearch, SearchOptions, SearchResult

ROWS = 15  # candidates that are shown; JSON has all
FRAMES_PER_SECOND = 8.0
SECONDS = 3.0  # when nothing else is asked for
STOPS = {
    "simulations": "all simulations done",
    "proven": "the result is proven",
    "time": "time is up",
    "stopped": "on request",
    "max_nodes": "max_nodes reached",
    "settled": "its visits no longer shift (stop_gain)",
}
SIMULATIONS = 800  # of a request that names none
STAND_IN = "rollout"  # where a game has no network of its own


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(analyse)


def analyse(
    game: GameOrRunArgument,
    *,
    position: Annotated[
        str | None, typer.Option(help="Analyse this position, not the start.")
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_SIMULATIONS, metavar="N", help="Stop after this many."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.0, callback=finite, help="Stop after this time; 3 if there is no limit."
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of the search.")] = None,
    settings: SearchSetOption = None,
    evaluator: Annotated[
        str | None, typer.Option(help=f"Instead of a network: {', '.join(EVALUATORS)}.")
    ] = None,
    weights: WeightsOption = None,
    backend: BackendOption = "auto",
    tree: Annotated[
        Path | None, typer.Option(help="Write the top of the tree to FILE.json or FILE.dot.")
    ] = None,
    as_json: JsonOption = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Answer requests; each line is a JSON object.")
    ] = False,
) -> None:
    """Show the candidate moves of a position.

    Ctrl-C ends the search early.
    """
    game, run = game_and_run(game)
    if run is not None and weights is None and evaluator is None:
        weights = str(run)
    if weights is None and evaluator is None:
        weights = usable_network(find_game(game))
    rules = rules_for(game, weights)
    given = read_settings(settings or ())
    if threads is not None:
        given["threads"] = threads
    seed = int(SearchOptions(**given).seed)
    if as_jsonl:
        refuse_together(position=position, seconds=seconds, tree=tree, json=as_json or None)
        opened = open_evaluator(rules, weights, backend, evaluator or STAND_IN, seed)
        engine = make_engine(opened, given, simulations or SIMULATIONS, threads)
        serve(engine, sys.stdin, sys.stdout)
        return
    state = rules.initial() if position is None else parse_position(rules, position)
    outcome = rules.outcome(state)
    if outcome is not None:
        raise UserError(f"there is nothing to analyse: the game is over, {outcome_text(outcome)}")
    if tree is not None:
        check_tree_file(tree)
    if simulations is None and not seconds:
        seconds = SECONDS
    if SearchOptions(**given).gumbel and simulations is None:
        raise UserError("gumbel needs a number of simulations: give --simulations")
    opened = open_evaluator(rules, weights, backend, evaluator or STAND_IN, seed)
    options = opened.searched(given, counted=simulations is not None)
    search = LiveSearch(rules, opened.evaluator, options)
    search.follow(state)
    title = f"{rules.name}  {position_text(rules, state)}"
    view = LiveTable(title, enabled=not as_json)
    with interrupt_stops(search), view.running():
        result = search.run(Limits(simulations, seconds=seconds or 0.0), view.progress)
    if tree is not None:
        write_tree(search, result, tree)
    if as_json:
        print(json.dumps(report(title, opened.title, options, result), indent=2))
    else:
        view.show(result)


def refuse_together(**given: object) -> None:
    """Options that mean nothing with `--jsonl`."""
    for name, value in given.items():
        if value is not None:
            raise UserError(f"--{name} and --jsonl do not go together: requests say what they want")


@contextmanager
def interrupt_stops(search: LiveSearch) -> Iterator[None]:
    """The first Ctrl-C asks the search to stop; a second one interrupts as usual."""
    try:
        usual = signal.getsignal(signal.SIGINT)

        def stop(*_: object) -> None:
            search.stop()
            signal.signal(signal.SIGINT, usual)

        signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread: signals do not come here
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


class LiveTable:
    """The table on the screen. Without a terminal, or switched off, nothing moves."""

    def __init__(self, title: str, enabled: bool = True, console: Console | None = None) -> None:
        self.title = title
        self.console = console or Console(highlight=False)
        self._moving = enabled and self.console.is_terminal
        if not self.console.is_terminal:
            self.console.width = max(self.console.width, PIPED_WIDTH)
        self._live = Live(console=self.console, auto_refresh=False, transient=True)
        self._started = self._drawn = time.perf_counter()

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the search runs."""
        self._started = self._drawn = time.perf_counter()
        with self._live if self._moving else nullcontext():
            yield

    @property
    def progress(self) -> Any:
        """What the search calls about fifty times a second; None if nobody looks."""
        return self._redraw if self._moving else None

    def _redraw(self, result: SearchResult) -> None:
        now = time.perf_counter()
        if result.final or now - self._drawn < 1.0 / FRAMES_PER_SECOND:
            return
        self._drawn = now
        # Counters are only known at the end; the root's own evaluation is no simulation.
        head = headline(self.title, result, result.root_visits - 1, now - self._started)
        self._live.update(Group(head, candidates(result)), refresh=True)

    def show(self, result: SearchResult) -> None:
        """The table at the end."""
        simulations = result.counters["simulations"]
        head = headline(self.title, result, simulations, result.seconds)
        counters = result.counters
        end = (
            f"depth {counters['mean_depth']:.1f} on average, {counters['max_depth']} at most; "
            f"{counters['evaluations']:,} evaluations, {counters['cache_hits']:,} from the cache; "
            f"stopped: {STOPS[stop_reason(result)]}"
        )
        self.console.print(Group(head, candidates(result), Text(end)))


def headline(title: str, result: SearchResult, simulations: int, seconds: float) -> Text:
    """Two lines: the position, and what was done."""
    proven = f" ({result.proven})" if result.proven else ""
    rate = f"{simulations / seconds:,.0f}" if seconds > 0 else "-"
    return Text(
        f"{title}\nvalue {result.value:+.3f}{proven}; {simulations:,} simulations, {rate}/s, "
        f"{seconds:.1f} s; {result.nodes:,} nodes, {result.bytes / 2**20:,.1f} MiB",
        "bold",
    )


def candidates(result: SearchResult) -> Group:
    """The actions, best first. Values are for the player to move."""
    table = Table(box=None, pad_edge=False, expand=False)
    for name in ("move", "visits", "share", "Q", "W/D/L %", "prior", "proven"):
        table.add_column(name, justify="left" if name in ("move", "proven") else "right")
    table.add_column("line", no_wrap=True, overflow="ellipsis", ratio=1)
    rows = result.rows()
    total = max(1, sum(row.visits for row in rows))
    for row in rows[:ROWS]:
        table.add_row(
            row.text,
            f"{row.visits:,}",
            f"{row.visits / total:.1%}",
            f"{row.q:+.3f}" if row.visits else "-",
            "/".join(f"{100 * part:.0f}" for part in row.wdl) if row.visits else "-",
            f"{row.prior:.1%}",
            proven_text(row),
            " ".join(row.pv[:12]),
        )
    return Group(table, *([Text(f"and {len(rows) - ROWS} more")] if len(rows) > ROWS else []))


def proven_text(row: ActionRow) -> str:
    """The certain result of an action; the action itself counts as the first of its plies."""
    if row.certain is None:
        return ""
    return str(row.certain)


def stop_reason(result: SearchResult) -> str:
    """Why the search ended; a key of STOPS."""
    return result.stop or ("proven" if result.proven else "simulations")


def report(
    title: str, evaluator: str, options: SearchOptions, result: SearchResult
) -> dict[str, Any]:
    """The whole result with what led to it."""
    game, _, position = title.partition("  ")
    simulations = result.counters["simulations"]
    per_second = round(simulations / result.seconds) if result.seconds > 0 else 0
    return {
        "game": game,
        "position": position,
        "evaluator": evaluator,
        "options": options.to_dict(),
        "simulations_per_second": per_second,
        **result.to_dict(),
        "stop": stop_reason(result),
    }


def check_tree_file(path: Path) -> None:
    """Refuses what could not be written after the search."""
    if path.suffix not in (".json", ".dot"):
        raise UserError(f"--tree '{path}' must end in .json or .dot")
    if not path.parent.is_dir():
        raise UserError(f"--tree '{path}': there is no folder '{path.parent}'")


def write_tree(search: LiveSearch, result: SearchResult, path: Path) -> None:
    """The tree down to a depth, without rarely visited nodes."""
    found = search.tree(TREE_DEPTH, max(1, result.root_visits // TREE_SHARE))
    text = found.to_json() if path.suffix == ".json" else found.to_graphviz()
    path.write_text(text + "\n")
    print(f"{len(found.nodes)} nodes of the tree are in {path}", file=sys.stderr)
