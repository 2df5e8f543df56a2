"""Checkers: rules against a slow twin and OpenSpiel, counts, draw rules, text."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_games import native
from walks import walk

import zermelo

Cell = tuple[int, int]  # row, column
Way = tuple[list[Cell], list[Cell]]  # cells visited, cells whose men are taken
CHOICES = st.lists(st.integers(0, 59), max_size=120)  # taken modulo the number of legal actions
START = "B:W" + ",".join(map(str, range(21, 33))) + ":B" + ",".join(map(str, range(1, 13)))


@pytest.fixture(scope="module")
def game() -> Any:
    return native("checkers")


def texts(game: Any, state: Any) -> list[str]:
    return [game.action_text(state, action) for action in game.legal_actions(state)]


def after(game: Any, position: str, *steps: str) -> Any:
    state = game.parse_position(position)
    for step in steps:
        state = game.play(state, game.parse_action(state, step))
    return state


class SlowCheckers:
    """The rules once more: an 8x8 list of letters, whole moves, captured men removed at the end."""

    def __init__(self, cells: str, mover: str, quiet_plies: int) -> None:
        self.rows = [list(cells[row * 8 : row * 8 + 8]) for row in range(8)]
        self.mover = mover  # 'b' or 'w'
        self.quiet_plies = quiet_plies
        self.quiet = 0
        self.seen = Counter([self.key()])

    def key(self) -> tuple[str, str]:
        return "".join("".join(row) for row in self.rows), self.mover

    @staticmethod
    def number(row: int, column: int) -> int:
        return row * 4 + column // 2 + 1

    def directions(self, piece: str) -> list[tuple[int, int]]:
        forward = 1 if self.mover == "b" else -1
        rows = [forward, -forward] if piece.isupper() else [forward]
        return [(down, right) for down in rows for right in (-1, 1)]

    def at(self, row: int, column: int) -> str:
        return self.rows[row][column] if 0 <= row < 8 and 0 <= column < 8 else "#"

    def jumps(self, piece: str, path: list[Cell], taken: list[Cell]) -> list[Way]:
        """All complete ways to jump on from the end of the path: (cells visited, cells taken)."""
        row, column = path[-1]
        ways = []
        for down, right in self.directions(piece):
            over, to = (row + down, column + right), (row + 2 * down, column + 2 * right)
            enemy = self.at(*over).lower() in "bw" and self.at(*over).lower() != self.mover
            if not enemy or over in taken or not (self.at(*to) == "." or to == path[0]):
                continue
            crowned = piece.islower() and to[0] == (7 if self.mover == "b" else 0)
            rest = [] if crowned else self.jumps(piece, [*path, to], [*taken, over])
            ways += rest or [([*path, to], [*taken, over])]
        return ways

    def moves(self) -> dict[str, Way]:
        """Whole moves by their text, such as "11-15" or "1x10x19"."""
        plain: dict[str, Way] = {}
        jumping: dict[str, Way] = {}
        for row in range(8):
            for column in range(8):
                piece = self.rows[row][column]
                if piece.lower() != self.mover:
                    continue
                for path, taken in self.jumps(piece, [(row, column)], []):
                    jumping["x".join(str(self.number(*cell)) for cell in path)] = path, taken
                for down, right in self.directions(piece):
                    to = (row + down, column + right)
                    if self.at(*to) == ".":
                        text = f"{self.number(row, column)}-{self.number(*to)}"
                        plain[text] = [(row, column), to], []
        return jumping or plain

    def play(self, text: str) -> None:
        path, taken = self.moves()[text]
        (row, column), to = path[0], path[-1]
        piece = self.rows[row][column]
        self.rows[row][column] = "."
        for r, c in taken:
            self.rows[r][c] = "."
        self.quiet = self.quiet + 1 if piece.isupper() and not taken else 0
        crowned = to[0] == (7 if self.mover == "b" else 0)
        self.rows[to[0]][to[1]] = piece.upper() if crowned else piece
        self.mover = "w" if self.mover == "b" else "b"
        self.seen[self.key()] += 1

    def outcome(self) -> zermelo.Outcome | None:
        if not self.moves():
            lost = self.mover == "b"
            return zermelo.Outcome.SECOND_WINS if lost else zermelo.Outcome.FIRST_WINS
        if self.seen[self.key()] >= 3 or self.quiet >= self.quiet_plies:
            return zermelo.Outcome.DRAW
        return None


def whole_moves(game: Any, state: Any, begun: str = "") -> dict[str, list[int]]:
    """Complete moves as actions, by the same text as the twin's."""
    moves: dict[str, list[int]] = {}
    for action in game.legal_actions(state):
        text = game.action_text(state, action)
        text = begun + text[text.index("x") :] if begun else text
        following = game.play(state, action)
        if ":J" in game.position_text(following):
            assert game.player(following) == game.player(state)
            assert game.outcome(following) is None
            for rest, actions in whole_moves(game, following, text).items():
                moves[rest] = [action, *actions]
        else:
            assert game.player(following) != game.player(state)
            moves[text] = [action]
    return moves


