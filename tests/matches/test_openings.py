"""Openings: all different, none decided, the same for the same seed; books are read."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from outside_data import outside_data

import zermelo
from zermelo.errors import UserError
from zermelo.games.notation import parse_position
from zermelo.games.protocol import Game
from zermelo.matches.openings import Decided, Opening, canonical_hash, make_openings

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"
KINGS = "4k3/8/8/8/8/8/4P3/4K3 w - -"


def keys(game: Game, openings: list[Opening]) -> list[int]:
    return [canonical_hash(game, opening.states(game)[-1]) for opening in openings]


@pytest.mark.parametrize("name", [*zermelo.game_names(), str(EXAMPLE)])
def test_openings_are_different_positions_of_games_that_go_on(name: str) -> None:
    game = zermelo.game(name)
    openings = make_openings(game, "random:3", 20, seed=1)
    assert len(set(keys(game, openings))) == 20
    decided = Decided(game)
    for opening in openings:
        state = opening.states(game)[-1]
        assert game.outcome(state) is None
        assert not decided(state)


def test_openings_depend_on_the_seed_alone_and_longer_lists_begin_with_shorter_ones() -> None:
    game = zermelo.game("connect4")
    thirty = make_openings(game, "random:4", 30, seed=5)
    assert make_openings(game, "random:4", 12, seed=5) == thirty[:12]
    assert make_openings(game, "random:4", 30, seed=6) != thirty


def test_mirror_images_count_as_the_same_opening() -> None:
    game = zermelo.game("connect4")
    left, right = Opening("", ("1",)), Opening("", ("7",))
    assert len(set(keys(game, [left, right]))) == 1
    # Seven columns are four, of which the middle is the one that neither side can mirror.
    first = make_openings(game, "random:1", 4, seed=0)
    assert sorted(min(int(o.actions[0]), 8 - int(o.actions[0])) for o in first) == [1, 2, 3, 4]


def test_longer_openings_help_out_where_there_are_too_few_short_ones() -> None:
    game = zermelo.game("connect4")
    openings = make_openings(game, "random:1", 12, seed=0)
    assert {len(opening.actions) for opening in openings} == {1, 2}
    assert len(set(keys(game, openings))) == 12


def passed(game: Game, openings: list[Opening]) -> list[Opening]:
    """Those that go through a position in which another one ends."""
    ends = {(len(o.actions), canonical_hash(game, o.states(game)[-1])) for o in openings}
    return [
        opening
        for opening in openings
        if any(
            (ply, canonical_hash(game, state)) in ends
            for ply, state in enumerate(opening.states(game)[:-1])
        )
    ]


def test_no_opening_goes_through_another_while_there_are_others() -> None:
    game = zermelo.game("tictactoe")
    openings = make_openings(game, "random:4", 60, seed=0)
    assert {len(opening.actions) for opening in openings} == {4, 5, 6}
    assert len(set(keys(game, openings))) == 60
    assert not passed(game, openings)
    # All longer lines of Connect Four go through one of the four first moves.
    game = zermelo.game("connect4")
    assert len(passed(game, make_openings(game, "random:1", 12, seed=0))) == 8


NIM = """
import numpy as np
from zermelo.games.protocol import Outcome


class Nim:
    \"\"\"Who takes the last stone wins.\"\"\"

    name = "nim"
    num_actions = 3
    observation_shape = (1, 1, 1)

    def __init__(self, stones: int = 7):
        self.stones = stones

    def initial(self):
        return (self.stones, 0)

    def legal_actions(self, state):
        return [action for action in range(3) if action < state[0]]

    def play(self, state, action):
        return (state[0] - action - 1, 1 - state[1])

    def player(self, state):
        return state[1]

    def outcome(self, state):
        return None if state[0] else (Outcome.SECOND_WINS, Outcome.FIRST_WINS)[state[1]]

    def observe(self, state):
        return np.full((1, 1, 1), state[0], np.float32)
