"""One run as the page shows it, kept between looks so that each is quick.

Owns what was read of the run so far. All answers are plain values for JSON; texts of the run are
texts, to be shown as such. Threads: any, one at a time; a lock sees to that.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from zermelo.checkpoint.manifest import plain
from zermelo.config.sections import rows_of, section_kinds
from zermelo.doctor.diagnose import diagnose
from zermelo.errors import UserError
from zermelo.files import open_plain
from zermelo.games.protocol import Game
from zermelo.runs.directory import Run
from zermelo.runs.figures import Figures
from zermelo.runs.judging import CheckpointJudges
from zermelo.runs.settings import settings_of
from zermelo.runs.shelf import RunRow
from zermelo.runs.status import Status
from zermelo.runs.trust import refuse_strange_game
from zermelo.web.training.panels import Curve, panels_for
from zermelo.yardsticks.ladder import FOLDER
from zermelo.yardsticks.ladder_file import Ladder
from zermelo.yardsticks.measure import headline

FIRST_LOOK = 0.8  # seconds that the first look at the figures may take
LATER_LOOK = 0.1
LONG = 2000  # lines of metrics that take the doctor a while
LONG_KEPT = 60.0  # seconds that his findings are kept then
LOG_BYTES = 16 << 10  # of the log's end
LOG_LINES = 60


class Examined(NamedTuple):
    """What the doctor said."""

    lines: int  # of metrics that there were
    at: float  # by the monotonic clock
    findings: list[dict[str, Any]]


class RunView:
    """What is known of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        self.figures = Figures(path / "metrics")
        self._looked = False
        self._examined: Examined | None = None
        self._ladder: tuple[Any, list[dict[str, Any]]] | None = None  # version of the file, rungs
        self._game: Game | None = None
        self._judges: CheckpointJudges | None = None

    @property
    def game(self) -> Game:
        """The rules; a UserError if the run's options cannot be read, or name a stranger's file."""
        with self.lock:
            if self._game is None:
                run = Run.open(self.path)
                refuse_strange_game(self.path, run.config)
                self._game = run.config.game()
            return self._game

    @property
    def judges(self) -> CheckpointJudges:
        """Its checkpoints."""
        with self.lock:
            if self._judges is None:
                self._judges = CheckpointJudges(self.path, self.game)
            return self._judges

    def look(self, seconds: float | None = None) -> None:
        """Reads on in the metrics."""
        with self.lock:
            usual = LATER_LOOK if self._looked else FIRST_LOOK
            self.figures.look(usual if seconds is None else seconds)
            self._looked = True

    # ---- what the page asks for -----------------------------------------------------------------

    def overview(self, row: RunRow) -> dict[str, Any]:
        """All that is not a curve."""
        with self.lock:
            self.look()
            return {
                "run": row_to_json(row),
                "status": status_to_json(row.status),
                "reading": self.reading(),
                "last": plain(self.figures.last),
                "headline": headline(self.evaluated_numbers()),
                "headline_iteration": self.figures.evaluated.get("iteration"),
                "ladder": self.ladder(),
                "log": log_tail(self.path / "log.txt"),
                "odd_lines": self.figures.odd,
            }

    def evaluated_numbers(self) -> dict[str, float]:
        """Those of the newest yardsticks that can be told in a line."""
        figures = self.figures.evaluated
        found = {
            name: float(value) for name, value in figures.items() if type(value) in (int, float)
        }
        needs = {"perfect.wins": "perfect.games", "ladder.elo": "ladder.margin"}
        needs |= {"ladder.gain": "ladder.gain_margin"}
        return {name: value for name, value in found.items() if needs.get(name, name) in found}

    def reading(self) -> dict[str, int]:
        """How much of the metrics was read, in bytes; `lines` changes with every news."""
        figures = self.figures
        return {"unread": figures.unread, "lines": figures.lines, "iteration": figures.iteration}

    def panels(self, points: int) -> list[dict[str, Any]]:
        """The charts, each curve with at most so many points."""
        with self.lock:
            self.look()
            return [
                {
                    "id": panel.id,
                    "section": panel.section,
                    "title": panel.title,
                    "note": panel.note,
                    "form": panel.form,
                    "zero": panel.zero,
                    "curves": [self.curve(curve, points) for curve in panel.curves],
                }
                for panel in panels_for(self.figures.series)
            ]

    def curve(self, curve: Curve, points: int) -> dict[str, Any]:
        """`x`, `mean`, `low` and `high`; an interval's ends are the low and the high."""
        found: dict[str, Any] = self.figures.points(curve.tag, points) or {}
        margin = self.figures.points(curve.margin, points) if curve.margin else None
        if margin and margin["x"] == found["x"]:
            pairs = list(zip(found["mean"], margin["mean"], strict=True))
            found["low"] = [value - half for value, half in pairs]
            found["high"] = [value + half for value, half in pairs]
        return {"name": curve.name, "interval": bool(margin), **found}

    def ladder(self) -> list[dict[str, Any]]:
        """Each rated checkpoint's place as the games so far have it; [] without a ladder."""
        file = self.path / FOLDER / "meetings.jsonl"
        try:
            version = (file.stat().st_mtime_ns, file.stat().st_size)
        except OSError:
            return []
        if self._ladder is None or self._ladder[0] != version:
            try:
                rungs = Ladder(file.parent, read_only=True).rungs()
            except (UserError, OSError):
                rungs = {}
            rows = [
                {
                    "checkpoint": int(name) if name.isdecimal() else None,
                    "name": name,
                    "elo": rung.elo,
                    "margin": rung.margin,
                    "games": rung.games,
                    "score": rung.score,
                    "gain": rung.gain[0] if rung.gain else None,
                    "gain_margin": rung.gain[1] if rung.gain else None,
                }
                for name, rung in rungs.items()
            ]
            self._ladder = version, plain(rows)
        return self._ladder[1]

    def findings(self, deep: bool = False) -> list[dict[str, Any]]:
        """What the doctor says, quickly or thoroughly; kept until there are new metrics.

        He reads the metrics anew, so that of a long run they are kept for a while longer. The lock
        is free meanwhile.
        """
        lines, known = self.figures.lines, self._examined
        if not deep and known is not None:
            fresh = time.monotonic() - known.at < LONG_KEPT and lines > LONG
            if known.lines == lines or fresh:
                return known.findings
        found = examined(self.path, deep)
        self._examined = Examined(lines, time.monotonic(), found)
        return found

    def settings(self) -> dict[str, Any]:
        """Every option by section: its value, what it means, and whether it is the usual one."""
        known = {
            (section, row["name"]): row for section in section_kinds() for row in rows_of(section)
        }
        sections: dict[str, list[dict[str, Any]]] = {}
        for name, value in settings_of(self.path).items():
            section, _, key = name.partition(".")
            row = known.get((section, key), {})
            changed = section != "game" and value != row.get("default")
            sections.setdefault(section, []).append(
                {"key": key, "value": value, "meaning": row.get("doc", ""), "changed": changed}
            )
        return {"sections": [{"name": name, "rows": rows} for name, rows in sections.items()]}


