"""Pictures that packages ship and the page uses: chess pieces.

Only names from a fixed list are served.
"""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter
from fastapi.responses import Response

from zermelo.web.refusal import Refusal

PIECES = {f"{colour}{letter}": (colour, letter) for colour in "wb" for letter in "kqrbnp"}
KEEP = {"cache-control": "public, max-age=86400"}


def assets_router() -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/assets")

    @router.get("/pieces/{name}.svg")
    def piece(name: str) -> Response:
        """Such as wk.svg, the white king."""
        if name not in PIECES:
            raise Refusal(404, "there is no such piece")
        return Response(piece_picture(name), media_type="image/svg+xml", headers=KEEP)

    return router


@cache
def piece_picture(name: str) -> str:
    """As python-chess draws it."""
    import chess
    import chess.svg

    colour, letter = PIECES[name]
    symbol = letter.upper() if colour == "w" else letter
    return str(chess.svg.piece(chess.Piece.from_symbol(symbol)))
