"""Shows a run: a table that is drawn again and again on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from zermelo.config.duration import duration_text
from zermelo.loop.rising import last_text, spark
from zermelo.runs.status import Status, number
from zermelo.yardsticks.measure import headline

FRAMES_PER_SECOND = 4.0
LINE_EVERY = 10.0  # seconds between plain lines about work under way
STARVING = 0.05  # share of its time that a node may wait for work before the view says so
MOST_NODES = 8  # of a cluster, one line each
MOST_RISING = 4  # figures that are drawn over the iterations
LEAST_BESIDE = 100  # columns of a terminal that has room for a game beside the table

Beside = Callable[[], RenderableType | None]  # what to draw beside the table now


class View(Protocol):
    """What the loop tells a person; called from the loop's thread, often."""

    def watch(self, beside: Beside) -> None:
        """Something to look at while the run goes on; asked as often as it is drawn."""

    def update(self, status: Status) -> None:
        """The state changed."""

    def note(self, text: str) -> None:
        """Something happened that is worth a line."""

    def finished(self, status: Status) -> None:
        """An iteration is done; its figures are in `status.metrics`."""

    def close(self) -> None:
        """Nothing more will come."""


def make_view(stream: TextIO) -> View:
    """For a terminal or a file."""
    console = Console(file=stream, highlight=False)
    return LiveView(console) if console.is_terminal else PlainView(stream)


class PlainView:
    """One line per iteration, and one now and then while it is under way."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self.stream = stream
        self._shown = time.monotonic()

    def watch(self, beside: Beside) -> None:
        """Lines have no room for it."""

    def update(self, status: Status) -> None:
        """See `View`."""
        if time.monotonic() - self._shown >= LINE_EVERY:
            nodes = nodes_text(status.nodes)
            self._print(
                f"{heading(status, status.under_way)}: {status.activity}{nodes}{left(status)}"
            )

    def note(self, text: str) -> None:
        """See `View`."""
        self._print(text)

    def finished(self, status: Status) -> None:
        """See `View`."""
        self._print(f"{heading(status)}: {summary(status.metrics)}{left(status)}")

    def close(self) -> None:
        """See `View`."""

    def _print(self, line: str) -> None:
        self._shown = time.monotonic()
        print(line, file=self.stream, flush=True)


class LiveView:
    """A table with the present state above the lines of finished iterations."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(Text("starting"), console=console, auto_refresh=False, transient=True)
        self.live.start()
        self._drawn = 0.0
        self._beside: Beside = lambda: None

    def watch(self, beside: Beside) -> None:
        """See `View`."""
        self._beside = beside

    def update(self, status: Status) -> None:
        """See `View`."""
        if time.monotonic() - self._drawn >= 1 / FRAMES_PER_SECOND:
            self._drawn = time.monotonic()
            beside = self._beside() if self.console.width >= LEAST_BESIDE else None
            self.live.update(panel(status, beside), refresh=True)

    def note(self, text: str) -> None:
        """See `View`."""
        self.console.print(text, markup=False)

    def finished(self, status: Status) -> None:
        """See `View`."""
        self.console.print(f"{heading(status)}: {summary(status.metrics)}", markup=False)
        self._drawn = 0.0
        self.update(status)

    def close(self) -> None:
        """See `View`."""
        self.live.stop()


