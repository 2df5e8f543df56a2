"""Chess equals python-chess: moves, outcomes, text, and which FENs are accepted."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import chess
import pytest
from native_games import native

import zermelo

Record = Callable[[str, object], None]

GAMES = {False: native("chess"), True: native("chess?chess960=on")}


def expected_outcome(board: chess.Board) -> zermelo.Outcome | None:
    outcome = board.outcome(claim_draw=False)
    if outcome is not None and outcome.winner is not None:
        won = outcome.winner == chess.WHITE
        return zermelo.Outcome.FIRST_WINS if won else zermelo.Outcome.SECOND_WINS
    if outcome is not None or board.is_fifty_moves() or board.is_repetition(3):
        return zermelo.Outcome.DRAW
    return None


def random_start(rng: random.Random, chess960: bool) -> chess.Board:
    """The start position, or a few pieces anywhere, so that endgames and promotions are common."""
    if rng.random() < 0.5:
        if chess960:
            return chess.Board.from_chess960_pos(rng.randrange(960))
        return chess.Board()
    while True:
        board = chess.Board(None, chess960=chess960)
        pieces = "Kk" + "".join(rng.choices("PPPNBRQpppnbrq", k=rng.randrange(2, 9)))
        for piece, square in zip(pieces, rng.sample(chess.SQUARES, len(pieces)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = rng.random() < 0.5
        board.halfmove_clock = rng.choice([0, 0, 0, 90])
        board.castling_rights = board.rooks & chess.BB_BACKRANKS
        board.castling_rights = board.clean_castling_rights()
        if board.is_valid():
            return board


def choose(rng: random.Random, board: chess.Board, moves: list[chess.Move]) -> chess.Move:
    """A random move that often is of a rare kind or takes the mover's last one back."""
    if rng.random() < 0.5:
        rare = [move for move in moves if board.is_en_passant(move) or board.is_castling(move)]
        if rare:
            return rng.choice(rare)
    if rng.random() < 0.15:
        pushes = [move for move in moves if board.piece_type_at(move.from_square) == chess.PAWN]
        if pushes:
            return rng.choice(pushes)
    if len(board.move_stack) >= 2 and rng.random() < 0.3:
        last = board.move_stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in moves:
            return back
    return rng.choice(moves)


def check_position(game: Any, state: Any, board: chess.Board) -> zermelo.Outcome | None:
    text = board.fen()
    assert game.position_text(state) == text
    outcome = expected_outcome(board)
    assert game.outcome(state) == outcome, text
    assert game.player(state) == (0 if board.turn == chess.WHITE else 1)
    assert game.ply(state) == board.ply()
    actions = game.legal_actions(state)
    if outcome is None:
        moves = sorted(move.uci() for move in board.legal_moves)
        assert sorted(game.action_text(state, action) for action in actions) == moves, text
    else:
        assert actions == []
    read = game.parse_position(text)
    assert game.position_text(read) == text
    if not board.is_repetition(2):
        assert game.hash(read) == game.hash(state), text
    return outcome


def compare_games(positions: int, seed: int) -> dict[str, int]:
    rng = random.Random(seed)
    seen = {"positions": 0, "mates": 0, "draws": 0, "castlings": 0, "en passant": 0}
    while seen["positions"] < positions:
        chess960 = rng.random() < 0.5
        game = GAMES[chess960]
        board = random_start(rng, chess960)
        state = game.parse_position(board.fen())
        for _ in range(200):
            seen["positions"] += 1
            outcome = check_position(game, state, board)
            if outcome is not None:
                seen["draws" if outcome == zermelo.Outcome.DRAW else "mates"] += 1
                break
            move = choose(rng, board, list(board.legal_moves))
            seen["castlings"] += board.is_castling(move)
            seen["en passant"] += board.is_en_passant(move)
            state = game.play(state, game.parse_action(state, move.uci()))
            board.push(move)
    return seen


def test_random_games_equal_python_chess(record_property: Record) -> None:
    seen = compare_games(2_000, seed=1)
    assert seen["draws"] > 3
    assert seen["castlings"] > 3
    record_property("tried", seen["positions"])


@pytest.mark.slow
def test_a_hundred_thousand_positions_equal_python_chess(record_property: Record) -> None:
    seen = compare_games(100_000, seed=2)
    assert min(seen.values()) > 50, seen
    record_property("tried", seen["positions"])


CASTLING = ["KQkq", "Kk", "Qq", "HAha", "K", "q", "Ff", "Bg", "-", "KK", "qk", "kK", "AH"]
BASES = [
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "rn2k1r1/ppp1pp1p/3p2p1/5bn1/P7/2N2B2/1PPPPP2/2BNK1RR w Gkq - 4 11",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "8/8/8/K2pP2q/8/8/8/4k3 w - d6 0 1",
    "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
    "8/8/8/8/1k1Pp2R/8/8/4K3 b - d3 0 1",
    "3k4/8/8/8/3R2B1/8/8/4K3 b - - 0 1",
    "8/3P4/8/1N6/3k4/8/8/3RK3 b - - 0 1",
]