def play_against_twin(position: str, seed: int, quiet_plies: int = 80) -> str:
    """Plays a random game by both rules, comparing all they say; how it ended."""
    name = "checkers" if quiet_plies == 80 else f"checkers?quiet_plies={quiet_plies}"
    game, rng = native(name), random.Random(seed)
    state = game.parse_position(position)
    twin = SlowCheckers(game.cells(state), "bw"[game.player(state)], quiet_plies)
    ply = 0
    while True:
        assert (game.cells(state), "bw"[game.player(state)]) == twin.key()
        assert game.outcome(state) == twin.outcome()
        assert game.ply(state) == ply
        outcome = game.outcome(state)
        if outcome is not None:
            assert game.legal_actions(state) == []
            if outcome != zermelo.Outcome.DRAW:
                return "won"
            return "repetition" if twin.seen[twin.key()] >= 3 else "quiet"
        moves = whole_moves(game, state)
        assert sorted(moves) == sorted(twin.moves())
        planes = np.asarray(game.observe(state))
        assert round(float(planes[5, 0, 0]) * quiet_plies) == twin.quiet
        assert planes[6, 0, 0] == (twin.seen[twin.key()] - 1) / 2
        choice = rng.choice(sorted(moves))
        for action in moves[choice]:
            state = game.play(state, action)
            ply += 1
        twin.play(choice)


def kings_only(rng: random.Random) -> str:
    squares = rng.sample(range(1, 33), 4)
    white, black = (
        ",".join(f"K{square}" for square in half) for half in (squares[:2], squares[2:])
    )
    return f"{rng.choice('BW')}:W{white}:B{black}"


def scattered(rng: random.Random) -> str:
    """Men and kings anywhere, so that long jumps and crowning jumps are frequent."""
    squares = rng.sample(range(5, 29), 12)
    pieces = [rng.choice(["", "", "K"]) + str(square) for square in squares]
    return f"{rng.choice('BW')}:W{','.join(pieces[:7])}:B{','.join(pieces[7:])}"


def test_random_games_agree_with_the_slow_twin() -> None:
    ends = Counter(play_against_twin(START, seed) for seed in range(300))
    assert ends["won"] > 0


def test_random_games_from_scattered_pieces_agree_with_the_slow_twin() -> None:
    for seed in range(200):
        play_against_twin(scattered(random.Random(seed)), seed)


def test_random_games_of_kings_end_by_both_draw_rules_as_with_the_slow_twin() -> None:
    ends: Counter[str] = Counter()
    for seed in range(120):
        position = kings_only(random.Random(seed))
        ends[play_against_twin(position, seed, quiet_plies=(20, 80, 200)[seed % 3])] += 1
    assert ends["repetition"] > 0
    assert ends["quiet"] > 0


@pytest.mark.slow
def test_thousands_of_random_games_agree_with_the_slow_twin() -> None:
    for seed in range(1000, 6000):
        rng = random.Random(seed)
        position = (START, scattered(rng), START, kings_only(rng))[seed % 4]
        play_against_twin(position, seed, quiet_plies=(80, 30, 200)[seed % 3])


