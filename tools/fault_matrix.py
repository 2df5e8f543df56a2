"""The faults that are tried: what must hold, and which tests and programs try it.

`tools/faults.py` runs them and writes docs/reliability.md. A test says how often it tried by
`record_property("tried", N)`, and anything else that the page should show by other properties.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A row of the page."""

    number: int
    title: str
    wanted: str
    tests: tuple[str, ...] = ()  # files, or files::tests
    programs: tuple[str, ...] = ()  # that take minutes, print one JSON object, end with 0 if well
    short: str = ""  # in what the programs and tests fall short of what is wanted


CHESS = "src/zermelo/data/networks/chess.safetensors"
KILLS = "tests/integration/test_kill_and_resume.py"
DEATHS = "tests/cluster/test_kills.py::test_a_run_survives_the_deaths_of"
WEB = "tests/web/test_web_faults.py"
CROWD = f"{WEB}::test_a_crowd_of_light_requests_is_answered"
FLOODS = (
    "test_a_flooder_is_closed", "test_a_frame_of_a_megabyte_closes_the_socket",
    "test_bytes_close_the_socket",
    "test_every_viewer_of_one_search_gets_its_last_frame_also_a_slow_one",
)  # fmt: skip
WAYS_OUT = (
    "test_hundreds_of_spellings_of_a_way_out_lead_nowhere",
    "test_no_path_leads_out_of_the_pages_own_files",
)
# Against ourselves, 200 games of one second and a hundredth for each move.
SELF_GAMES = (
    f"tools/uci_games.py --games 200 --base 1 --increment 0.01 --weights {CHESS} --threads 1 "
    "--opponent zermelo --elo 0 --out build/uci_self_games.jsonl --json"
)

