"""Run files: every option there and back, and one sentence for everything that is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo import _core
from zermelo.config import (
    RunConfig,
    duration_text,
    find_preset,
    parse_duration,
    parse_settings,
    read_run_file,
)
from zermelo.config.options import HIGHEST_SEED
from zermelo.config.presets import preset_directories
from zermelo.config.run_config import new_head, refuse_incompatible
from zermelo.config.sections import rows_of, section_kinds
from zermelo.config.toml_file import Tables, toml_text, toml_value
from zermelo.errors import UserError

CONNECT4 = {"game": {"name": "connect4"}}


def test_a_run_file_states_every_option_and_reads_back_the_same() -> None:
    changes: Tables = {"network": {"filters": 32}, "search": {"fpu": "parent", "solver": False}}
    config = RunConfig.from_tables(CONNECT4).changed(changes)
    content = tomllib.loads(config.to_toml(new_head("2025-01-02")))
    assert content.pop("format") == 1
    assert content.pop("made") == "2025-01-02"
    assert content.pop("version")
    content.pop("commit")
    for section in section_kinds():
        assert list(content[section]) == [row["name"] for row in rows_of(section)]
    again = RunConfig.from_tables(content)
    assert again.tables() == config.tables()
    assert (again.network.filters, again.search.fpu, again.search.solver) == (32, "parent", False)


def test_defaults_are_those_of_the_options_own_tables() -> None:
    config = RunConfig.from_tables(CONNECT4)
    for section, values in config.tables().items():
        for row in rows_of(section):
            if section != "game":
                assert values[row["name"]] == row["default"], (section, row["name"])


def test_every_option_says_what_it_is_for() -> None:
    for section in section_kinds():
        for row in rows_of(section):
            assert len(row["doc"]) > 5, (section, row["name"])


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({}, r"\[game\] has no name"),
        ({"gmae": {}}, "there is no section 'gmae'; did you mean 'game'"),
        ({"iterations": 3}, "there is no key 'iterations'"),
        ({"game": "connect4"}, r"'game' is a section, not a value: write \[game\]"),
        ({"game": {"name": 4}}, "name is 4, not text"),
        ({"network": {"filter": 8}}, "no option 'filter'; did you mean 'filters'"),
        ({"search": {"c_pukt": 8}}, "no option 'c_pukt'; did you mean 'c_puct'"),
        ({"selfplay": {"wokers": 8}}, "no option 'wokers'; did you mean 'workers'"),
        ({"search": {"seed": 8}}, "'seed' follows from loop.seed"),
        ({"network": {"filters": 0}}, "filters is 0, not a whole number from 1 to 2048"),
        ({"network": {"filters": "many"}}, "filters is 'many', not a whole number"),
        ({"network": {"filters": 8.5}}, "filters is 8.5, not a whole number"),
        ({"search": {"c_puct": -1}}, "'c_puct' cannot be -1: it takes a number from 0 to 100"),
        ({"search": {"fpu": "low"}}, "'fpu' cannot be 'low'"),
        ({"selfplay": {"games": 0}}, "'games' cannot be 0"),
        ({"selfplay": {"precision": "f8"}}, "precision is 'f8', not one of auto, f32"),
        ({"loop": {"mode": "both"}}, "mode is 'both', not one of auto, alternate, together"),
        ({"loop": {"keep_checkpoints": 2}}, "keep_checkpoints is 2, not a whole number from 3"),
        ({"train": {"learning_rate": float("nan")}}, "learning_rate is nan"),
        ({"train": {"batch": [1, 2]}}, "batch is not a plain value"),
        ({"replay": {"deduplicate": "maybe"}}, "deduplicate is 'maybe', not on or off"),
        ({"replay": {"window_start": 9, "window_max": 3}}, "window_start is 9, more than"),
        ({"selfplay": {"full_search_probability": 0}}, "full_search_probability and always_full_"),
        (
            {"loop": {"seed": 2**53}},
            r"seed is 9007199254740992, not a whole number from 0 to 9e\+15",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_in_a_run_file_is_one_sentence(tables: Any, sentence: str) -> None:
    given_tables = {} if not tables or "game" in tables else dict(CONNECT4)
    with pytest.raises(UserError, match=sentence) as caught:
        RunConfig.from_tables(given_tables | tables, "my.toml")
    assert str(caught.value).startswith(("my.toml", "[replay]"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[game\nname=3", "is not valid TOML"),
        (b"\xff\xfe", "is not text in UTF-8"),
        (b"format = 2\nversion = '9.0'\n", "has format 2 of zermelo 9.0; this is zermelo"),
    ],
)
def test_a_file_that_is_no_run_file_is_refused(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "run.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=sentence):
        read_run_file(path)


def test_a_missing_file_and_a_directory_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        read_run_file(tmp_path / "none.toml")
    with pytest.raises(UserError, match="is a directory"):
        read_run_file(tmp_path)


def test_settings_are_given_with_or_without_their_section() -> None:
    tables = parse_settings(["train.learning_rate=0.01", "filters = 16", "solver=off"])
    assert tables == {
        "train": {"learning_rate": "0.01"},
        "network": {"filters": "16"},
        "search": {"solver": "off"},
    }
    config = RunConfig.from_tables(CONNECT4).changed(tables)
    assert (config.train.learning_rate, config.network.filters) == (0.01, 16)
    assert config.search.solver is False


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("filters", "write it as section.key=value"),
        ("=3", "write it as section.key=value"),
        ("trian.batch=3", "there is no section 'trian'; did you mean 'train'"),
        ("fliters=3", "there is no such option; did you mean 'filters'"),
        ("batch=3", "say which of search.batch, train.batch"),
    ],
)
def test_a_bad_setting_is_named(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        parse_settings([text])


def test_only_what_a_run_is_built_on_cannot_change() -> None:
    old = RunConfig.from_tables(CONNECT4)
    fine: Tables = {"train": {"learning_rate": 0.1}, "loop": {"iterations": 7}}
    fine["selfplay"] = {"workers": 3}
    refuse_incompatible(old, old.changed(fine), "runs/a")
    for changes, sentence in (
        ({"game": {"name": "othello"}}, "samples and checkpoints are of that game"),
        ({"network": {"blocks": 9}}, "network.blocks is 5 and cannot become 9: its checkpoints"),
        ({"loop": {"seed": 9}}, "games so far were played with that seed"),
    ):
        with pytest.raises(UserError, match=sentence) as caught:
            refuse_incompatible(old, old.changed(changes), "runs/a")
        assert str(caught.value).startswith("runs/a: ")


@pytest.mark.parametrize("other", [{"always_full_plies": 1}, {"fast_samples": True}], ids=str)
def test_a_run_without_drawn_full_searches_needs_samples_from_others(other: dict[str, Any]) -> None:
    tables = CONNECT4 | {"selfplay": {"full_search_probability": 0, **other}}
    assert RunConfig.from_tables(tables).selfplay.full_search_probability == 0


def test_the_core_takes_every_seed_of_a_run() -> None:
    for kind in (_core.SearchOptions, _core.SelfPlayOptions):
        assert kind(seed=HIGHEST_SEED).seed == HIGHEST_SEED


def test_a_games_file_is_remembered_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = RunConfig.from_tables({"game": {"name": "mine.py:Nim?heaps=3"}})
    assert config.game_name == f"{tmp_path.resolve()}/mine.py:Nim?heaps=3"


def test_a_suite_is_remembered_by_its_whole_path_and_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "other.epd").touch()
    (tmp_path / "link.epd").symlink_to("other.epd")
    config, place = RunConfig.from_tables(CONNECT4), str(tmp_path / "link.epd")
    assert config.evaluate.suite == ""
    for name in ("link.epd", "sub/../link.epd", "~/link.epd", place):
        assert config.changed({"evaluate": {"suite": name}}).evaluate.suite == place


@given(st.text())
def test_any_text_survives_a_run_file(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert tomllib.loads(f"key = {toml_value(text)}") == {"key": text}


@given(st.one_of(st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False)))
def test_any_number_survives_a_run_file(value: Any) -> None:
    content = tomllib.loads(toml_text({"a": value}, {"s": {"b": value}}, {"s.b": "note # here"}))
    assert content == {"a": value, "s": {"b": value}}
    assert type(content["a"]) is type(value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("1h30m", 5400), ("0.5h", 1800), ("2D", 172800)],
)
def test_times_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "0", "-5m", "5x", "5m3", "1e3", "nan"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="write 90s, 30m"):
        parse_duration(text)


def test_times_are_shown_in_two_units() -> None:
    shown = [duration_text(seconds) for seconds in (0, 8.4, 200, 3900, 100_000)]
    assert shown == ["0s", "8s", "3m 20s", "1h 05m", "1d 03h"]


def test_presets_are_found_by_name_and_are_sound_run_files() -> None:
    assert find_preset("no-such-preset") is None
    assert find_preset("../pyproject") is None
    for path in [path for place in preset_directories() for path in place.glob("*.toml")]:
        assert find_preset(path.stem)
        RunConfig.from_tables(read_run_file(path)[1], path.stem).game()
