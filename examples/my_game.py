"""Breakthrough: pawns step forward, straight or diagonally, and capture diagonally; who reaches the
far row or takes all pawns wins. Try `zermelo check examples/my_game.py`, then `play` for `check`.

A state is (board, player). The board is seen by the mover, who goes up: "o" are his pawns, "x" the
other's. An action is 3 * cell + step, with the steps 0 up-left, 1 up, 2 up-right.
"""

import numpy as np

from zermelo import Outcome

TURN = str.maketrans("xo", "ox")


class Breakthrough:
    def __init__(self, size: int = 5):
        self.name, self.size, self.num_actions = f"breakthrough-{size}", size, 3 * size**2
        self.observation_shape = (2, size, size)

    def initial(self):
        return "x" * 2 * self.size + "." * self.size * (self.size - 4) + "o" * 2 * self.size, 0

    def legal_actions(self, state):
        return [action for action in range(self.num_actions) if self._target(state[0], action) >= 0]

    def play(self, state, action):
        if action not in self.legal_actions(state):
            raise ValueError(f"action {action} is not legal")
        board = list(state[0])
        board[action // 3], board[self._target(state[0], action)] = ".", "o"
        return "".join(board)[::-1].translate(TURN), 1 - state[1]

    def player(self, state):
        return state[1]

    def outcome(self, state):
        if "x" in state[0][-self.size :] or "o" not in state[0]:  # the last action won
            return Outcome.SECOND_WINS if state[1] == 0 else Outcome.FIRST_WINS
        return None

    def observe(self, state):
        board = np.array(list(state[0])).reshape(self.size, self.size)
        return np.stack([board == "o", board == "x"]).astype(np.float32)

    def cells(self, state):  # optional: the board can be drawn, with the first player as X
        board = state[0] if state[1] == 0 else state[0][::-1].translate(TURN)
        return board.translate(str.maketrans("ox", "XO"))

    def action_text(self, state, action):  # optional: actions can be typed, as "c2c3"
        ends = action // 3, self._target(state[0], action)
        ends = ends if state[1] == 0 else [self.size**2 - 1 - cell for cell in ends]
        return "".join(f"{'abcdefgh'[c % self.size]}{self.size - c // self.size}" for c in ends)

    def _target(self, board, action):  # where a pawn gets to, or -1
        cell, side = action // 3, action % 3 - 1
        target = cell - self.size + side
        if board[cell] != "o" or target < 0 or not 0 <= cell % self.size + side < self.size:
            return -1
        return target if board[target] in (".", "x" if side else ".") else -1
