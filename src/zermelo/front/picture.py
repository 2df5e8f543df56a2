"""A position as a picture that notebooks show. Knows no rules: `games` draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zermelo.games import game as find_game
from zermelo.games.protocol import Game, State
from zermelo.games.render import svg_board


@dataclass(frozen=True)
class Picture:
    """An SVG text; a notebook shows it, `save` writes it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture, {len(self.svg):,} characters of SVG>"

    def save(self, path: str | Path) -> None:
        """As a file that browsers show."""
        Path(path).write_text(self.svg, encoding="utf-8")


def draw(
    game: Game | str,
    state: State | None = None,
    marks: Mapping[int, float] | None = None,
    size: int = 400,
) -> Picture:
    """The position, the first one if none is given, `size` pixels wide.

    `marks` are shares (0 to 1) of actions to be marked on the board; the largest stands out.
    """
    rules = find_game(game)
    shown = rules.initial() if state is None else state
    shares = dict(marks or {})
    best = max(shares, key=shares.__getitem__) if shares else None
    return Picture(svg_board(rules, shown, arrows=shares.items(), size=size, best=best))