"""


def test_a_game_whose_positions_are_all_decided_has_openings_too(tmp_path: Path) -> None:
    file = tmp_path / "nim.py"
    file.write_text(NIM)
    game = zermelo.game(str(file))
    openings = make_openings(game, "random:4", 3, seed=0)
    assert len(set(keys(game, openings))) == 3
    assert all(game.outcome(opening.states(game)[-1]) is None for opening in openings)
    # With three stones it is over after three plies: there is nothing but the start.
    assert make_openings(zermelo.game(f"{file}?stones=3"), "random:4", 1, seed=0) == [Opening()]


def test_positions_won_at_once_are_seen() -> None:
    game = zermelo.game("connect4")
    decided = Decided(game)
    assert decided(parse_position(game, "434343"))
    assert not decided(game.initial())


def test_openings_come_again_when_a_game_has_no_more() -> None:
    game = zermelo.game("tictactoe")
    openings = make_openings(game, "random:4", 2000, seed=0)
    assert len(openings) == 2000
    different = len(set(keys(game, openings)))
    assert 20 < different < 2000
    assert openings[different] == openings[0]


def test_a_list_of_positions_is_a_book_without_doubles_and_finished_games(tmp_path: Path) -> None:
    game = zermelo.game("chess")
    book = tmp_path / "book.epd"
    mate = "7k/6Q1/6K1/8/8/8/8/8 b - -"
    book.write_text(f"# a comment\n{KINGS} bm e4; id 1;\n{KINGS} 0 7\n{mate}\n\n")
    assert make_openings(game, str(book), 1, seed=0)[0].position.startswith(KINGS)
    found = make_openings(game, f"{book}?order=given", 2, seed=0)
    assert found == [Opening(KINGS), Opening(KINGS)]  # one opening, again


def test_a_pgn_is_a_book_of_its_first_plies(tmp_path: Path) -> None:
    game = zermelo.game("chess")
    book = tmp_path / "book.pgn"
    book.write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 *\n\n[Event "?"]\n\n1. d4 d5 2. c4 *\n')
    found = make_openings(game, f"{book}?plies=2&order=given", 2, seed=0)
    assert [opening.actions for opening in found] == [("e2e4", "e7e5"), ("d2d4", "d7d5")]
    with pytest.raises(ValueError, match="a PGN book is for chess, not for hex"):
        make_openings(zermelo.game("hex"), str(book), 2, seed=0)


def test_an_old_book_in_latin_1_is_read_and_one_of_another_variant_refused(tmp_path: Path) -> None:
    game = zermelo.game("chess")
    book = tmp_path / "book.pgn"
    book.write_bytes('[White "Müller"]\n\n1. e4 e5 *\n'.encode("latin-1"))
    (found,) = make_openings(game, f"{book}?plies=2", 1, seed=0)
    assert found.actions == ("e2e4", "e7e5")
    book.write_text('[Variant "Atomic"]\n\n1. e4 e5 *\n')
    with pytest.raises(UserError, match="game 1 of the book is a game of Atomic"):
        make_openings(game, f"{book}?plies=2", 1, seed=0)


@pytest.mark.parametrize("suffix", [".gz", ".zip"])
def test_packed_books_are_read(tmp_path: Path, suffix: str) -> None:
    plain = f"{KINGS}\n".encode()
    book = tmp_path / f"book.epd{suffix}"
    if suffix == ".gz":
        book.write_bytes(gzip.compress(plain))
    else:
        with zipfile.ZipFile(book, "w") as archive:
            archive.writestr("book.epd", plain)
    assert make_openings(zermelo.game("chess"), str(book), 1, seed=0) == [Opening(KINGS)]
    book.write_bytes(b"damaged")
    with pytest.raises(ValueError, match="it is damaged or no text"):
        make_openings(zermelo.game("chess"), str(book), 1, seed=0)


@pytest.mark.parametrize(
    ("name", "at"), [("book.epd.gz", 20), ("book.epd.zip", 60), ("book.epd.zip", -6)]
)
def test_a_packed_book_with_damaged_bytes_is_one_sentence(
    tmp_path: Path, name: str, at: int
) -> None:
    book = packed_book(tmp_path / name)
    data = bytearray(book.read_bytes())
    data[at] ^= 0xFF
    book.write_bytes(data)
    with pytest.raises(UserError, match="it is damaged or no text"):
        make_openings(zermelo.game("chess"), str(book), 1, seed=0)


@pytest.mark.parametrize(("offset", "value"), [(6, 1), (8, 99)])
def test_a_zip_with_a_password_or_packed_in_another_way_is_one_sentence(
    tmp_path: Path, offset: int, value: int
) -> None:
    book = packed_book(tmp_path / "book.epd.zip")
    data = bytearray(book.read_bytes())
    directory = data.index(b"PK\x01\x02")  # the fields stand there too, two bytes further on
    data[offset] = data[directory + 2 + offset] = value
    book.write_bytes(data)
    with pytest.raises(UserError, match="it is damaged or no text"):
        make_openings(zermelo.game("chess"), str(book), 1, seed=0)


def packed_book(path: Path) -> Path:
    lines = f"{KINGS}\n".encode() * 50
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("book.epd", lines)
    return path


def test_other_games_have_books_of_their_own_positions(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("44\n4455\n")
    game = zermelo.game("connect4")
    found = make_openings(game, f"{book}?order=given", 2, seed=0)
    assert [opening.position for opening in found] == ["44", "4455"]
    book.write_text("44\nx\n")
    with pytest.raises(ValueError, match=r"book\.txt line 2: "):
        make_openings(game, f"{book}?order=given", 2, seed=0)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("random:many", "it should look like random:4"),
        ("nowhere.epd", "it is no book that can be read"),
    ],
)
def test_a_source_that_is_none_is_refused(source: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_openings(zermelo.game("chess"), source, 2, seed=0)


def test_a_real_book_gives_different_openings() -> None:
    game, book = zermelo.game("chess"), str(outside_data("books/noob_3moves.epd.zip"))
    openings = make_openings(game, book, 50, seed=3)
    assert len(set(keys(game, openings))) == 50
    assert make_openings(game, book, 50, seed=4) != openings