def examined(path: Path, deep: bool) -> list[dict[str, Any]]:
    """The doctor's findings; a run that he cannot read is one finding."""
    try:
        return [finding.to_dict() for finding in diagnose(path, deep=deep)]
    except UserError as error:
        reason = str(error)
    except Exception as error:  # a file that somebody edited must not take the page down
        reason = f"the run cannot be examined: {type(error).__name__}: {error}"
    unknown = {"check": "run", "verdict": "unknown", "figure": None, "sentence": reason}
    return [unknown | {"advice": "", "figures": {}}]


def row_to_json(row: RunRow) -> dict[str, Any]:
    """A row of the list; where it lies is the server's affair but for the name."""
    found = {
        name: getattr(row, name)
        for name in (
            "id", "name", "error", "game", "made", "version", "iteration", "iterations", "loss",
            "elo", "elo_margin", "seconds", "changed", "alive",
        )
    }  # fmt: skip
    found["doing"] = row.status.activity if row.status and row.alive else None
    found["health"] = row.status.health if row.status else ""
    found["ended"] = row.status.ended if row.status and not row.alive else ""
    return dict(plain(found))


def status_to_json(status: Status | None) -> dict[str, Any] | None:
    """What a process does, or did last."""
    if status is None:
        return None
    return status.to_json() | {"alive": status.alive, "activity": status.activity, "run": ""}


def log_tail(file: Path) -> list[str]:
    """The newest lines, oldest first."""
    try:
        with open_plain(file) as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - LOG_BYTES))
            lines = opened.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    return lines[-LOG_LINES:] if size <= LOG_BYTES else lines[1:][-LOG_LINES:]
