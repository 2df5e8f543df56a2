"""The options: one table, lc0's names, clamped and never refused for their size."""

from __future__ import annotations

import pytest

from zermelo.errors import UserError
from zermelo.search import SearchOptions
from zermelo.uci.options import LEFT_OUT, Settings, UciOption, all_rows, find, uci_option_table
from zermelo.uci.protocol import Go

# What Nibbler sends to engines of lc0's kind without asking for their options.
NIBBLER = {
    "LogLiveStats": "true",
    "MoveOverheadMs": "0",
    "MultiPV": "500",
    "ScoreType": "WDL_mu",
    "SmartPruningFactor": "0",
    "UCI_ShowWDL": "true",
    "VerboseMoveStats": "true",
    "UCI_Chess960": "true",
}
LC0 = [
    "WeightsFile",
    "Backend",
    "Threads",
    "MinibatchSize",
    "NNCacheSize",
    "CPuct",
    "CPuctBase",
    "CPuctFactor",
    "FpuStrategy",
    "FpuValue",
    "PolicyTemperature",
    "MultiPV",
    "VerboseMoveStats",
    "LogLiveStats",
    "ScoreType",
    "SmartPruningFactor",
    "MoveOverheadMs",
    "RamLimitMb",
    "SyzygyPath",
    "UCI_Chess960",
    "UCI_ShowWDL",
    "UCI_ShowMovesLeft",
    "Ponder",
]


def test_every_option_of_the_search_is_there_or_has_a_reason_not_to_be() -> None:
    keys = {row["name"] for row in SearchOptions.table()}
    shown = {row.search_key for row in all_rows() if row.search_key}
    assert shown | set(LEFT_OUT) == keys
    assert not shown & set(LEFT_OUT)


def test_the_names_are_lc0s() -> None:
    names = {row.name for row in all_rows()}
    assert set(LC0) <= names
    assert len(names) == len(all_rows())


def test_what_nibbler_sends_is_taken() -> None:
    settings = Settings.defaults()
    for name, value in NIBBLER.items():
        settings = settings.with_value(name, value)
    assert settings["MultiPV"] == 500
    assert settings["SmartPruningFactor"] == 0
    assert settings["ScoreType"] == "WDL_mu"


@pytest.mark.parametrize("row", all_rows(), ids=lambda row: row.name)
def test_a_default_is_read_back_as_itself(row: UciOption) -> None:
    assert row.read(row.spelled(row.default)) == row.default


def test_floats_are_shown_as_strings_and_ranges_with_their_bounds() -> None:
    assert find("CPuct").line() == "option name CPuct type string default 1.5"
    assert find("MultiPV").line() == "option name MultiPV type spin default 1 min 1 max 500"
    assert find("Solver").line() == "option name Solver type check default true"
    assert find("BookFile").line() == "option name BookFile type string default <empty>"
    assert find("Precision").line() == (
        "option name Precision type combo default f32 var f32 var bf16 var int8"
    )


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("MultiPV", "99999", 500),
        ("MultiPV", "-3", 1),
        ("Threads", "1e300", 256),
        ("CPuct", "1e300", 100.0),
        ("CPuct", "-1", 0.0),
        ("cpuct", "2.5", 2.5),
        ("c_puct", "2.5", 2.5),
        ("Move Overhead", "70", 70),
        ("FpuStrategy", "reduction", "reduced"),
        ("ScoreType", "centipawn_2019", "centipawn"),
        ("Solver", "off", False),
        ("WeightsFile", "<empty>", ""),
        ("WeightsFile", " /a b.pb.gz ", "/a b.pb.gz"),
    ],
)
def test_values_are_clamped_and_spellings_understood(name: str, text: str, value: object) -> None:
    assert Settings.defaults().with_value(name, text)[find(name).name] == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("CPuct", "big"), ("CPuct", "nan"), ("Solver", "perhaps"), ("Backend", "gpu"), ("Nope", "1")],
)
def test_values_that_mean_nothing_are_named(name: str, text: str) -> None:
    with pytest.raises(UserError, match=name):
        Settings.defaults().with_value(name, text)


def test_options_reach_the_search() -> None:
    settings = Settings.defaults()
    for name, text in {
        "CPuct": "2.5",
        "FpuStrategy": "reduced",
        "FpuValue": "0.3",
        "MinibatchSize": "12",
        "Threads": "3",
        "NNCacheSize": "1000000",
        "TwoFoldDraws": "false",
        "PolicyTemperature": "1.4",
    }.items():
        settings = settings.with_value(name, text)
    made = settings.search_options(network=True, processors=2, entry_bytes=152)
    assert (made.c_puct, made.fpu, made.fpu_reduction) == (2.5, "reduced", 0.3)
    assert (made.leaves_per_tree, made.batch, made.threads) == (12, 12, 3)
    assert made.cache_mib == 145
    assert made.repetition_draw is False
    assert made.policy_temperature == 1.4


def test_threads_and_batches_follow_network_and_machine_unless_they_are_set() -> None:
    settings = Settings.defaults()
    alone = settings.search_options(network=False, processors=8, entry_bytes=152)
    assert (alone.threads, alone.leaves_per_tree) == (1, 1)
    both = settings.search_options(network=True, processors=2, entry_bytes=152)
    assert (both.threads, both.leaves_per_tree) == (2, 1)
    single = settings.search_options(network=True, processors=1, entry_bytes=152)
    assert single.threads == 1


def test_the_networks_own_options_hold_until_somebody_sets_them() -> None:
    own = SearchOptions(c_puct=2.5, fpu="loss", gumbel=True, leaves_per_tree=4)
    settings = Settings.defaults()
    made = settings.search_options(True, 2, 152, own)
    assert (made.c_puct, made.fpu, made.leaves_per_tree, made.batch) == (2.5, "loss", 4, 4)
    assert made.cache_history and made.cache_clock
    settings = settings.with_value("FpuStrategy", "reduced").with_value("MinibatchSize", "2")
    made = settings.search_options(True, 2, 152, own)
    assert (made.c_puct, made.fpu, made.leaves_per_tree) == (2.5, "reduced", 2)


def test_a_search_of_so_many_nodes_has_one_thread_and_the_networks_own_gumbel_root() -> None:
    own = SearchOptions(gumbel=True)
    settings = Settings.defaults()
    for counted, threads in ((True, 1), (False, 2)):
        made = settings.search_options(True, 2, 152, own, counted)
        assert (made.gumbel, made.threads) == (counted, threads)
    assert settings.with_value("Threads", "2").search_options(True, 2, 152, own, True).threads == 2


def test_only_nodes_alone_are_a_number_of_simulations() -> None:
    assert Go(nodes=100, searchmoves=("e2e4",)).counted
    for go in (Go(nodes=100, movetime=5), Go(movetime=5), Go(nodes=9, ponder=True), Go()):
        assert not go.counted


def test_the_guide_lists_every_option() -> None:
    table = uci_option_table()
    assert all(f"| `{row.name}` |" in table for row in all_rows())
