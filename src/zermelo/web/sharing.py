"""Games as texts that people paste and copy: moves, positions, PGN.

What is pasted is a stranger's text: it is read, never run, and what cannot be read is said.
"""

from __future__ import annotations

import io
import re
from typing import Any

from zermelo.errors import REFUSALS, UserError
from zermelo.games.notation import parse_position
from zermelo.web import messages
from zermelo.web.catalogue import OfferedGame
from zermelo.web.positions import Played
from zermelo.web.refusal import Refusal

_NUMBER = re.compile(r"^\d+\.+$")


def read_game(offered: OfferedGame, text: str) -> messages.GameRead:
    """What a pasted text means; a Refusal says why it means nothing."""
    text = text.strip()
    if not text:
        raise Refusal(422, "there is nothing to read")
    start = _position(offered, text)
    if start is not None:
        return messages.GameRead(line=messages.Line(game=offered.id, start=start), title="")
    if offered.kind == "chess":
        return _read_pgn(offered, text)
    words = [word for word in text.split() if not _NUMBER.match(word)]
    if len(words) == 1 and words[0].isdecimal() and offered.kind == "connect4":
        words = list(words[0])  # columns, as 4455
    if len(words) > messages.MOST_MOVES:
        raise Refusal(422, f"a game has at most {messages.MOST_MOVES} moves here")
    if any(len(word) > 24 for word in words):
        raise Refusal(422, "this is neither a position nor a list of moves")
    line = messages.Line(game=offered.id, moves=words)
    played = Played(offered.rules, line)
    return messages.GameRead(line=line.model_copy(update={"moves": played.texts()}), title="")


def write_game(offered: OfferedGame, line: messages.Line) -> messages.GameWritten:
    """All forms of a game."""
    played = Played(offered.rules, line)
    boards = played.boards()
    pgn = _pgn(offered, boards) if offered.kind == "chess" else ""
    return messages.GameWritten(moves=" ".join(played.texts()), position=boards[-1].text, pgn=pgn)


def _position(offered: OfferedGame, text: str) -> str | None:
    if len(text) > 400 or "\n" in text or "/" not in text:
        return None
    try:
        parse_position(offered.rules, text)
    except REFUSALS as error:
        if offered.kind == "chess" and text.count("/") < 7:
            return None
        raise Refusal(422, str(error)) from None
    return text


def _read_pgn(offered: OfferedGame, text: str) -> messages.GameRead:
    from zermelo.games.pgn import check_variant, read_pgn_game

    try:
        found = read_pgn_game(io.StringIO(text))
        if found is None:
            raise Refusal(422, "there is no game in this text")
        check_variant(found.headers, "the game")
    except UserError as error:
        raise Refusal(422, str(error)) from None
    if found.errors:
        raise Refusal(422, " ".join(str(found.errors[0]).split()))
    board: Any = found.board()
    moves = [board.uci(move) for move in found.mainline_moves()]
    if not moves and "FEN" not in found.headers:
        raise Refusal(422, "there are no moves in this text")
    if len(moves) > messages.MOST_MOVES:
        raise Refusal(422, f"a game has at most {messages.MOST_MOVES} moves here")
    start = board.fen() if "FEN" in found.headers else None
    line = messages.Line(game=offered.id, start=start, moves=moves)
    Played(offered.rules, line)
    names = [found.headers.get(side, "?") for side in ("White", "Black")]
    title = " – ".join(name[:60] for name in names) if names != ["?", "?"] else ""
    return messages.GameRead(line=line, title=title)


def _pgn(offered: OfferedGame, boards: list[messages.Board]) -> str:
    import chess
    import chess.pgn

    board = chess.Board(boards[0].text, chess960="chess960=on" in offered.rules.name)
    for each in boards[1:]:
        board.push_uci(each.move or "")
    found = chess.pgn.Game.from_board(board)
    found.headers["Event"] = "Zermelo"
    found.headers["Result"] = board.result(claim_draw=False)
    return str(found)
