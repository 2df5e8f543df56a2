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
AGAIN = f"{KILLS}::test_a_run_that_is_killed_again_and_again_loses_nothing"
HUNG = "tests/faults/test_hung_worker.py"
SMALL = "tests/faults/test_small_defects.py"
SHARD = "tests/replay/test_shard.py"
WRITING = "tests/replay/test_shard_writing.py"
DAMAGE = "tests/checkpoint/test_checkpoint_damage.py"
STORE = "tests/checkpoint/test_checkpoint_store.py"
WORKER = "tests/selfplay/test_worker.py"
GUARD = "tests/web/test_guard.py"
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
        "no damaged shard, no game twice, a worker is back within 2 s, 95 % of speed after 10 s",
        (
            f"{KILLS}::test_workers_of_a_killed_loop_end_by_themselves_before_the_run_goes_on",
            f"{AGAIN}[arguments1]",
            f"{AGAIN}[arguments2]",
            HUNG,
        ),
        ("tools/kill_loop.py --kills 50 --json", "tools/kill_recovery.py --kills 4 --json"),
    ),
    Fault(
        2,
        "a crash at any byte of a shard",
        "every prefix, and what a kill at any call leaves, is ignored or whole",
        (
            "tests/replay/test_every_prefix.py",
            f"{SHARD}::test_a_thousand_truncations_are_all_detected",
            f"{SHARD}::test_a_writer_killed_before_the_rename_leaves_no_shard",
            f"{SHARD}::test_a_write_that_ends_halfway_leaves_nothing",
            f"{WRITING}::test_a_kill_at_any_call_leaves_the_shard_whole_or_not_there",
            f"{DAMAGE}::test_every_prefix_and_every_bit_of_a_manifest_counts",
        ),
    ),
    Fault(
        3,
        "loss of power",
        "write, fsync, rename, fsync of the directory, in this order; what it costs is known",
        (
            f"{WRITING}::test_the_system_sees_write_fsync_rename_fsync_in_this_order",
            f"{WRITING}::test_what_it_costs_that_a_shard_lasts_is_measured",
            f"{SMALL}::test_a_file_and_then_its_name_are_synchronised",
            f"{STORE}::test_files_are_on_the_disk_before_the_name_and_the_manifest_is_last",
        ),
    ),
    Fault(
        4,
        "the disk is full",
        "nothing half written, one message, the run goes on within 10 s when there is room",
        (
            "tests/faults/test_full_disk.py",
            f"{WORKER}::test_a_full_disk_is_waited_for",
            f"{WORKER}::test_a_worker_that_waits_for_space_ends_with_its_loop",
            f"{WORKER}::test_an_end_that_comes_after_another_order_is_heard_on_a_full_disk",
            f"{SHARD}::test_a_failed_write_leaves_one_sentence_and_no_file",
            f"{STORE}::test_a_full_disk_is_one_sentence_and_loses_nothing",
            f"{STORE}::test_a_replacement_that_cannot_be_named_leaves_the_old_one",
            f"{SMALL}::test_events_are_written_again_after_a_full_disk",
            "tests/train/test_train_metrics.py::"
            "test_a_line_that_does_not_fit_on_the_disk_leaves_no_trace",
        ),
    ),
    Fault(
        5,
        "damaged shards",
        "all detected before a row reaches the trainer, set aside; training goes on",
        (
            f"{SHARD}::test_a_thousand_turned_bits_are_all_detected",
            f"{SHARD}::test_a_thousand_truncations_are_all_detected",
            "tests/replay/test_bad_shards.py",
            "tests/replay/test_replay_store.py",
        ),
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
        (
            DAMAGE,
            f"{STORE}::test_a_damaged_checkpoint_falls_back_to_the_previous_and_both_are_named",
            f"{STORE}::test_when_all_are_damaged_it_is_said_and_nothing_is_removed",
            f"{STORE}::test_the_newest_few_are_kept_and_every_so_manieth",
            f"{STORE}::test_a_checkpoint_under_another_number_or_of_another_format_is_refused",
        ),
    ),
    Fault(
        8,
        "the trainer is killed (kill -9)",
        "the newest checkpoint loads; no temporary files after the restart",
        (
            f"{STORE}::test_a_kill_at_any_point_of_a_save_leaves_whole_checkpoints_only",
            f"{STORE}::test_opening_to_write_removes_leftovers_and_opening_to_read_does_not",
        ),
        ("tools/kill_loop.py --kills 30 --workers 1 --json",),
    ),
    Fault(
        9,
        "resumed equals uninterrupted",
        "weights, optimiser, chance and games under way are the same, bit for bit",
        (
            "tests/loop/test_loop.py::test_the_same_seed_gives_the_same_run_bit_for_bit",
            "tests/loop/test_loop.py::test_a_run_killed_at_any_stage_ends_like_one_that_was_not",
            "tests/loop/test_loop.py::test_a_killed_worker_is_replaced_and_changes_nothing",
            f"{AGAIN}[arguments0]",
        ),
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
        "nothing of it in the tree, no game stored, a legal move within 100 ms all the same",
        (
            "tests/search/test_faults.py::test_a_fault_is_one_clear_error_and_leaves_a_good_tree",
            "tests/faults/test_bad_networks.py",
            f"{WORKER}::test_games_of_a_network_that_breaks_are_not_stored",
            "tests/network/test_bad_files.py::test_weights_that_are_not_finite_are_refused",
            "tests/uci/test_uci_engine.py::"
            "test_a_failing_evaluator_costs_one_error_line_and_no_bestmove",
        ),
    ),
    Fault(
        12,
        "an evaluator raises or hangs",
        "its error comes out, threads end, memory stays within 1 MiB after 1,000 faults",
        (
            "tests/search/test_faults.py::test_a_fault_is_one_clear_error_and_leaves_a_good_tree",
            "tests/search/test_faults.py::test_a_thousand_faults_leak_nothing",
            "tests/search/test_faults.py::test_a_fault_among_many_boards_is_raised_too",
            "tests/faults/test_bad_networks.py",
            HUNG,
            "tests/faults/test_watchdog.py",
        ),
        short="a network that does not answer is said after 30 s, not 5: compiling one takes long",
    ),
    Fault(
        13,
        "memory errors and races in the core",
        "no report of ASan, UBSan, TSan",
        programs=("tools/sanitize.py --json", "tools/fuzz.py --jobs 2 --json"),
        short="fuzzing found one fault, in Python: a puzzle row without a FEN, mended, then 18,017 "
        "inputs more without one",
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
        "a search ends within 200 ms, training saves and ends within 10 s; nobody is left",
        (
            "tests/faults/test_ctrl_c.py",
            "tests/search/test_faults.py::test_ctrl_c_interrupts_a_search_within_a_second",
            f"{KILLS}::test_ctrl_c_ends_the_loop_and_its_workers_and_the_run_goes_on",
            HUNG,
            "tests/cli/test_cli.py::test_ctrl_c_ends_a_long_count_with_130",
        ),
        short="the driver of a cluster: rows 30 and 32",
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
        short="lists of perft and the tables of four men lie outside the checkout",
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
        (
            WEB,
            "tests/web/test_protocol.py",
            f"{GUARD}::test_a_body_of_ten_megabytes_is_refused_whether_or_not_it_says_its_length",
        ),
    ),
    Fault(
        23,
        "a thousand requests at once",
        "all answered; searches beyond the room are told when to come again",
        (CROWD, f"{WEB}::test_searches_beyond_the_room_are_told_when_to_come_again"),
        ("benchmarks/web.py --only crowd --json",),
    ),
    Fault(
        24,
        "a flood over WebSockets",
        "flooders are closed, 200 viewers lose nothing, a slow one gets the latest",
        tuple(f"{WEB}::{name}" for name in FLOODS),
        ("benchmarks/web.py --only viewers --json",),
    ),
    Fault(
        25,
        "endlessly many games on the page",
        "the oldest are forgotten, memory is bounded",
        (f"{WEB}::test_games_are_forgotten_the_oldest_first",),
        ("benchmarks/web.py --only games --json",),
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
        "refused within 2 s and 200 MiB",
        (
            "tests/network/test_bombs.py",
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
        short="the loop of the hour's soak grew by 14 % in its last life, by its iterations; part "
        "of it are the headers of all shards, the rest was not found (docs/log.md says what it is "
        "not); "
        "its four games twice are alike by chance, by their numbers none of 119,806 is",
    ),
    Fault(
        36,
        "a page with a million points and a thousand runs",
        "first paint within 2 s",
        ("tests/web/test_training.py",),
        ("benchmarks/web_training.py",),
    ),
)
