"""How good a new checkpoint is, and whether the run is well: metrics, yardsticks, quick checks.

Yardsticks write a line of metrics of their own, after the iteration's; readers see one object. So
they may end later: with `evaluate.meanwhile` they run in a thread of their own while the next
iteration goes on. Does not know what the yardsticks are, or that anything is trained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import TYPE_CHECKING, Any

from zermelo.doctor.diagnose import diagnose, ill, one_line
from zermelo.errors import UserError
from zermelo.runs.status import EVALUATING
from zermelo.train.metrics import LATE, read_metrics

if TYPE_CHECKING:
    from zermelo.checkpoint import Checkpoint
    from zermelo.loop.report import Report
    from zermelo.runs.directory import Run

# Figures of a checkpoint by name; `notes`, if there are any, are sentences for the person and log.
Evaluate = Callable[["Checkpoint", "Run"], dict[str, Any]]
Record = Callable[[int, Mapping[str, Any]], None]  # writes a line of metrics


class Measurer:
    """Applies yardsticks to checkpoints as often as the run's options say, one after the other.

    All methods are for the loop's thread. Leaving a `with` waits for yardsticks that are under way.
    """

    def __init__(
        self, run: Run, yardsticks: Sequence[Evaluate], record: Record, report: Report
    ) -> None:
        self._run = run
        self._yardsticks = yardsticks
        self._record = record
        self._report = report
        self._first_ill = ""  # check that was ill at the last look
        self._thread = ThreadPoolExecutor(1, "yardsticks")
        self._late: tuple[int, Future[dict[str, Any]]] | None = None  # iteration, its figures

    def measure(self, checkpoint: Checkpoint, last: bool = False) -> None:
        """The new checkpoint's line of metrics, its yardsticks, and the run's health.

        The `last` one of a run with a time is measured whatever its number.
        """
        self._record(checkpoint.iteration, checkpoint.manifest.metrics)
        self._apply(checkpoint, last)
        self.examine()

    def catch_up(self, checkpoint: Checkpoint) -> None:
        """The same for a run that goes on, as far as the process before did not come to it."""
        iteration = checkpoint.iteration
        found = {entry["iteration"]: entry for entry in read_metrics(self._run.metrics)}
        if iteration and iteration not in found:
            self._record(iteration, checkpoint.manifest.metrics)
        if iteration and LATE not in found.get(iteration, {}):
            self._apply(checkpoint)
        self.examine()

    def _apply(self, checkpoint: Checkpoint, last: bool = False) -> None:
        """Yardsticks, if it is their turn, and their line."""
        if not self._is_due(checkpoint.iteration, last):
            return
        if self._run.config.evaluate.meanwhile:
            self._finish()
            self._late = checkpoint.iteration, self._thread.submit(self._figures, checkpoint)
            return
        self._report.stage(EVALUATING)
        self._keep(checkpoint.iteration, self._figures(checkpoint))

    def _figures(self, checkpoint: Checkpoint) -> dict[str, Any]:
        """Of all yardsticks, with their notes; perhaps in the other thread."""
        found: dict[str, Any] = {"notes": []}
        for yardstick in self._yardsticks:
            figures = yardstick(checkpoint, self._run)
            notes = [*found["notes"], *figures.get("notes", ())]
            found |= figures | {"notes": notes}
        return found

    def _keep(self, iteration: int, found: dict[str, Any], late: bool = False) -> None:
        for sentence in found.pop("notes"):
            self._report.note(sentence)
        self._record(iteration, {LATE: found})
        self._report.measured(iteration, found, late)

    # ---- while something else goes on -----------------------------------------------------------

    def take_in(self) -> None:
        """Keeps what was measured meanwhile, if it is there; called often."""
        if self._late is None or not self._late[1].done():
            return
        iteration, figures = self._late
        self._late = None
        self._keep(iteration, figures.result(), late=True)

    def _finish(self) -> None:
        """Waits for what is measured meanwhile."""
        while self._late is not None:
            self._report.stage(EVALUATING)
            wait([self._late[1]], 0.1)
            self.take_in()

    def __enter__(self) -> Measurer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._thread.shutdown(wait=kind is None or issubclass(kind, Exception))

    # ---- the run's health -----------------------------------------------------------------------

    def examine(self) -> None:
        """The health in the view, and a note when another check than before is the first ill one.

        The quick checks read the run file anew, which a person may have edited: what stops them
        does not stop the run.
        """
        first = ""
        try:
            found = diagnose(self._run.path, deep=False)
            health = one_line(found)
            first = next((finding.check for finding in ill(found)), "")
        except UserError as error:
            health = f"unknown: {error}"
        except Exception as error:
            health = f"unknown: {type(error).__name__}: {error}"
        self._report.examined(health)
        if first and first != self._first_ill:
            self._report.note(f"health: {health}; zermelo doctor {self._run.path}")
        self._first_ill = first

    def _is_due(self, iteration: int, last: bool) -> bool:
        every = self._run.config.evaluate.every
        return bool(self._yardsticks and every and (last or iteration % every == 0))