@pytest.mark.slow
def test_random_games_agree_with_open_spiel(game: Any) -> None:
    """Its first player moves up from the bottom, so its board is ours turned by 180 degrees."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

    def cell(number: str) -> str:
        row, index = divmod(int(number) - 1, 4)
        column = index * 2 + (1 if row % 2 == 0 else 0)
        return f"{chr(ord('a') + 7 - column)}{row + 1}"

    def spell(text: str) -> str:
        return "".join(cell(number) for number in re.split("[-x]", text))

    rng = random.Random(8)
    for _ in range(1000):
        state, other = game.initial(), pyspiel.load_game("checkers").new_initial_state()
        while not other.is_terminal() and game.outcome(state) is None:
            theirs = {other.action_to_string(a): a for a in other.legal_actions()}
            ours = {spell(game.action_text(state, a)): a for a in game.legal_actions(state)}
            assert sorted(ours) == sorted(theirs)
            assert game.player(state) == other.current_player()
            choice = rng.choice(sorted(ours))
            state = game.play(state, ours[choice])
            other.apply_action(theirs[choice])
        if game.outcome(state) == zermelo.Outcome.FIRST_WINS:
            assert other.returns() == [1, -1]
        if game.outcome(state) == zermelo.Outcome.SECOND_WINS:
            assert other.returns() == [-1, 1]


@pytest.mark.parametrize(
    ("depth", "moves"), list(enumerate([1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680]))
)
def test_the_number_of_whole_moves_is_the_known_one(game: Any, depth: int, moves: int) -> None:
    assert game.perft(game.initial(), depth) == moves


@pytest.mark.slow
def test_the_number_of_whole_moves_is_the_known_one_at_depth_eleven(game: Any) -> None:
    assert game.perft(game.initial(), 11) == 85_242_128


def test_perft_counts_a_multi_jump_as_one_move_and_two_ways_as_two(game: Any) -> None:
    circle = game.parse_position("B:W9,10,17,18,32:BK6")
    assert sorted(whole_moves(game, circle)) == ["6x13x22x15x6", "6x15x22x13x6"]
    assert game.perft(circle, 1) == 2
    within = game.play(circle, game.parse_action(circle, "6x13"))
    assert game.perft(within, 1) == 1


def test_black_begins_from_squares_1_to_12_and_white_stands_at_the_bottom(game: Any) -> None:
    state = game.initial()
    assert game.player(state) == 0
    assert game.position_text(state) == START
    assert game.parse_position(START) == state
    expected = [".b.b.b.b", "b.b.b.b.", ".b.b.b.b", "........", "........"]
    assert game.cells(state) == "".join([*expected, "w.w.w.w.", ".w.w.w.w", "w.w.w.w."])
    first_steps = ["10-14", "10-15", "11-15", "11-16", "12-16", "9-13", "9-14"]
    assert sorted(texts(game, state)) == first_steps


def test_a_multi_jump_keeps_the_mover_and_only_the_jumping_piece_may_move(game: Any) -> None:
    state = after(game, "B:W18,26,7,32:B14,3")
    assert sorted(texts(game, state)) == ["14x23", "3x10"]
    state = game.play(state, game.parse_action(state, "14x23"))
    assert game.player(state) == 0
    assert texts(game, state) == ["23x30"]
    assert np.asarray(game.observe(state))[4].sum() == 1
    state = game.play(state, game.parse_action(state, "23x30"))
    assert game.player(state) == 1
    assert game.position_text(state) == "W:W7,32:B3,K30"


def test_a_man_crowned_by_a_jump_may_not_jump_on_but_a_king_may(game: Any) -> None:
    by_man = after(game, "B:W26,25,8:B23,4", "23x30")
    assert (game.player(by_man), game.position_text(by_man)) == (1, "W:W8,25:B4,K30")
    by_king = after(game, "B:W26,25,8:BK23,4", "23x30")
    assert (game.player(by_king), texts(game, by_king)) == (0, ["30x21"])


def test_men_neither_move_nor_capture_backwards(game: Any) -> None:
    assert sorted(texts(game, after(game, "B:W10:B15"))) == ["15-18", "15-19"]
    assert texts(game, after(game, "B:W10:BK15")) == ["15x6"]


def test_any_capture_may_be_chosen_not_only_the_longest(game: Any) -> None:
    state = after(game, "B:W18,26,7,32:B14,3")
    short = game.play(state, game.parse_action(state, "3x10"))
    assert game.player(short) == 1


def test_a_player_who_cannot_move_loses(game: Any) -> None:
    assert game.outcome(after(game, "W:W:B1")) == zermelo.Outcome.FIRST_WINS
    blocked = after(game, "W:W13:B9,6")  # 9 is in the way and 6 guards it
    assert game.outcome(blocked) == zermelo.Outcome.FIRST_WINS


def test_the_third_occurrence_of_a_position_is_a_draw(game: Any) -> None:
    back_and_forth = ["1-6", "32-27", "6-1", "27-32"]
    once = after(game, "B:WK32:BK1", *back_and_forth)
    assert game.outcome(once) is None
    assert np.asarray(game.observe(once))[6, 0, 0] == 0.5
    twice = after(game, "B:WK32:BK1", *back_and_forth * 2)
    assert game.outcome(twice) == zermelo.Outcome.DRAW
    assert game.legal_actions(twice) == []
    assert game.position_text(twice) == "B:WK32:BK1:H8:R2"


def test_eighty_plies_without_capture_or_mans_move_are_a_draw(game: Any) -> None:
    last = after(game, "B:WK32:BK1:H78", "1-6")
    assert game.outcome(last) is None
    assert np.asarray(game.observe(last))[5, 0, 0] == pytest.approx(79 / 80)
    assert game.outcome(after(game, "B:WK32:BK1:H79", "1-6")) == zermelo.Outcome.DRAW
    assert game.outcome(after(game, "B:WK32:B1:H79", "1-6")) is None
    assert game.outcome(after(game, "B:WK6,K32:BK1:H79", "1x10")) is None
    short = native("checkers?quiet_plies=5")
    assert short.name == "checkers?quiet_plies=5"
    assert short.outcome(after(short, "B:WK32:BK1:H4", "1-6")) == zermelo.Outcome.DRAW


@given(choices=CHOICES)
@settings(max_examples=80, deadline=None)
def test_the_observation_is_the_board_from_the_movers_side(choices: list[int]) -> None:
    game = native("checkers")
    state = walk(game, choices)
    cells = game.cells(state)
    planes = np.asarray(game.observe(state)).reshape(7, 64)
    letters = "bBwW" if game.player(state) == 0 else "wWbB"
    seen = cells if game.player(state) == 0 else cells[::-1]
    for plane, letter in zip(planes, letters, strict=False):
        assert plane.tolist() == [cell == letter for cell in seen]
    assert game.observation_shape == (7, 8, 8)
    assert game.num_symmetries(state) == 1


@given(choices=CHOICES)
@settings(max_examples=80, deadline=None)
def test_the_turned_position_of_the_other_colour_has_the_same_actions(choices: list[int]) -> None:
    game = native("checkers")
    state = walk(game, choices)
    turned = game.parse_position(turned_text(game.position_text(state)))
    assert game.legal_actions(turned) == game.legal_actions(state)
    assert np.array_equal(np.asarray(game.observe(turned)), np.asarray(game.observe(state)))
    for action in game.legal_actions(state):
        following = game.position_text(game.play(state, action))
        assert game.play(turned, action) == game.parse_position(turned_text(following))


def turned_text(position: str) -> str:
    """The position with colours swapped and the board turned by 180 degrees."""
    mover, white, black, *rest = position.split(":")

    def turn(pieces: str) -> str:
        return re.sub(r"\d+", lambda number: str(33 - int(number[0])), pieces)

    fields = [turn(field) if field[0] == "J" else field for field in rest]
    other = "W" if mover == "B" else "B"
    return ":".join([other, "W" + turn(black[1:]), "B" + turn(white[1:]), *fields])


def test_states_and_hashes_are_equal_exactly_when_texts_are(game: Any) -> None:
    by_text: dict[str, Any] = {}
    hashes: dict[int, str] = {}
    rng = random.Random(2)
    for _ in range(120):
        state = game.initial()
        while legal := game.legal_actions(state):
            text = game.position_text(state)
            assert by_text.setdefault(text, state) == state
            assert hashes.setdefault(game.hash(state), text) == text
            state = game.play(state, rng.choice(legal))
    assert len(by_text) == len(hashes)


@given(choices=CHOICES)
@settings(max_examples=100, deadline=None)
def test_text_reads_back_as_the_same_position_and_actions(choices: list[int]) -> None:
    game = native("checkers")
    state = walk(game, choices)
    text = game.position_text(state)
    again = game.parse_position(text)
    assert again == state
    assert game.hash(again) == game.hash(state)
    assert game.position_text(again) == text
    assert game.legal_actions(again) == game.legal_actions(state)
    for action in game.legal_actions(state):
        assert game.parse_action(state, game.action_text(state, action)) == action


def test_the_hash_tells_mover_jumper_quiet_plies_and_repetition_apart(game: Any) -> None:
    positions = ["B:WK10:BK6", "W:WK10:BK6", "B:WK10:BK6:J6", "B:WK10:BK6:H4", "B:WK10:BK6:H4:R1"]
    positions += ["B:W10:BK6", "B:WK10:B6", "B:WK10:BK5", "B:WK10:BK6:H5"]
    states = [game.parse_position(position) for position in positions]
    assert len({game.hash(state) for state in states}) == len(positions)
    assert len(set(states)) == len(positions)


@pytest.mark.parametrize(
    ("position", "text", "reason"),
    [
        ("B:W32:B1", "", "'' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "0-5", "'0-5' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "1-33", "'1-33' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "1-", "'1-' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "1-9", "'1-9' is not legal"),
        ("B:W18,26:B14", "14x23x30", "'14x23x30' must be played one jump at a time"),
        ("B:W10:B6,1", "1-5", "'1-5' is not legal: a jump is possible and must be made"),
        ("B:W10:B6,1:J6", "1-5", "'1-5' is not legal: 6 must go on jumping"),
        ("B:W10:B", "1-5", "the game is over, so '1-5' cannot be played"),
    ],
)
def test_an_action_that_cannot_be_read_or_played_says_why(
    game: Any, position: str, text: str, reason: str
) -> None:
    state = game.parse_position(position)
    with pytest.raises(ValueError, match=re.escape(reason)):
        game.parse_action(state, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is neither B nor W, the player to move"),
        ("X:W9:B1", "'X' is neither B nor W, the player to move"),
        ("B:W9", "the pieces of B are missing"),
        ("B:W33:B1", "'33' is not a square from 1 to 32"),
        ("B:W9,,10:B1", "'' is not a square from 1 to 32"),
        ("B:WKK9:B1", "'KK9' is not a square from 1 to 32"),
        ("B:W9:B9", "two pieces on square 9"),
        ("B:W3:B9", "the man on square 3 should be a king"),
        ("B:W9:B31", "the man on square 31 should be a king"),
        ("B:W9:B1:Z2", "'Z2' begins with none of W, B, H, R and J"),
        ("B:W9::B1", "'' begins with none of W, B, H, R and J"),
        ("B:W9:B1:W2", "field W comes twice"),
        ("B:W9:B1:H81", "'H81' is not H0 to H80"),
        ("B:W9:B1:Hx", "'Hx' is not H0 to H80"),
        ("B:WK9:BK1:H7:R2", "R2 needs H8 or more"),
        ("B:W10:B6:J10", "square 10 holds no piece of the mover that can jump"),
        ("B:W9:B1:J1", "square 1 holds no piece of the mover that can jump"),
        ("B:W10:BK6:H2:J6", "a jump ends the quiet plies of H"),
        (START.replace(":B1,", ":B13,1,"), "Black has more than 12 pieces"),
    ],
)
def test_a_position_that_cannot_be_read_says_why(game: Any, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        game.parse_position(text)
