"""The table of `zermelo bench all` as an SVG: a bar for each figure, on a logarithmic scale."""

from __future__ import annotations

import math
from html import escape
from itertools import groupby
from typing import Any

LABEL, BARS, FIGURES = 210, 430, 110  # widths in pixels: of names, of the longest bar, of numbers
LINE, HEAD = 17, 34  # heights of a bar's line and of a group's title
INK, SOFT = "#23252b", "#6b6f78"
COLOURS = {"reference": "#b4553d", "one board": "#c99a2e", "many boards": "#2f7d4f"}


def picture(rows: list[dict[str, Any]]) -> str:
    """The text of the file. Bars grow by the same length for each factor of ten."""
    rates = [row["simulations_per_second"] for row in rows]
    low = 10 ** math.floor(math.log10(max(1, min(rates))))
    scale = BARS / max(1e-9, math.log10(max(1, *rates) / low))
    parts, y = [], 24
    for (game, network), group in groupby(rows, key=lambda row: (row["game"], row["network"])):
        y += HEAD
        parts.append(_text(0, y - 8, f"{game}, network: {network}", INK, 'font-weight="600"'))
        for row in group:
            y += LINE
            boards, threads = row["boards"], row["threads"]
            name = row["way"] + (f", {boards}" if row["way"] == "many boards" else "")
            name += f", {threads} thread{'s' if threads > 1 else ''}"
            rate = row["simulations_per_second"]
            width = max(1.0, scale * math.log10(max(1, rate) / low))
            parts.append(_text(LABEL - 8, y - 4, name, SOFT, 'text-anchor="end"'))
            parts.append(
                f'<rect x="{LABEL}" y="{y - LINE + 3}" width="{width:.1f}" height="{LINE - 4}" '
                f'rx="2" fill="{COLOURS[row["way"]]}"/>'
            )
            parts.append(_text(LABEL + width + 6, y - 4, f"{rate:,}", INK))
    width, height = LABEL + BARS + FIGURES, y + 16
    title = "Simulations per second; each factor of ten is as long"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 0 {width + 24} {height}" '
        'font-family="system-ui, Liberation Sans, Arial, sans-serif" font-size="12">\n'
        f'<rect x="-12" width="100%" height="100%" fill="#f6f4ef"/>\n'
        + "\n".join([_text(0, 22, title, SOFT), *parts])
        + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}" {more}>{escape(text)}</text>'