FAULTS = (
    Fault(
        1,
        "a self-play worker is killed (kill -9)",
        "no damaged shard, no game twice, the worker is back",
        (f"{KILLS}", "tests/faults/test_hung_worker.py"),
        ("tools/kill_loop.py --kills 50 --json", "tools/kill_recovery.py --kills 4 --json"),
    ),
    Fault(
        2,
        "a crash at any byte of a shard",
        "every prefix is ignored or whole; earlier shards are readable",
        ("tests/replay/test_every_prefix.py", "tests/replay/test_shard.py"),
    ),
    Fault(
        3,
        "loss of power",
        "write, fsync, rename, fsync of the directory, in this order",
        (
            "tests/faults/test_small_defects.py::test_a_file_and_then_its_name_are_synchronised",
            "tests/checkpoint/test_checkpoint_store.py",
        ),
    ),
    Fault(
        4,
        "the disk is full",
        "nothing half written, one message, the run goes on when there is room",
        (
            "tests/selfplay/test_worker.py",
            "tests/checkpoint/test_checkpoint_store.py",
            "tests/faults/test_full_disk.py",
            "tests/train/test_train_metrics.py",
        ),
    ),
    Fault(
        5,
        "damaged shards",
        "all detected before a row reaches the trainer, set aside with the reason",
        ("tests/replay/test_shard.py", "tests/replay/test_replay_store.py"),
    ),
    Fault(
        6,
        "rows with a right checksum and impossible content",
        "all refused",
        ("tests/replay/test_possible_games.py", "tests/replay/test_samples.py"),
    ),
    Fault(
        7,
        "damaged checkpoints",
        "all detected; the previous one is used, both are named",
        ("tests/checkpoint/test_checkpoint_damage.py", "tests/checkpoint/test_checkpoint_store.py"),
    ),
    Fault(
        8,
        "the trainer is killed (kill -9)",
        "the newest checkpoint loads; no temporary files after the restart",
        (KILLS, "tests/checkpoint/test_checkpoint_store.py"),
        ("tools/kill_loop.py --kills 30 --workers 1 --json",),
    ),
    Fault(
        9,
        "resumed equals uninterrupted",
        "the same weights, bit for bit",
        ("tests/loop/test_loop.py", KILLS),
    ),
    Fault(
        10,
        "determinism",
        "the same seed gives the same shards and visits",
        ("tests/faults/test_determinism.py", "tests/search/test_golden.py"),
    ),
    Fault(
        11,
        "a network that answers NaN, infinity or wrong shapes",
        "nothing of it in the tree, the game is not stored, a legal move all the same",
        (
            "tests/search/test_faults.py",
            "tests/faults/test_bad_networks.py",
            "tests/uci/test_uci_engine.py",
        ),
    ),
    Fault(
        12,
        "an evaluator raises or hangs",
        "its error comes out, threads end, no memory is lost",
        ("tests/search/test_faults.py", "tests/faults/test_hung_worker.py"),
    ),
    Fault(
        13,
        "memory errors and races in the core",
        "no report of ASan, UBSan, TSan",
        programs=("tools/sanitize.py --json", "tools/fuzz.py --json"),
    ),
    Fault(
        14,
        "fork and pickle",
        "works or says a clear error, never hangs",
        ("tests/faults/test_fork_and_pickle.py",),
    ),
    Fault(
        15,
        "Ctrl-C",
        "a search ends at once, training saves and ends with 130; nobody is left behind",
        ("tests/faults/test_ctrl_c.py", "tests/search/test_faults.py", KILLS),
    ),
    Fault(
        16,
        "malformed UCI",
        "no crash, no hang, `isready` within a second, end of input ends it",
        ("tests/uci/test_uci_process.py", "tests/faults/test_fuzz_texts.py"),
        (f"tools/uci_fuzz.py --lines 10000 --weights {CHESS} --json",),
    ),
    Fault(
        17,
        "UCI conformance",
        "no illegal move, no stall, no loss on time",
        ("tests/uci/test_uci_protocol.py", "tests/uci/test_uci_golden.py"),
        (f"tools/uci_conformance.py --weights {CHESS} --json", SELF_GAMES),
        "fastchess is not among the tools of the checkout; its 40 steps are",
    ),
    Fault(
        18,
        "time",
        "movetime at most 20 ms and a batch late; stop answered within 50 ms; nodes exact",
        ("tests/uci/test_uci_limits.py",),
        (f"tools/uci_timing.py --weights {CHESS} --nodes 0 --json",),
    ),
    Fault(
        19,
        "malformed FEN",
        "accepted exactly when python-chess does",
        ("tests/games/test_chess_differential.py", "tests/faults/test_fen_speed.py"),
    ),
    Fault(
        20,
        "rules",
        "no difference to the references",
        ("tests/games", "tests/property/test_all_games.py"),
        short="no syzygy tables are at hand; checkers meets OpenSpiel in 1,000 games",
    ),
    Fault(
        21,
        "damaged PGN and EPD",
        "a sentence, quickly",
        ("tests/faults/test_damaged_files.py", "tests/faults/test_fuzz_files.py"),
    ),
    Fault(
        22,
        "bad input to the page",
        "a reason, never a fault of the server",
        ("tests/web/test_web_faults.py", "tests/web/test_protocol.py"),
    ),
    Fault(
        23,
        "a thousand requests at once",
        "all answered; searches beyond the room are told when to come again",
        (CROWD,),
        ("benchmarks/web.py --json",),
    ),
    Fault(
        24,
        "a flood over WebSockets",
        "flooders are closed, viewers lose nothing",
        tuple(f"{WEB}::{name}" for name in FLOODS),
        short="200 viewers: see row 23",
    ),
    Fault(
        25,
        "endlessly many games on the page",
        "the oldest are forgotten, memory is bounded",
        (f"{WEB}::test_games_are_forgotten_the_oldest_first",),
        short="100,000 games: see row 23",
    ),
    Fault(
        26,
        "paths out of the page's files",
        "none",
        tuple(f"{WEB}::{name}" for name in WAYS_OUT),
    ),
    Fault(
        27,
        "other sites' requests, names and scripts",
        "refused, or shown as text",
        (
            "tests/web/test_guard.py",
            "tests/web/test_report.py",
            "tests/web/test_play_browser.py::test_hostile_text_is_shown_as_text",
            "tests/web/test_training_browser.py::test_runs_are_listed_and_a_hostile_name_is_only_a_name",
        ),
    ),
    Fault(
        28,
        "code in files: pickles, Python files, programs",
        "never run",
        (
            "tests/faults/test_supply_chain.py",
            "tests/network/test_bad_files.py",
            "tests/runs/test_trust.py",
        ),
    ),
    Fault(
        29,
        "bombs: packed files without end, headers of any size",
        "refused at once, with little memory",
        (
            "tests/network/test_bad_files.py",
            "tests/network/test_bad_safetensors.py",
            "tests/faults/test_damaged_files.py",
            "tests/faults/test_special_files.py",
        ),
    ),
    Fault(
        30,
        "a process of a cluster is killed (kill -9): an actor in mid-call, the driver",
        "no finished game lost, none twice; the same command goes on",
        (f"{DEATHS}[actor]", f"{DEATHS}[driver]"),
    ),
    Fault(
        31,
        "a machine of a cluster dies, or stands still",
        "noticed within 5 s, its work goes elsewhere, no finished game lost, none twice",
        (f"{DEATHS}[node]", f"{DEATHS}[still]"),
    ),
    Fault(
        32,
        "the head of a cluster dies",
        "started again, the same command goes on within 30 s from the run's directory",
        (f"{DEATHS}[head]",),
    ),
    Fault(
        33,
        "a machine with a wrong token or version",
        "refused in one line",
        (
            "tests/cluster/test_cluster_refusals.py",
            "tests/cluster/test_local_cluster.py::"
            "test_a_node_of_another_version_is_refused_in_one_line",
        ),
    ),
    Fault(
        34,
        "engines that crash, stall, cheat, flood",
        "each has its own label, the match goes on",
        ("tests/matches/test_engines.py", "tests/faults/test_small_defects.py"),
    ),
    Fault(
        35,
        "soak",
        "memory and open files stay the same",
        programs=(
            "tools/loop_soak.py --minutes 60 --json",
            "tools/soak.py --minutes 10 --json",
            f"tools/uci_soak.py --games 10000 --weights {CHESS} --json",
            "tools/memory_limit.py --json",
        ),
    ),
    Fault(
        36,
        "a page with a million points and a thousand runs",
        "first paint within 2 s",
        ("tests/web/test_training.py",),
        ("benchmarks/web_training.py",),
    ),
)
