"""Routes below /api/runs: what the page reads of runs, and what --allow-train lets it do.

Ids come from the list, never from paths. Knows HTTP; the other modules of this room know runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from zermelo.errors import REFUSALS
from zermelo.runs.judging import MOST_SIMULATIONS, Judgement
from zermelo.runs.settings import differing, settings_of
from zermelo.runs.shelf import RunRow
from zermelo.web.messages import Line
from zermelo.web.positions import Played, shape_of
from zermelo.web.refusal import Refusal
from zermelo.web.training import games_view
from zermelo.web.training.control import TrainingControl, TrainingOrder
from zermelo.web.training.library import Library
from zermelo.web.training.panels import panels_for
from zermelo.web.training.run_view import row_to_json

MOST_COMPARED = 6
MOST_POINTS = 1000
SKETCH_ROWS, SKETCH_POINTS = 40, 40  # runs of the list whose loss is sketched
LOSS = "train/training/loss"

Route = Callable[..., Any]
Points = Annotated[int, Query(ge=10, le=MOST_POINTS)]


@contextmanager
def refusing(run: Path | None = None) -> Iterator[None]:
    """What cannot be read or done is told in one sentence, without where the run lies."""
    try:
        yield
    except REFUSALS as error:
        sentence = " ".join(str(error).split())
        raise Refusal(422, sentence.replace(f"{run}{os.sep}", "") if run else sentence) from None


def told(route: Route) -> Route:
    """A stranger's files may hold halves of characters, which no answer can."""

    @wraps(route)
    def answer(*given: Any, **named: Any) -> Any:
        return _whole(route(*given, **named))

    return answer


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(entry) for key, entry in value.items()}
    return [_whole(entry) for entry in value] if isinstance(value, list) else value


