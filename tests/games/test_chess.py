"""Chess: perft, actions, rules, text and symmetries."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest
from native_games import native
from outside_data import outside_data

import zermelo

OWN_DATA = Path(__file__).parents[1] / "perft"

STANDARD = native("chess")
CHESS960: Any = native("chess?chess960=on")


def perft_entries(path: Path) -> Iterator[tuple[str, str, dict[int, int]]]:
    """Yields (id, FEN, {depth: count}) of every entry of a .perft file."""
    name, epd = "", ""
    counts: dict[int, int] = {}
    for line in [*path.read_text().splitlines(), "id end"]:
        word, _, rest = line.partition(" ")
        if word == "id":
            if epd:
                yield name, epd, counts
            name, epd, counts = rest.strip(), "", {}
        elif word == "epd":
            epd = rest.strip()
        elif word == "perft":
            depth, count = rest.split()
            counts[int(depth)] = int(count)


def check_perft(path: Path, game: Any, most_nodes: int) -> int:
    """Compares all counts up to `most_nodes` and returns how many there were.

    Lists contain positions that no game can reach; those are refused and left out.
    """
    compared = 0
    for name, epd, counts in perft_entries(path):
        if not chess.Board(epd, chess960=game is CHESS960).is_valid():
            continue
        state = game.parse_position(epd)
        for depth, count in counts.items():
            if count <= most_nodes:
                assert game.perft(state, depth) == count, f"{path.name} {name} depth {depth}"
                compared += 1
    return compared


def test_perft_of_the_standard_positions_has_the_known_counts() -> None:
    assert check_perft(OWN_DATA / "standard.perft", STANDARD, 5_000_000) >= 25


@pytest.mark.slow
def test_perft_of_the_standard_positions_has_the_known_counts_at_full_depth() -> None:
    assert check_perft(OWN_DATA / "standard.perft", STANDARD, 10**9) == 31


def test_perft_of_chess960_positions_has_the_counts_of_python_chess() -> None:
    assert check_perft(OWN_DATA / "chess960.perft", CHESS960, 10**7) >= 40


def test_perft_of_standard_positions_is_the_same_under_chess960_rules() -> None:
    check_perft(OWN_DATA / "standard.perft", CHESS960, 500_000)


@pytest.mark.parametrize(
    ("file", "game", "most_nodes"),
    [
        ("tricky.perft", CHESS960, 10**6),
        ("random_part.perft", STANDARD, 20_000),
        ("chess960_part.perft", CHESS960, 20_000),
    ],
)
def test_perft_of_outside_positions_has_the_listed_counts(
    file: str, game: Any, most_nodes: int
) -> None:
    assert check_perft(outside_data(f"chess/{file}"), game, most_nodes) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "game"),
    [
        ("tricky.perft", CHESS960),
        ("random_part.perft", STANDARD),
        ("chess960_part.perft", CHESS960),
    ],
)
def test_perft_of_outside_positions_has_the_listed_counts_up_to_twenty_million(
    file: str, game: Any
) -> None:
    assert check_perft(outside_data(f"chess/{file}"), game, 20_000_000) > 0


def policy_moves() -> list[str]:
    """The 1858 moves by the rule, written with python-chess and independent of the core."""
    moves = []
    for origin in chess.SQUARES:
        queen, knight = chess.Board(None), chess.Board(None)
        queen.set_piece_at(origin, chess.Piece(chess.QUEEN, chess.WHITE))
        knight.set_piece_at(origin, chess.Piece(chess.KNIGHT, chess.WHITE))
        targets = queen.attacks(origin) | knight.attacks(origin)
        moves += [chess.square_name(origin) + chess.square_name(t) for t in sorted(targets)]
    for file in range(8):
        for target in range(max(file - 1, 0), min(file + 1, 7) + 1):
            squares = chess.square_name(chess.square(file, 6)) + chess.square_name(
                chess.square(target, 7)
            )
            moves += [squares + piece for piece in "qrb"]
    return moves


def policy_index(board: chess.Board, move: chess.Move) -> int:
    """The action of a legal move by the definition of the policy."""
    origin, target = move.from_square, move.to_square
    if board.is_castling(move) and not board.chess960:
        rank = chess.square_rank(origin)
        target = chess.square(7 if board.is_kingside_castling(move) else 0, rank)
    if board.turn == chess.BLACK:
        origin, target = chess.square_mirror(origin), chess.square_mirror(target)
    suffix = chess.piece_symbol(move.promotion) if move.promotion else ""
    suffix = "" if suffix == "n" else suffix
    return POLICY[chess.square_name(origin) + chess.square_name(target) + suffix]


POLICY = {text: index for index, text in enumerate(policy_moves())}


def test_the_policy_has_1858_moves_in_the_order_of_lc0() -> None:
    assert len(POLICY) == STANDARD.num_actions == 1858
    anchors = {"a1b1": 0, "a1h8": 22, "b1a1": 23, "g1f3": 159, "e2e4": 322, "h8g8": 1791}
    promotions = {"a7a8q": 1792, "a7a8r": 1793, "a7b8b": 1797, "h7g8q": 1852, "h7h8b": 1857}
    for text, index in {**anchors, **promotions}.items():
        assert POLICY[text] == index
    state = STANDARD.initial()
    assert STANDARD.parse_action(state, "e2e4") == 322
    assert STANDARD.parse_action(state, "g1f3") == 159
    black = STANDARD.play(state, 322)
    assert STANDARD.parse_action(black, "e7e5") == 322


@pytest.mark.parametrize("game", [STANDARD, CHESS960], ids=["standard", "chess960"])
def test_actions_and_legal_moves_are_one_to_one(game: Any) -> None:
    rng = random.Random(1858)
    seen: set[int] = set()
    for _ in range(15):
        number = rng.randrange(960) if game is CHESS960 else 518
        board = chess.Board.from_chess960_pos(number)
        board.chess960 = game is CHESS960
        state = game.parse_position(board.fen())
        while game.outcome(state) is None:
            moves = {policy_index(board, move): move for move in board.legal_moves}
            actions = game.legal_actions(state)
            assert len(actions) == len(set(actions)) == board.legal_moves.count()
            assert set(actions) == set(moves)
            for action in actions:
                assert game.action_text(state, action) == moves[action].uci()
            seen.update(actions)
            action = rng.choice(actions)
            state = game.play(state, action)
            board.push(moves[action])
    assert len(seen) > 1000


def test_underpromotions_have_their_own_actions() -> None:
    state = STANDARD.parse_position("3n4/4P3/8/8/8/k7/8/K7 w - - 0 1")
    texts = {STANDARD.action_text(state, a): a for a in STANDARD.legal_actions(state)}
    assert {t for t in texts if t.startswith("e7")} == {
        f"e7{target}{piece}" for target in ("e8", "d8") for piece in "qrbn"
    }
    assert texts["e7e8n"] == POLICY["e7e8"]
    assert texts["e7d8r"] == POLICY["e7d8r"]
    with pytest.raises(ValueError, match="not a legal move"):
        STANDARD.parse_action(state, "e7e8")


def test_repetition_draws_on_the_third_occurrence() -> None:
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    state = STANDARD.initial()
    for text in shuffle + shuffle[:3]:
        state = STANDARD.play(state, STANDARD.parse_action(state, text))
        assert STANDARD.outcome(state) is None
    state = STANDARD.play(state, STANDARD.parse_action(state, "f6g8"))
    assert STANDARD.outcome(state) == zermelo.Outcome.DRAW
    assert STANDARD.legal_actions(state) == []


def test_positions_that_differ_in_rights_are_not_repetitions() -> None:
    # The king's first walk loses the right to castle: the first occurrence does not count.
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    walk = "e1e2 e8e7 e2e1 e7e8"
    twice = STANDARD.parse_position(f"{fen} moves {walk} {walk}")
    assert STANDARD.outcome(twice) is None
    thrice = STANDARD.parse_position(f"{fen} moves {walk} {walk} {walk}")
    assert STANDARD.outcome(thrice) == zermelo.Outcome.DRAW


def test_positions_repeat_after_any_even_number_of_plies() -> None:
    triangle = "e1e2 e8e7 e2d1 e7d8 d1e1 d8e8"
    back_and_forth = "e1e2 e8e7 e2e1 e7e8"
    fen = "4k3/8/8/8/8/8/7R/4K3 w - - 0 1"
    for walks in ([triangle, triangle], [triangle, back_and_forth], [back_and_forth, triangle]):
        state = STANDARD.parse_position(f"{fen} moves {walks[0]}")
        assert STANDARD.outcome(state) is None
        state = STANDARD.parse_position(f"{fen} moves {' '.join(walks)}")
        assert STANDARD.outcome(state) == zermelo.Outcome.DRAW


def test_an_en_passant_right_counts_only_while_the_capture_is_legal() -> None:
    # After e2e4 the pawn on d4 may take; later the same squares stand without that right.
    shuffle = "e8e7 e1e2 e7e8 e2e1"
    fen = "4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1"
    legal = STANDARD.parse_position(f"{fen} moves e2e4 {shuffle} {shuffle}")
    assert STANDARD.outcome(legal) is None
    # Without a pawn to take it the first position is the same as the later ones.
    fen = "4k3/8/8/8/p7/8/4P3/4K3 w - - 0 1"
    illegal = STANDARD.parse_position(f"{fen} moves e2e4 {shuffle} {shuffle}")
    assert STANDARD.outcome(illegal) == zermelo.Outcome.DRAW


def test_en_passant_that_would_expose_the_king_is_no_right() -> None:
    shuffle = "a4b4 e1e2 b4a4 e2e1"
    fen = "8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1"
    pushed = STANDARD.parse_position(f"{fen} moves e2e4")
    assert STANDARD.position_text(pushed) == "8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1"
    assert STANDARD.observe(pushed)[12].sum() == 0
    again = STANDARD.parse_position(f"{fen} moves e2e4 {shuffle} {shuffle}")
    assert STANDARD.outcome(again) == zermelo.Outcome.DRAW


def test_fifty_moves_draw_unless_the_last_one_mates() -> None:
    state = STANDARD.parse_position("7k/8/8/8/8/8/R7/K7 w - - 98 80")
    state = STANDARD.play(state, STANDARD.parse_action(state, "a2b2"))
    assert STANDARD.outcome(state) is None
    state = STANDARD.play(state, STANDARD.parse_action(state, "h8g8"))
    assert STANDARD.outcome(state) == zermelo.Outcome.DRAW
    state = STANDARD.parse_position("7k/R7/6K1/8/8/8/8/8 w - - 99 80 moves a7a8")
    assert STANDARD.outcome(state) == zermelo.Outcome.FIRST_WINS


def test_mate_wins_and_stalemate_draws() -> None:
    mate = STANDARD.parse_position("startpos moves f2f3 e7e5 g2g4 d8h4")
    assert STANDARD.outcome(mate) == zermelo.Outcome.SECOND_WINS
    stalemate = STANDARD.parse_position("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    assert STANDARD.outcome(stalemate) == zermelo.Outcome.DRAW


@pytest.mark.parametrize(
    ("pieces", "drawn"),
    [
        ("", True),
        ("N", True),
        ("b", True),
        ("NN", False),
        ("Nn", False),
        ("Nb", False),
        ("BN", False),
        ("P", False),
        ("r", False),
        ("q", False),
        ("Nq", False),
    ],
)
def test_material_that_cannot_mate_draws_as_in_python_chess(pieces: str, drawn: bool) -> None:
    board = chess.Board(None)
    board.set_piece_at(chess.A1, chess.Piece.from_symbol("K"))
    board.set_piece_at(chess.H8, chess.Piece.from_symbol("k"))
    for piece, square in zip(pieces, [chess.C3, chess.E5], strict=False):
        board.set_piece_at(square, chess.Piece.from_symbol(piece))
    board.turn = chess.BLACK if pieces.isupper() or not pieces else chess.WHITE
    if not board.is_valid():
        board.turn = not board.turn
    assert board.is_insufficient_material() == drawn
    outcome = STANDARD.outcome(STANDARD.parse_position(board.fen()))
    assert (outcome == zermelo.Outcome.DRAW) == drawn


def test_bishops_of_one_colour_of_squares_draw_however_many() -> None:
    for squares, drawn in [("c1e3", True), ("c1f8", True), ("c1f1", False), ("c1c8", False)]:
        board = chess.Board("8/8/8/8/8/7k/8/K7 w - - 0 1")
        for square, piece in zip((squares[:2], squares[2:]), "Bb", strict=True):
            board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(piece))
        if board.is_valid():
            outcome = STANDARD.outcome(STANDARD.parse_position(board.fen()))
            assert (outcome is not None) == board.is_insufficient_material() == drawn


def test_the_hash_tells_rule_50_and_repetition_apart_but_not_the_move_number() -> None:
    fen = "4k3/8/8/8/8/8/8/4K2R w K - {} {}"
    hashes = {n: STANDARD.hash(STANDARD.parse_position(fen.format(n, 1))) for n in range(100)}
    assert len(set(hashes.values())) == 100
    assert STANDARD.hash(STANDARD.parse_position(fen.format(7, 40))) == hashes[7]
    once = STANDARD.parse_position("startpos moves g1f3 g8f6 f3g1 f6g8")
    same = STANDARD.parse_position(STANDARD.position_text(once))
    assert STANDARD.hash(once) != STANDARD.hash(same)


def test_chess960_starts_have_scharnagls_numbers() -> None:
    for number in range(960):
        board = chess.Board.from_chess960_pos(number)
        state = CHESS960.chess960_start(number)
        assert CHESS960.position_text(state) == board.fen()
        assert CHESS960.parse_position(board.fen()) == state
        shredder = CHESS960.parse_position(board.shredder_fen())
        assert shredder == state
    with pytest.raises(ValueError, match="not from 0 to 959"):
        CHESS960.chess960_start(960)


def test_castling_text_follows_the_variant_and_both_spellings_are_read() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
    for game, kingside, queenside in [(STANDARD, "e8g8", "e8c8"), (CHESS960, "e8h8", "e8a8")]:
        state = game.parse_position(fen)
        for spelling in ("e8g8", "e8h8"):
            assert game.action_text(state, game.parse_action(state, spelling)) == kingside
        for spelling in ("e8c8", "e8a8"):
            assert game.action_text(state, game.parse_action(state, spelling)) == queenside


def test_cells_show_the_board_from_whites_side() -> None:
    cells = STANDARD.cells(STANDARD.initial())
    assert cells[:8] == "rnbqkbnr"
    assert cells[16:48] == "." * 32
    assert cells[-8:] == "RNBQKBNR"


def test_names_spell_the_options_in_a_fixed_order() -> None:
    for name in (
        "chess",
        "chess?encoder=lc0",
        "chess?chess960=on",
        "chess?encoder=lc0&chess960=on",
        "chess?mirror=on",
    ):
        assert native(name).name == name


def test_the_mirror_symmetry_needs_the_option_and_no_castling_rights() -> None:
    game = native("chess?mirror=on")
    assert game.num_symmetries(game.initial()) == 1
    state = game.parse_position("8/8/8/3pP3/8/k7/8/K6R w - d6 0 1")
    assert game.num_symmetries(state) == 2
    assert STANDARD.num_symmetries(STANDARD.parse_position("k7/8/8/8/8/8/7P/K7 w - -")) == 1
    mirrored = game.transform(state, 1)
    assert game.position_text(mirrored) == "8/8/8/3Pp3/8/7k/8/R6K w - e6 0 1"
    assert game.parse_position(game.position_text(mirrored)) == mirrored
    assert sorted(game.transform_action(a, 1) for a in game.legal_actions(state)) == sorted(
        game.legal_actions(mirrored)
    )
    shown, shown_mirrored = game.observe(state), game.observe(mirrored)
    assert (shown[:, :, ::-1] == shown_mirrored).all()
    assert game.transform(mirrored, 1) == state