def mutate(rng: random.Random, text: str) -> str:
    """One small change to a FEN: a letter, a field, or the arrangement of its pieces."""
    letters = "pnbrqkPNBRQKKk12345678/ wb-abcdefghABCDEFGH09~+_x\t"
    fields = text.split(" ")
    at = rng.randrange(len(text))
    match rng.randrange(9):
        case 0:
            return text[:at] + rng.choice(letters) + text[at + 1 :]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return text[:at] + rng.choice(letters) + text[at:]
        case 3:
            return " ".join(fields[: rng.randrange(len(fields) + 1)])
        case 4 if len(fields) > 2:
            fields[2] = rng.choice(CASTLING)
        case 5 if len(fields) > 3:
            fields[3] = rng.choice(chess.SQUARE_NAMES[16:24] + chess.SQUARE_NAMES[40:48] + ["a1"])
        case 6 if len(fields) > 1:
            fields[1] = rng.choice("wb")
        case 7:
            a, b = sorted((at, rng.randrange(len(text))))
            return text[:a] + text[b : b + 1] + text[a + 1 : b] + text[a : a + 1] + text[b + 1 :]
        case _ if len(fields) > 5:
            fields[rng.choice([4, 5])] = rng.choice(["0", "7", "99", "100", "-1", "-0", "x", "1_0"])
    return " ".join(fields)


def python_chess_reading(text: str, chess960: bool) -> chess.Board | None:
    try:
        board = chess.Board(text, chess960=chess960)
    except ValueError:
        return None
    return board if board.is_valid() else None


def compare_fens(number: int, seed: int) -> tuple[int, int]:
    """Returns how many were accepted and refused."""
    rng = random.Random(seed)
    bases = list(BASES)
    for _ in range(60):
        board = random_start(rng, rng.random() < 0.5)
        for _ in range(rng.randrange(60)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(rng.choice(moves))
        bases.append(board.fen(en_passant="fen"))
    accepted = 0
    for _ in range(number):
        text = rng.choice(bases)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            text = mutate(rng, text) or "8"
        if "k~" in text.lower():  # python-chess takes a promoted king for no king
            continue
        chess960 = rng.random() < 0.5
        read = python_chess_reading(text, chess960)
        if read is None:
            with pytest.raises(ValueError, match=r"^FEN '"):
                GAMES[chess960].parse_position(text)
        else:
            check_position(GAMES[chess960], GAMES[chess960].parse_position(text), read)
            accepted += 1
    return accepted, number - accepted


def test_mutated_fens_are_accepted_exactly_when_python_chess_finds_them_valid(
    record_property: Record,
) -> None:
    accepted, refused = compare_fens(2_000, seed=19)
    assert accepted > 200
    assert refused > 200
    record_property("tried", accepted + refused)


@pytest.mark.slow
def test_a_hundred_thousand_mutated_fens_are_accepted_exactly_when_python_chess_does(
    record_property: Record,
) -> None:
    accepted, refused = compare_fens(100_000, seed=20)
    assert min(accepted, refused) > 12_500
    record_property("tried", accepted + refused)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("3R4/8/q4k2/2B5/1NK5/3b4/8/8 w - - 0 1", False),  # two checkers on one line
        ("4k3/8/8/8/8/2n5/8/r3K3 w - - 0 1", True),
        ("4k3/8/8/8/7b/8/3n4/r3K3 w - - 0 1", True),
        ("4k3/8/8/8/7b/2n5/8/r3K3 w - - 0 1", True),
        ("4k3/8/8/8/7b/3n4/8/r3K3 w - - 0 1", False),  # three checkers
        ("8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", True),  # the pushed pawn gives check
        ("8/8/8/8/1k1Pp2R/8/8/4K3 b - d3 0 1", True),
        ("8/8/8/2k5/3Pp3/8/8/2R1K3 b - d3 0 1", False),  # a check that was there before
        ("6k1/8/8/8/3Pp3/1B6/8/4K3 b - d3 0 1", False),
        ("8/8/5k2/8/3Pp3/8/1B6/4K3 b - d3 0 1", True),  # the pawn came in between
        ("8/8/8/k7/3Pp3/8/8/4B1K1 b - d3 0 1", True),  # the push opened the line
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", True),
        ("4k3/3p4/8/3pP3/8/8/8/4K3 w - d6 0 1", False),
        ("4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 1", False),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d3 0 1", False),
        ("4k3/8/8/8/8/8/8/4K3 w Q - 0 1", True),  # python-chess takes Q without rooks for none
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", False),
        ("4k3/8/8/8/8/8/8/4K3 w - - +3 1_0", True),
        ("4k3/8/8/8/8/8/8/4K3 w - - 1__0 1", False),
    ],
)
def test_borderline_positions_are_judged_as_by_python_chess(text: str, valid: bool) -> None:
    board = python_chess_reading(text, chess960=False)
    assert (board is not None) == valid
    if board is not None:
        check_position(GAMES[False], GAMES[False].parse_position(text), board)
        return
    with pytest.raises(ValueError, match=r"^FEN '"):
        GAMES[False].parse_position(text)


def test_missing_fields_have_the_defaults_of_python_chess() -> None:
    fields = ["rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR", "b", "KQkq", "d3", "3", "9"]
    for count in range(1, 7):
        text = " ".join(fields[:count])
        game = GAMES[False]
        assert game.position_text(game.parse_position(text)) == chess.Board(text).fen()
