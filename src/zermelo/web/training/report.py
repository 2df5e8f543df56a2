"""`zermelo report`: a run as one HTML file that needs nothing else and asks nobody.

Charts are drawn by the page's own script, which is put into the file; boards are pictures; whatever
comes from the run is escaped. Needs no packages of the page. Reads the run, which may be under way.
"""

from __future__ import annotations

import json
import time
from html import escape
from pathlib import Path
from typing import Any

import zermelo
from zermelo.config.duration import duration_text
from zermelo.errors import UserError
from zermelo.options import value_text
from zermelo.runs.shelf import RunRow, Shelf
from zermelo.web.training.report_games import games_html, tactics_html
from zermelo.web.training.run_view import RunView
from zermelo.yardsticks.measure import headline

STATIC = Path(__file__).parents[1] / "static"
STYLES = ("style/tokens.css", "style/parts.css", "style/training.css", "style/report.css")
SCRIPTS = ("dom.js", "training/numbers.js", "training/chart.js", "training/report.js")
# Nothing may be loaded, whatever a run's texts say.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
POINTS = 240
PATIENCE = 60.0  # seconds of reading, in which metrics of any size are read


def report_page(run: Path) -> str:
    """The file's text; a UserError if that is no run."""
    (row,) = Shelf([run]).rows() or (None,)
    if row is None:
        raise UserError(f"'{run}' is not a run: it has no run.toml")
    if row.error:
        raise UserError(row.error)
    view = RunView(row.path)
    view.look(PATIENCE)
    panels = view.panels(POINTS)
    sections = [
        _summary(row, view),
        *_charts(panels),
        _ladder(view),
        _doctor(view),
        tactics_html(view),
        games_html(view),
        _settings(view),
    ]
    data = json.dumps({"panels": panels}, allow_nan=False).replace("<", "\\u003c")
    return PAGE.format(
        title=escape(row.name),
        policy=escape(POLICY),
        style="\n".join((STATIC / name).read_text("utf-8") for name in STYLES),
        body="\n".join(part for part in sections if part),
        data=data,
        script="\n".join(_plain_script(STATIC / name) for name in SCRIPTS),
        made=escape(f"zermelo {zermelo.__version__}, {time.strftime('%Y-%m-%d %H:%M')}"),
    )


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title} · Zermelo</title>
<style>
{style}
</style>
</head>
<body class="report">
<main class="training stack">
{body}
</main>
<footer class="faint">Made by {made}. This file needs nothing else.</footer>
<script type="application/json" id="data">{data}</script>
<script type="module">
{script}
</script>
</body>
</html>
"""


def _plain_script(file: Path) -> str:
    """A module as a part of one script: what it imports stands above it."""
    lines = file.read_text("utf-8").splitlines()
    kept = [line for line in lines if not (line.startswith("import ") and line.endswith('";'))]
    return "\n".join(line.removeprefix("export ") for line in kept)


def _summary(row: RunRow, view: RunView) -> str:
    last = view.figures.last
    games = view.figures.series.get("selfplay/games")
    played = ""
    if games is not None:
        points = games.points(10**9)
        played = f"{sum(points['mean']):,.0f}" if games.count == len(points["x"]) else ""
    of = f" of {row.iterations}" if row.iterations else ""
    facts = {
        "game": row.game,
        "iterations": f"{row.iteration}{of}",
        "games played": played,
        "time": duration_text(row.seconds) if row.seconds is not None else "",
        "network": _network(view),
        "made": f"{row.made or ''} by zermelo {row.version or ''}",
        "loss": f"{row.loss:.3f}" if row.loss is not None else "",
    }
    told = headline(view.evaluated_numbers())
    told = told[:1].upper() + told[1:]
    shown = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in facts.items()
        if value
    )
    state = (
        "learning"
        if row.alive
        else ("finished" if row.iteration >= (row.iterations or 1) else "stopped")
    )
    lead = f'<p class="lead">{escape(told)}.</p>' if told else ""
    none = "" if last else '<p class="notice">No iteration is finished yet.</p>'
    return (
        '<header class="report-head"><p class="faint">A run of Zermelo</p>'
        f"<h1>{escape(row.name)}</h1>"
        f'<span class="tag">{state}</span>{lead}<dl class="facts">{shown}</dl>{none}</header>'
    )


def _network(view: RunView) -> str:
    values = {
        f"{s['name']}.{r['key']}": r["value"]
        for s in view.settings()["sections"]
        for r in s["rows"]
    }
    if values.get("network.kind") == "sparse":
        return f"sparse, {values.get('network.hidden')} units"
    return f"{values.get('network.blocks')} blocks of {values.get('network.filters')} filters"


def _charts(panels: list[dict[str, Any]]) -> list[str]:
    """A place for each chart, which the script fills; without scripts it has the last figures."""
    found = []
    for section in dict.fromkeys(panel["section"] for panel in panels):
        places = "".join(
            f'<div class="chart-place" data-panel="{escape(panel["id"])}">'
            f"<noscript>{_figures(panel)}</noscript></div>"
            for panel in panels
            if panel["section"] == section
        )
        found.append(
            f"<section><h2>{escape(section)}</h2>"
            f'<div class="chart-grid-of">{places}</div></section>'
        )
    return found


def _figures(panel: dict[str, Any]) -> str:
    curves = (curve for curve in panel["curves"] if curve["mean"])
    last = ", ".join(f"{escape(curve['name'])} {curve['mean'][-1]:.4g}" for curve in curves)
    return f"<p><strong>{escape(panel['title'])}</strong>: {last}</p>"


def _ladder(view: RunView) -> str:
    rungs = view.ladder()
    if not rungs:
        return ""

    def interval(value: float | None, margin: float | None) -> str:
        return "–" if value is None else f"{value:+.0f} ± {margin or 0:.0f}"

    rows = "".join(
        f"<tr><td>{escape(rung['name'])}</td><td>{interval(rung['elo'], rung['margin'])}</td>"
        f"<td>{interval(rung['gain'], rung['gain_margin'])}</td><td>{rung['score']:.0%}</td>"
        f"<td>{rung['games']}</td></tr>"
        for rung in reversed(rungs)
    )
    heads = "".join(f"<th>{name}</th>" for name in ("checkpoint", "Elo", "gain", "score", "games"))
    return (
        '<section><h2>Ladder</h2><div class="sheet scroll"><table class="figures"><thead><tr>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _doctor(view: RunView) -> str:
    tags = {"healthy": "good", "ill": "bad", "unknown": ""}
    rows = "".join(
        f'<tr><td><span class="tag {tags.get(finding["verdict"], "")}">{escape(finding["verdict"])}'
        f"</span></td><th>{escape(finding['check'])}</th>"
        f"<td>{escape(finding['sentence'])} {escape(finding['advice'])}</td></tr>"
        for finding in sorted(
            view.findings(), key=lambda f: ("ill", "healthy", "unknown").index(f["verdict"])
        )
    )
    return (
        '<section><h2>Doctor</h2><div class="sheet scroll"><table class="options"><tbody>'
        f"{rows}</tbody></table></div></section>"
    )


def _settings(view: RunView) -> str:
    found = []
    for section in view.settings()["sections"]:
        rows = "".join(
            f'<tr class="{"" if row["changed"] else "faint"}">'
            f"<th><code>{escape(row['key'])}</code></th>"
            f'<td class="number">{escape(value_text(row["value"]))}</td>'
            f'<td class="faint">{escape(row["meaning"])}</td></tr>'
            for row in section["rows"]
        )
        changed = sum(row["changed"] for row in section["rows"])
        note = f"{changed} changed" if changed else "as usual"
        found.append(
            f'<details class="sheet"><summary><code>[{escape(section["name"])}]</code> '
            f'<span class="faint">{note}</span></summary>'
            f'<table class="options"><tbody>{rows}</tbody></table></details>'
        )
    return f'<section class="stack"><h2>Settings</h2>{"".join(found)}</section>'
