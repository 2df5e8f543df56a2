"""Positions as stand-alone SVG pictures. Draws boards, knows no rules.

A cell is 100 units wide. `arrows` are (action, weight) with weights from 0 to 1: actions that go
from cell to cell become arrows, those that fill a cell translucent discs with the weight in per
cent, and those that do neither (a pass) are listed below the board. The action `best` has a colour
of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from zermelo.games.board import Board, action_cells, board_of
from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, State

_CELL = 100.0
_HINT = "#1f8a3b"
_BEST = "#1b5fd0"
_THEMES = {  # board, lines, first player's pieces, second player's
    "connect4": ("#1f5fbf", "#174a96", "#e5402b", "#f7d038"),
    "othello": ("#2f8f57", "#1f6b3f", "#111111", "#f5f5f0"),
    "checkers": ("#a9744f", "#8a5a3b", "#2b2b2b", "#f3ead8"),
    "hex": ("#f4f0e6", "#8d8779", "#d1432f", "#2f64c0"),
    "tictactoe": ("#ffffff", "#444444", "#c8382b", "#2a5fb4"),
    "": ("#f4f0e6", "#8d8779", "#d1432f", "#2f64c0"),
}


@dataclass(frozen=True)
class _Mark:
    """An action on the board."""

    cells: tuple[int, ...]
    share: float  # 0 to 1
    colour: str


def svg_board(
    game: Game,
    state: State,
    arrows: Iterable[tuple[int, float]] = (),
    size: int = 400,
    best: int | None = None,
) -> str:
    """A picture `size` pixels wide."""
    board = board_of(game, state)
    if board is None:
        return _text_picture(str(state), size)
    placed: list[_Mark] = []
    loose: list[str] = []
    for action, weight in arrows:
        share = min(1.0, max(0.0, weight))
        cells = action_cells(game, state, action)
        if cells:
            placed.append(_Mark(cells, share, _BEST if action == best else _HINT))
        else:
            loose.append(f"{action_text(game, state, action)} {share:.0%}")
    if board.kind == "chess":
        return _chess_picture(board, placed, size)
    picture = _Picture(board)
    picture.draw_board()
    for mark in _weakest_first(placed):
        if len(mark.cells) == 1:
            picture.draw_hint(mark)
        else:
            picture.draw_arrow(mark)
    return picture.finish(size, ", ".join(loose))


def _weakest_first(marks: Iterable[_Mark]) -> list[_Mark]:
    """As they are drawn: the best lies on top of all."""
    return sorted(marks, key=lambda mark: (mark.colour == _BEST, mark.share))


def _chess_picture(board: Board, placed: Sequence[_Mark], size: int) -> str:
    import chess
    import chess.svg

    position = chess.BaseBoard.empty()
    for cell, letter in enumerate(board.cells):
        if letter != ".":
            position.set_piece_at(chess.square_mirror(cell), chess.Piece.from_symbol(letter))
    arrows = [
        chess.svg.Arrow(
            chess.square_mirror(mark.cells[0]),
            chess.square_mirror(mark.cells[-1]),
            color=f"{mark.colour}{round(60 + 195 * mark.share):02x}",
        )
        for mark in _weakest_first(placed)
    ]
    return str(chess.svg.board(position, arrows=arrows, size=size))


def _text_picture(text: str, size: int) -> str:
    lines = text.splitlines() or [""]
    width = 24 + 10 * max(len(line) for line in lines)
    height = 24 + 22 * len(lines)
    rows = "".join(
        f'<text x="12" y="{28 + 22 * i}" xml:space="preserve">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{size}" '
        f'font-family="monospace" font-size="16"><rect width="100%" height="100%" fill="white"/>'
        f"{rows}</svg>"
    )


class _Picture:
    """Shapes of one board, in the order in which they are drawn."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.ground, self.line, *self.players = _THEMES.get(board.kind, _THEMES[""])
        self.shapes: list[str] = []
        hexagons = board.kind == "hex"
        slant = (board.rows - 1) / 2 if hexagons else 0.0
        self.margin = 85.0 if hexagons else 60.0  # hexagons have their edges coloured
        self.row_height = _CELL * math.sqrt(3) / 2 if hexagons else _CELL
        self.width = 2 * self.margin + _CELL * (board.columns + slant)
        self.height = 2 * self.margin + self.row_height * board.rows

    def centre(self, cell: int) -> tuple[float, float]:
        row, column = divmod(cell, self.board.columns)
        slant = row / 2 if self.board.kind == "hex" else 0.0
        x = self.margin + _CELL * (column + slant + 0.5)
        return x, self.margin + self.row_height * (row + 0.5)

    def add(self, tag: str, /, **attributes: object) -> None:
        def show(value: object) -> str:
            return f"{value:.4g}" if isinstance(value, float) else escape(str(value))

        text = "".join(f' {k.replace("_", "-")}="{show(v)}"' for k, v in attributes.items())
        self.shapes.append(f"<{tag}{text}/>")

    def label(self, text: str, x: float, y: float, height: float, fill: str) -> None:
        if text:
            place = f'x="{x:.4g}" y="{y + 0.35 * height:.4g}" font-size="{height:.4g}"'
            self.shapes.append(f'<text {place} fill="{fill}">{escape(text)}</text>')

    def draw_board(self) -> None:
        board = self.board
        if board.kind == "hex":
            self.draw_edges()
        for cell in range(len(board.cells)):
            self.draw_cell(cell)
        off, above = (105.0, 45.0) if board.kind == "hex" else (80.0, 0.0)  # from a cell's centre
        for row, (left, right) in enumerate(zip(board.left, board.right, strict=True)):
            x, y = self.centre(row * board.columns)
            self.label(left, x - off, y, 32, "#555555")
            self.label(right, x + (board.columns - 1) * _CELL + off, y, 32, "#555555")
        for column, name in enumerate(board.names):
            top = board.kind == "hex"
            x, _ = self.centre(column if top else (board.rows - 1) * board.columns + column)
            y = self.margin - above if top else self.height - 0.5 * self.margin
            self.label(name, x, y, 32, "#555555")

    def draw_edges(self) -> None:
        """Hex: top and bottom in the first player's colour, left and right in the second's."""
        last = len(self.board.cells) - 1
        right, bottom = self.board.columns - 1, last - self.board.columns + 1
        reach = 0.62 * _CELL
        side = (reach * math.sqrt(3) / 2, reach / 2)  # at a right angle to the slanted edges
        for player, start, end, dx, dy in (
            (0, 0, right, 0.0, -reach),
            (0, bottom, last, 0.0, reach),
            (1, 0, bottom, -side[0], side[1]),
            (1, right, last, side[0], -side[1]),
        ):
            (x1, y1), (x2, y2) = self.centre(start), self.centre(end)
            self.add(
                "line",
                x1=x1 + dx,
                y1=y1 + dy,
                x2=x2 + dx,
                y2=y2 + dy,
                stroke=self.players[player],
                stroke_width=14,
                stroke_linecap="round",
            )

    def draw_cell(self, cell: int) -> None:
        board = self.board
        x, y = self.centre(cell)
        row, column = divmod(cell, board.columns)
        letter, owner = board.cells[cell], board.owner(cell)
        if board.kind == "hex":
            corners = " ".join(
                f"{x + _CELL / math.sqrt(3) * math.sin(k * math.pi / 3):.4g},"
                f"{y + _CELL / math.sqrt(3) * math.cos(k * math.pi / 3):.4g}"
                for k in range(6)
            )
            self.add("polygon", points=corners, fill=self.ground, stroke=self.line, stroke_width=3)
        else:
            light = board.kind == "checkers" and (row + column) % 2 == 0
            self.add(
                "rect",
                x=x - _CELL / 2,
                y=y - _CELL / 2,
                width=_CELL,
                height=_CELL,
                fill="#efdcc0" if light else self.ground,
                stroke=self.line,
                stroke_width=3,
            )
        if board.kind == "connect4" and letter == ".":
            self.add("circle", cx=x, cy=y, r=40, fill="#ffffff")
        if letter == ".":
            return
        if owner is None:
            self.label(letter, x, y, 60, "#222222")
            return
        if board.kind == "tictactoe":
            self.draw_mark(x, y, owner)
            return
        self.add(
            "circle", cx=x, cy=y, r=40, fill=self.players[owner], stroke="#00000055", stroke_width=3
        )
        if board.kind == "checkers" and letter.isupper():
            crown = ((-22, 16), (-26, -14), (-11, 0), (0, -22), (11, 0), (26, -14), (22, 16))
            points = " ".join(f"{x + dx:.4g},{y + dy:.4g}" for dx, dy in crown)
            self.add("polygon", points=points, fill="#e0a526")
        elif not board.kind and letter not in "XO":
            self.label(letter, x, y, 48, "#ffffff")

    def draw_mark(self, x: float, y: float, owner: int) -> None:
        """Tic-tac-toe's cross and ring."""
        ink = {"stroke": self.players[owner], "stroke_width": 12, "fill": "none"}
        if owner == 1:
            self.add("circle", cx=x, cy=y, r=28, **ink)
            return
        for slope in (-1, 1):
            y1, y2 = y - 26 * slope, y + 26 * slope
            self.add("line", x1=x - 26, y1=y1, x2=x + 26, y2=y2, **ink, stroke_linecap="round")

    def draw_hint(self, mark: _Mark) -> None:
        x, y = self.centre(mark.cells[0])
        opacity = 0.15 + 0.7 * mark.share
        self.add("circle", cx=x, cy=y, r=36, fill=mark.colour, fill_opacity=opacity)
        self.label(f"{mark.share:.0%}", x, y, 28, "#111111")

    def draw_arrow(self, mark: _Mark) -> None:
        (x1, y1), (x2, y2) = self.centre(mark.cells[0]), self.centre(mark.cells[-1])
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - 36 * ux, y2 - 36 * uy  # where the head begins
        opacity = 0.2 + 0.75 * mark.share
        ink = mark.colour
        self.add("line", x1=x1, y1=y1, x2=bx, y2=by, stroke=ink, stroke_width=16, opacity=opacity)
        head = ((x2, y2), (bx - 24 * uy, by + 24 * ux), (bx + 24 * uy, by - 24 * ux))
        points = " ".join(f"{x:.4g},{y:.4g}" for x, y in head)
        self.add("polygon", points=points, fill=ink, opacity=opacity)

    def finish(self, size: int, caption: str) -> str:
        height = self.height + (50 if caption else 0)
        if caption:
            self.label(caption, self.width / 2, height - 30, 32, "#111111")
        shapes = "\n".join(self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.4g} {height:.4g}" '
            f'width="{size}" height="{size * height / self.width:.4g}" font-family="sans-serif" '
            f'text-anchor="middle">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
            f"{shapes}\n</svg>"
        )