def panel(status: Status, beside: RenderableType | None = None) -> Table:
    """The live table, perhaps with something beside it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("run", f"{status.run}  ({status.game})")
    of = f" of {status.iterations}" if status.iterations else ""
    table.add_row("iteration", f"{status.under_way}{of}")
    table.add_row("now", status.activity)
    done, total = (status.step, status.steps) if status.steps else (status.samples, status.target)
    if total:
        table.add_row("", ProgressBar(total=total, completed=min(done, total), width=50))
    table.add_row("self-play", rates_text(status.rates))
    for node in status.nodes[:MOST_NODES]:
        table.add_row("node", Text(node_text(node)))
    if len(status.nodes) > MOST_NODES:
        table.add_row("", f"and {len(status.nodes) - MOST_NODES} more nodes")
    if status.dashboard:
        table.add_row("dashboard", Text(status.dashboard))
    table.add_row("games", f"{status.total_games:,}, samples {status.total_samples:,}")
    for name, values in list(status.rising.items())[:MOST_RISING]:
        table.add_row(name, Text(f"{spark(values)} {last_text(values)}"))
    if status.metrics:
        table.add_row("last iteration", losses_text(status.metrics))
        table.add_row("health", Text(status.health))  # may name a [section]
    memory = f"{status.memory / 2**20:,.0f} MiB in {1 + status.workers} processes"
    table.add_row("memory", memory)
    remaining = status.seconds_left
    until = "" if remaining is None else f", about {duration_text(remaining)} left"
    table.add_row("time", f"{duration_text(status.elapsed)}{until}")
    whole = Table.grid(padding=(0, 4))
    whole.add_row(table, *([] if beside is None else [beside]))
    return whole


def heading(status: Status, iteration: int | None = None) -> str:
    """Which iteration, for a line; the one that was finished last unless told."""
    of = f"/{status.iterations}" if status.iterations else ""
    return f"iteration {status.iteration if iteration is None else iteration}{of}"


def left(status: Status) -> str:
    """The time left, as the end of a line."""
    seconds = status.seconds_left
    return "" if seconds is None else f", {duration_text(seconds)} left"


def rates_text(rates: dict[str, float]) -> str:
    """Per second."""
    if not rates:
        return "-"
    names = ("samples", "games", "simulations", "evaluations")
    shown = [f"{rates[name]:,.{0 if rates[name] >= 10 else 1}f} {name}" for name in names]
    return ", ".join(shown) + " per second"


def nodes_text(nodes: list[dict[str, Any]]) -> str:
    """All machines of a cluster, as the end of a line."""
    if not nodes:
        return ""
    actors = sum(int(node.get("actors", 0)) for node in nodes)
    waiting = sum(float(node.get("idle_share", 0.0)) >= STARVING for node in nodes)
    starving = f", {waiting} of them waiting for work" if waiting else ""
    return f", {actors} actors on {len(nodes)} nodes{starving}"


def node_text(node: dict[str, Any]) -> str:
    """One machine of a cluster; what waits for work has no network batches to fill."""
    idle = float(node.get("idle_share", 0.0))
    starving = f", waiting for work {idle:.0%} of the time" if idle >= STARVING else ""
    rate = float(node.get("samples_per_second", 0.0))
    return f"{node.get('name')}: {node.get('actors')} actors, {rate:,.0f} samples/s{starving}"


def losses_text(metrics: dict[str, Any]) -> str:
    """Losses and accuracy of an iteration."""
    parts = []
    for label, keys in (
        ("loss", ("train", "training", "loss")),
        ("policy", ("train", "training", "policy_loss")),
        ("value", ("train", "training", "value_loss")),
        ("held out", ("train", "held_out", "loss")),
    ):
        value = number(metrics, *keys)
        if value is not None:
            parts.append(f"{label} {value:.3f}")
    accuracy = number(metrics, "train", "training", "policy_accuracy")
    if accuracy is not None:
        parts.append(f"accuracy {accuracy:.1%}")
    return ", ".join(parts)


def summary(metrics: dict[str, Any]) -> str:
    """One line about a finished iteration."""
    games, samples = number(metrics, "selfplay", "games"), number(metrics, "selfplay", "samples")
    rate = number(metrics, "selfplay", "simulations_per_second")
    window = number(metrics, "window", "samples")
    parts = [losses_text(metrics)]
    if games is not None and samples is not None:
        parts.append(f"{games:,.0f} games, {samples:,.0f} samples")
    if rate is not None:
        parts.append(f"{rate:,.0f} simulations/s")
    if window is not None:
        parts.append(f"window {window:,.0f}")
    evaluation = metrics.get("evaluate")
    if isinstance(evaluation, dict):
        parts.append(headline(evaluation))
    return ", ".join(part for part in parts if part)