def runs_router(library: Library, control: TrainingControl) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/runs")

    def get(path: str) -> Callable[[Route], Route]:
        return lambda route: router.get(path)(told(route))

    @get("")
    def runs() -> dict[str, Any]:
        """Every run, those under way first."""
        rows = library.rows()
        shown = [row_to_json(row) for row in rows]
        for row, found in zip(rows[:SKETCH_ROWS], shown, strict=False):
            found["sketch"] = _sketch(library, row)
        return {"runs": shown, "may_train": control.allowed, "games": control.games()}

    @get("/compare")
    def compare(run: Annotated[list[str], Query()], points: Points = 300) -> dict[str, Any]:
        """The same panels of several runs, and the settings in which they differ."""
        if not 1 <= len(run) <= MOST_COMPARED:
            raise Refusal(422, f"compare 2 to {MOST_COMPARED} runs")
        rows = [library.row(id_) for id_ in dict.fromkeys(run)]
        with refusing():
            settings = [settings_of(row.path) for row in rows]
        return {
            "runs": [row_to_json(row) for row in rows],
            "panels": _overlaid(library, rows, points),
            "settings": [
                {"name": name, "values": values} for name, values in differing(settings).items()
            ],
        }

    @router.post("")
    def start(order: TrainingOrder) -> dict[str, Any]:
        """A new run."""
        with refusing():
            return {"started": control.start(order)}

    @get("/{id_}")
    def run(id_: str) -> dict[str, Any]:
        """All of a run that is not a curve."""
        row = library.row(id_)
        with refusing():
            return library.view(id_).overview(row) | {"may_train": control.allowed}

    @get("/{id_}/panels")
    def panels(id_: str, points: Points = 300) -> dict[str, Any]:
        """Its charts."""
        view = library.view(id_)
        return {"panels": view.panels(points), "reading": view.reading()}

    @get("/{id_}/settings")
    def settings(id_: str) -> dict[str, Any]:
        """Its configuration."""
        view = library.view(id_)
        with refusing(view.path):
            return view.settings()

    @get("/{id_}/findings")
    def findings(id_: str) -> dict[str, Any]:
        """What the doctor's quick checks say."""
        return {"doctor": library.view(id_).findings()}

    @get("/{id_}/doctor")
    def doctor(id_: str) -> dict[str, Any]:
        """A thorough examination; takes seconds."""
        view = library.view(id_)
        with library.slowly():
            return {"doctor": view.findings(deep=True)}

    @get("/{id_}/games")
    def games(id_: str, before: Annotated[int | None, Query(ge=0)] = None) -> dict[str, Any]:
        """Self-play games, the newest first."""
        view = library.view(id_)
        with refusing(view.path):
            return games_view.listed_games(view, before)

    @get("/{id_}/games/{shard}/{number}")
    def one_game(id_: str, shard: str, number: int) -> dict[str, Any]:
        """Every position of one."""
        view = library.view(id_)
        with refusing(view.path):
            return games_view.whole_game(view, shard, number)

    @get("/{id_}/checkpoints")
    def checkpoints(id_: str) -> dict[str, Any]:
        """Those that can judge a position, and positions worth watching."""
        view = library.view(id_)
        with refusing(), library.slowly():
            game = view.game
            return {
                "checkpoints": view.judges.iterations(),
                "shape": shape_of(game).model_dump(),
                "tactics": games_view.tactics(view),
                "most_simulations": MOST_SIMULATIONS,
            }

    @get("/{id_}/position")
    def position(id_: str, moves: Annotated[str, Query(max_length=8000)] = "") -> dict[str, Any]:
        """A position by the moves that lead there, to be drawn and played on."""
        with refusing():
            game = library.view(id_).game
            played = Played(game, _line(moves))
            return games_view.position(game, played.state) | {"moves": played.texts()}

    @get("/{id_}/judge")
    def judge(
        id_: str,
        checkpoint: Annotated[int, Query(ge=0, le=10**9)],
        moves: Annotated[str, Query(max_length=8000)] = "",
        simulations: Annotated[int, Query(ge=0, le=MOST_SIMULATIONS)] = 0,
    ) -> dict[str, Any]:
        """What one checkpoint says of it."""
        with refusing(), library.slowly():
            view = library.view(id_)
            state = Played(view.game, _line(moves)).state
            (found,) = view.judges.judge(state, [checkpoint], simulations)
        if not isinstance(found, Judgement):
            raise Refusal(404, found)
        return games_view.judged(view.game, state, found)

    @get("/{id_}/report")
    def report(id_: str) -> Response:
        """The run as one file to share."""
        from zermelo.web.training.report import report_page

        row = library.row(id_)
        with refusing(), library.slowly():
            text = report_page(row.path)
        headers = {"content-disposition": f'attachment; filename="{id_}.html"'}
        return Response(text, media_type="text/html", headers=headers)

    @router.post("/{id_}/stop")
    def stop(id_: str) -> dict[str, Any]:
        """Ends the training under way, as Ctrl-C does."""
        with refusing():
            control.stop(library.row(id_))
        return {"stopped": id_}

    @router.post("/{id_}/continue")
    def go_on(id_: str) -> dict[str, Any]:
        """Goes on with a run that stopped."""
        with refusing():
            control.go_on(library.row(id_))
        return {"started": id_}

    return router


def _line(moves: str) -> Line:
    try:
        return Line(game="run", moves=[move for move in moves.split(",") if move])
    except ValueError:
        raise Refusal(422, "these are too many moves, or one of them is no move") from None


def _sketch(library: Library, row: RunRow) -> list[float]:
    """Its loss in a few points."""
    view = library.view(row.id)
    with view.lock:
        view.look(0.01)
        found = view.figures.points(LOSS, SKETCH_POINTS)
    return found["mean"] if found else []


def _overlaid(library: Library, rows: list[RunRow], points: int) -> list[dict[str, Any]]:
    """Each panel's first curve, once for every run that has it."""
    views = [library.view(row.id) for row in rows]
    for view in views:
        view.look()
    tags = {tag for view in views for tag in view.figures.series}
    found = []
    for panel in panels_for(sorted(tags)):
        for curve in panel.curves if panel.id in ("exact", "opponents") else panel.curves[:1]:
            curves = [
                view.curve(curve, points) | {"run": row.id, "name": row.name}
                for row, view in zip(rows, views, strict=True)
                if curve.tag in view.figures.series
            ]
            title = curve.name if len(panel.curves) > 1 and panel.section == "Strength" else ""
            found.append(
                {
                    "id": f"{panel.id}-{curve.tag}",
                    "section": panel.section,
                    "title": f"{panel.title}: {title}" if title else panel.title,
                    "note": panel.note,
                    "form": panel.form,
                    "zero": panel.zero,
                    "curves": curves,
                }
            )
    return found
