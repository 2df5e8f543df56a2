"""Checks a claimed mate move by move, against every defence, by python-chess's rules.

The search's tree only says which move to try first; what counts is that each of the defender's
legal moves is answered until the king is mated in time. So a wrong claim cannot pass, whatever the
tree says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import chess

POSITIONS = 200_000  # looked at before a claim is left undecided: about ten seconds


class ProofTree:
    """The proven part of a search's tree: for each node the moves that lead to proven ones."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        self._children: dict[int, dict[str, dict[str, Any]]] = {}
        for node in nodes:
            if node["parent"] is not None and node["proven"]:
                self._children.setdefault(node["parent"], {})[node["action"]] = node

    def winning(self, node: int | None) -> list[tuple[str, int]]:
        """Moves (and their nodes) that the mover of a node is proven to win by, fastest first."""
        if node is None:
            return []
        found = [n for n in self._children.get(node, {}).values() if n["proven"] > 0]
        found.sort(key=lambda n: n["distance"])
        return [(n["action"], n["id"]) for n in found]

    def child(self, node: int | None, action: str) -> int | None:
        """The node after an action."""
        found = self._children.get(node, {}).get(action) if node is not None else None
        return None if found is None else int(found["id"])


def verify_mate(
    board: chess.Board, mate: int, tree: ProofTree, positions: int = POSITIONS
) -> bool | None:
    """Whether the mover mates in at most `mate` moves (is mated in at most -`mate`).

    None when that many positions did not decide it.
    """
    check = _Check(board.copy(stack=False), tree, positions)
    try:
        return check.mates(mate, 0) if mate > 0 else check.mated(-mate, 0)
    except _TooManyError:
        return None


class _TooManyError(Exception):
    pass


class _Check:
    def __init__(self, board: chess.Board, tree: ProofTree, positions: int) -> None:
        self.board = board
        self.tree = tree
        self.left = positions

    def mates(self, moves: int, node: int | None) -> bool:
        """Whether the mover forces mate in at most `moves`; the tree's moves are tried first."""
        import chess

        hinted = self.tree.winning(node)
        for text, child in hinted:
            if self._wins(chess.Move.from_uci(text), moves, child):
                return True
        tried = {text for text, _ in hinted}
        others = [move for move in self.board.legal_moves if move.uci() not in tried]
        others.sort(key=lambda move: not self.board.gives_check(move))
        return any(self._wins(move, moves, None) for move in others)

    def mated(self, moves: int, node: int | None) -> bool:
        """Whether every move of the mover lets the other side mate in at most `moves`."""
        if self.board.is_checkmate():
            return True
        replies = list(self.board.legal_moves)
        if moves < 1 or not replies or self.board.is_insufficient_material():
            return False
        for move in replies:
            child = self.tree.child(node, move.uci())
            self._push(move)
            forced = self.mates(moves, child)
            self.board.pop()
            if not forced:
                return False
        return True

    def _wins(self, move: chess.Move, moves: int, child: int | None) -> bool:
        if not self.board.is_legal(move):
            return False
        self._push(move)
        mate = self.board.is_checkmate()
        won = mate or (moves > 1 and self.mated(moves - 1, child))
        self.board.pop()
        return won

    def _push(self, move: chess.Move) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooManyError
        self.board.push(move)
