"""Dots and Boxes: draw an edge; who closes a box owns it and draws again; more boxes win.

A state is (edges, mine, theirs, player): what is drawn and whose boxes are whose, as bits, with the
mover's boxes first. Actions are edges: first the horizontal ones, row by row, then the vertical.
The network sees a grid of 2 * size + 1 rows and columns with dots, edges and boxes in their places.
"""

import numpy as np

from zermelo import Outcome, board_symmetries


class DotsAndBoxes:
    def __init__(self, size: int = 3):
        self.name, self.size = f"dots_and_boxes-{size}", size
        self.num_actions = 2 * size * (size + 1)
        side = 2 * size + 1
        self.observation_shape = (4, side, side)
        cells = [(r, c) for r in range(0, side, 2) for c in range(1, side, 2)]
        cells += [(r, c) for r in range(1, side, 2) for c in range(0, side, 2)]
        self._edges = [r * side + c for r, c in cells]  # the cell of each action
        self._boxes = [r * side + c for r in range(1, side, 2) for c in range(1, side, 2)]
        sides = [{box - side, box + side, box - 1, box + 1} for box in self._boxes]
        self._sides = [sum(1 << a for a, e in enumerate(self._edges) if e in s) for s in sides]
        self._beside = [[b for b, s in enumerate(sides) if e in s] for e in self._edges]
        self.symmetries = board_symmetries(side, side, actions=self._edges)

    def initial(self):
        return 0, 0, 0, 0

    def legal_actions(self, state):
        return [action for action in range(self.num_actions) if not state[0] >> action & 1]

    def play(self, state, action):
        edges, mine, theirs, player = state
        if not 0 <= action < self.num_actions or edges >> action & 1:
            raise ValueError(f"action {action} is not legal")
        edges |= 1 << action
        closed = [b for b in self._beside[action] if edges & self._sides[b] == self._sides[b]]
        if closed:
            return edges, mine | sum(1 << box for box in closed), theirs, player
        return edges, theirs, mine, 1 - player

    def player(self, state):
        return state[3]

    def outcome(self, state):
        edges, mine, theirs, player = state
        if edges != (1 << self.num_actions) - 1:
            return None
        margin = (mine.bit_count() - theirs.bit_count()) * (1 if player == 0 else -1)
        if margin == 0:
            return Outcome.DRAW
        return Outcome.FIRST_WINS if margin > 0 else Outcome.SECOND_WINS

    def observe(self, state):
        edges, mine, theirs, _ = state
        planes = np.zeros(self.observation_shape, np.float32)
        flat = planes.reshape(4, -1)
        flat[0, [cell for a, cell in enumerate(self._edges) if edges >> a & 1]] = 1
        flat[1, [cell for b, cell in enumerate(self._boxes) if mine >> b & 1]] = 1
        flat[2, [cell for b, cell in enumerate(self._boxes) if theirs >> b & 1]] = 1
        flat[3] = (mine.bit_count() - theirs.bit_count()) / len(self._boxes)
        return planes

    def cells(self, state):  # optional: the board can be drawn, with the first player's boxes as X
        edges, mine, theirs, player = state
        board = [" "] * (2 * self.size + 1) ** 2
        for row in range(0, 2 * self.size + 1, 2):
            for column in range(0, 2 * self.size + 1, 2):
                board[row * (2 * self.size + 1) + column] = "+"
        for action, cell in enumerate(self._edges):
            board[cell] = "." if not edges >> action & 1 else "-|"[action >= self.num_actions // 2]
        first, second = (mine, theirs) if player == 0 else (theirs, mine)
        for box, cell in enumerate(self._boxes):
            board[cell] = "X" if first >> box & 1 else "O" if second >> box & 1 else "."
        return "".join(board)

    def action_text(self, _, action):  # optional: "a2" is column a, row 2 of the drawn grid
        side = 2 * self.size + 1
        row, column = divmod(self._edges[action], side)
        return f"{'abcdefghijklmnopqrstu'[column]}{side - row}"
