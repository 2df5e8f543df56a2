"""Games are found by name, by file or as objects; every refusal is one sentence."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import zermelo
from zermelo.errors import UserError
from zermelo.games import registry
from zermelo.games.parameters import Setting, settings_of, split_spec
from zermelo.games.protocol import Game, state_hash

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"

GAME_SOURCE = EXAMPLE.read_text()


def write(folder: Path, source: str, name: str = "some_game.py") -> str:
    path = folder / name
    path.write_text(source)
    return str(path)


def refusal(spec: Any) -> str:
    with pytest.raises(ValueError, match=r"\S") as caught:
        zermelo.game(spec)
    assert isinstance(caught.value, UserError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_listed_game_can_be_made_and_is_a_game() -> None:
    for name in zermelo.game_names():
        made = zermelo.game(name)
        assert isinstance(made, Game)
        assert zermelo.game(made.name).name == made.name


def test_parameters_follow_the_name() -> None:
    assert zermelo.game("hex?size=5&swap=on").observation_shape[1:] == (5, 5)
    assert zermelo.game("othello?size=6").num_actions == 37
    assert zermelo.game("chess?encoder=lc0").observation_shape[0] == 112


def test_a_game_object_is_returned_as_it_is() -> None:
    made = zermelo.game(str(EXAMPLE))
    assert zermelo.game(made) is made


def test_states_of_named_games_survive_pickling() -> None:
    for name in zermelo.game_names():
        made = zermelo.game(name)
        state = made.initial()
        state = made.play(state, made.legal_actions(state)[0])
        assert pickle.loads(pickle.dumps(state)) == state


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("conect4", "there is no game 'conect4'; did you mean 'connect4'?"),
        ("Chess", "there is no game 'Chess'; did you mean 'chess'?"),
        ("tictactoe?size=4", "tictactoe has no parameters, so 'size' cannot be set"),
        (
            "hex?sise=5",
            "hex has no parameter 'sise'; it has size (a whole number from 3 to 11), "
            "swap (on or off)",
        ),
        ("hex?size=99", "hex: size must be a whole number from 3 to 11, not '99'"),
        ("hex?size=five", "hex: size must be a whole number from 3 to 11, not 'five'"),
        ("hex?swap=maybe", "hex: swap must be on or off, not 'maybe'"),
        ("othello?size=7", "othello: size must be 6 or 8, not '7'"),
        (
            "chess?encoder=big",
            "chess: encoder must be compact or lc0 or lc0_3 or lc0_4 or lc0_5 or lc0_132 or "
            "lc0_133, not 'big'",
        ),
        ("hex?size", "'hex?size': 'size' should look like size=7"),
        ("hex?size=5&size=6", "'hex?size=5&size=6': 'size' is given twice"),
        ("nowhere/my_game.py", "there is no file 'nowhere/my_game.py'"),
    ],
)
def test_a_wrong_text_is_refused_with_a_sentence(spec: str, sentence: str) -> None:
    assert refusal(spec) == sentence


def test_an_unknown_name_that_resembles_nothing_gets_the_list() -> None:
    assert "tictactoe" in refusal("zzzzzz")
    assert "tictactoe" in refusal("")


def test_an_object_that_is_no_game_is_told_what_it_lacks() -> None:
    assert "has no name and no num_actions" in refusal(42)


def test_a_class_in_place_of_a_game_is_refused() -> None:
    assert "pass TicTacToe()" in refusal(type(zermelo.game("tictactoe")))


def test_a_registered_factory_gets_its_keywords_as_settings() -> None:
    made: Any = zermelo.game(str(EXAMPLE))
    zermelo.games.register("breakthrough_test", lambda size=5: type(made)(size))
    try:
        assert zermelo.game("breakthrough_test?size=6").num_actions == 108
        assert "size (a whole number)" in refusal("breakthrough_test?width=6")
        with pytest.raises(ValueError, match="there already is a game 'breakthrough_test'"):
            zermelo.games.register("breakthrough_test", type(made))
    finally:
        del registry._entries["breakthrough_test"]


def test_a_file_is_loaded_once_until_it_changes(tmp_path: Path) -> None:
    place = write(tmp_path, GAME_SOURCE)
    first = type(zermelo.game(place))
    assert type(zermelo.game(place)) is first
    write(tmp_path, GAME_SOURCE + "\n# changed\n")
    assert type(zermelo.game(place)) is not first


def test_states_of_a_file_survive_pickling(tmp_path: Path) -> None:
    source = GAME_SOURCE + (
        "\n\nclass Point:\n    x = 3\n\nclass Other(Breakthrough):\n"
        "    def initial(self):\n        return Point()\n"
    )
    made = zermelo.game(write(tmp_path, source) + ":Other")
    assert pickle.loads(pickle.dumps(made.initial())).x == 3


def test_a_class_is_chosen_by_name_and_set_up_by_parameters(tmp_path: Path) -> None:
    place = write(tmp_path, GAME_SOURCE + "\n\nclass Second(Breakthrough):\n    pass\n")
    assert "several games, Breakthrough, Second" in refusal(place)
    assert type(zermelo.game(f"{place}:Second?size=4")).__name__ == "Second"
    assert zermelo.game(f"{place}:Second?size=4").observation_shape == (2, 4, 4)
    assert "has nothing called 'Third'" in refusal(f"{place}:Third")
    assert "'np' is not a game" in refusal(f"{place}:np")


def test_a_finished_object_goes_before_its_class(tmp_path: Path) -> None:
    place = write(tmp_path, GAME_SOURCE + "\n\nGAME = Breakthrough(4)\n")
    assert zermelo.game(place).observation_shape == (2, 4, 4)
    assert "cannot be set in a finished object" in refusal(place + "?size=5")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def broken(:\n", "line 1 is not valid Python"),
        ("x = 1\0\n", "is not valid Python"),
        ("x = 1\ny = 1 / 0\n", "ZeroDivisionError in line 2: division by zero"),
        ("raise SystemExit\n", "SystemExit in line 1"),
        ("import no_such_module_here\n", "ModuleNotFoundError"),
        ("x = 1\n", "has no game: no class with the methods initial"),
        ("class Half:\n    def initial(self): return 0\n", "the class Half lacks legal_actions"),
        (
            "from zermelo.games import Game\nclass Lazy(Game):\n    def initial(self): return 0\n",
            "the class Lazy lacks legal_actions",
        ),
        (
            GAME_SOURCE.replace("size: int = 5", "size"),
            "Breakthrough() failed: TypeError",
        ),
        (
            GAME_SOURCE.replace("self.observation_shape", "self.shape"),
            "Breakthrough is not a game: it lacks observation_shape",
        ),
    ],
)
def test_a_faulty_file_is_refused_with_a_sentence(tmp_path: Path, source: str, words: str) -> None:
    assert words in refusal(write(tmp_path, source))


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    assert "is a directory" in refusal(str(tmp_path / "folder.py"))


def test_a_path_object_is_as_good_as_text() -> None:
    assert zermelo.game(EXAMPLE).name == "breakthrough-5"


def test_settings_come_from_annotations_or_defaults() -> None:
    def factory(
        a: int | None = None, b: bool = False, c: float = 0.5, d: object = None, e: str = "x"
    ) -> None:
        del a, b, c, d, e

    assert [(s.name, s.kind) for s in settings_of(factory)] == [
        ("a", int),
        ("b", bool),
        ("c", float),
        ("e", str),
    ]
    assert settings_of(lambda n=3: n) == (Setting("n", 3, int),)


def test_a_number_out_of_range_is_not_fooled_by_nan() -> None:
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        Setting("share", 0.5, float, low=0, high=1).parse("nan", "thing")


def test_a_spec_is_split_at_the_first_question_mark() -> None:
    assert split_spec(" a?b=c?d ") == ("a", {"b": "c?d"})


def test_the_hash_of_a_game_without_one_tells_players_apart() -> None:
    made = zermelo.game(str(EXAMPLE))
    board, _ = made.initial()
    assert state_hash(made, (board, 0)) != state_hash(made, (board, 1))
    assert state_hash(made, (board, 0)) == state_hash(made, (board, 0))
