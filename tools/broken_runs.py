"""Makes runs that are broken on purpose and healthy ones, and holds `zermelo doctor` to them.

Usage: python tools/broken_runs.py DIRECTORY [--quick] [--only NAME ...]

Each run is a real one: games, shards, training, checkpoints. The first thing that the doctor finds
in a broken run must be its fault; in a healthy one it must find nothing, by enough checks. Prints
one line per run; exits with 1 if a verdict is wrong. Runs that are already there are diagnosed
again; one that was left half made is made anew.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.config import RunConfig, find_preset, read_run_file
from zermelo.config.run_config import merged
from zermelo.doctor.diagnose import Finding, diagnose, ill, known
from zermelo.loop.cycle import Loop
from zermelo.loop.stop import Stop
from zermelo.loop.view import PlainView
from zermelo.replay import Samples, ShardHeader, read_shard, write_shard
from zermelo.runs.directory import Run, is_run
from zermelo.train import read_metrics

Tables = dict[str, dict[str, Any]]
Spoil = Callable[[Samples, np.random.Generator], Samples]

# What can be said of every healthy run, the shortest too.
JUDGED = {
    "learning rate", "learning", "value sign", "simulations", "repetition", "unique games",
    "diversity", "endings", "draws",
}  # fmt: skip
# As the presets have it, but for fewer, shorter and tamer openings.
GUMBEL: Tables = {
    "search": {"gumbel": True, "gumbel_scale": 0.3, "fpu": "reduced"},
    "selfplay": {"end_when_proven": True, "opening_share": 0.7, "opening_plies": 12,
                 "opening_temperature": 2.0},
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A run to make, and the check that must be the first to find it ill; empty: it is healthy."""

    name: str
    fault: str = ""
    twins: tuple[str, ...] = ()  # checks that may come first, since they see the same fault
    game: str = "connect4"
    preset: str = ""  # its options as they are, but for the number of iterations
    tables: Tables = dataclasses.field(default_factory=dict)
    train: dict[str, Any] = dataclasses.field(default_factory=dict)  # past what options allow
    spoil: Spoil | None = None  # changes new samples before they are learned from


def shuffle_policies(samples: Samples, rng: np.random.Generator) -> Samples:
    """The shares of every policy target, given to other actions."""
    shares = samples.policy_shares.copy()
    for start, count in zip(samples.starts(), samples.policy_counts, strict=True):
        rng.shuffle(shares[start : start + count])
    return dataclasses.replace(samples, policy_shares=shares)


def flip_results(samples: Samples, rng: np.random.Generator) -> Samples:  # noqa: ARG001
    """Wins become losses."""
    return dataclasses.replace(samples, results=-samples.results)


def flip_results_and_values(samples: Samples, rng: np.random.Generator) -> Samples:
    """The same, and the search's values too, so that they still agree with the results."""
    return dataclasses.replace(flip_results(samples, rng), values=-samples.values)


CASES = (
    Case("healthy-connect4"),
    Case("healthy-tictactoe", game="tictactoe"),
    # Games of thirty moves: fewer samples are too few games to judge.
    Case(
        "healthy-othello6",
        game="othello?size=6",
        tables={"loop": {"samples_per_iteration": 2500}},
    ),
    Case("preset-tictactoe", preset="tictactoe"),
    Case("preset-connect4", preset="connect4"),
    Case("learning-rate-0", "learning", ("learning rate",), train={"learning_rate": 0.0}),
    Case("policies-shuffled", "policy targets", spoil=shuffle_policies),
    Case("gumbel-shuffled", "policy targets", tables=GUMBEL, spoil=shuffle_policies),
    Case("value-flipped", "value sign", spoil=flip_results),
    Case("value-flipped-all", "value sign", spoil=flip_results_and_values),
    Case(
        "no-noise",
        "diversity",
        ("unique games",),
        tables={
            "search": {"dirichlet_epsilon": 0.0},
            "selfplay": {"temperature_start": 0.0, "temperature_end": 0.0},
        },
    ),
    Case("window-1", "window", tables={"replay": {"window_start": 1, "window_max": 1}}),
    Case(
        "resign-0",
        "resignation",
        tables={"selfplay": {"resign_calibrated": False, "resign_threshold": 0.0}},
    ),
    # Targets of two visits are mostly chance.
    Case(
        "simulations-2",
        "simulations",
        ("policy targets",),
        tables={"selfplay": {"simulations": 2}},
    ),
    Case("ten-passes", "repetition", train={"passes": 10}),
)


def base_tables(case: Case, quick: bool) -> Tables:
    """Small but complete: the size at which a few iterations take seconds, or a few minutes."""
    samples, iterations = (600, 4) if quick else (2500, 10)
    if case.preset:
        file = find_preset(case.preset)
        assert file is not None, case.preset
        return merged(read_run_file(file)[1], {"loop": {"iterations": iterations // 2}})
    small = case.game == "tictactoe"
    return {
        "game": {"name": case.game},
        "network": {"blocks": 1 if quick else 2, "filters": 16 if quick or small else 24,
                    "policy_filters": 8, "value_filters": 8, "value_hidden": 32},
        "search": {"cache_mib": 16, "batch": 32, "dirichlet_alpha": 0.0},
        "selfplay": {"games": 32, "simulations": 32 if quick else 48, "workers": 1,
                     "full_search_probability": 1.0, "backend": "openvino", "precision": "f32",
                     "temperature_plies": 9 if small else 24, "progressive_fraction": 0.0},
        "replay": {"window_start": 4, "window_max": 8, "window_growth": 8, "holdout": 0.1,
                   "shard_samples": 2000},
        "train": {"batch": 64, "threads": 1, "learning_rate": 0.005, "value_blend_ramp": 0.0},
        "loop": {"samples_per_iteration": samples, "iterations": iterations, "seed": 1},
    }  # fmt: skip


class SpoiltLoop(Loop):
    """A loop in which something changes the samples between self-play and training."""

    spoil: Spoil | None = None

    def fill_window(self) -> None:
        """First spoils the shards of this iteration."""
        if self.spoil is not None:
            for path in sorted(self.run_directory.replay.glob(f"it{self.iteration:06d}-*.zshard")):
                rewrite(path, self.spoil)
        super().fill_window()


def rewrite(path: Path, spoil: Spoil) -> None:
    """A shard with other samples in the same place."""
    shard = read_shard(path)
    samples = spoil(shard.samples, np.random.default_rng(shard.header.number))
    header = shard.header
    write_shard(
        path,
        samples,
        ShardHeader.of(
            header.schema,
            samples,
            iteration=header.iteration,
            worker=header.worker,
            number=header.number,
            statistics=header.statistics,
        ),
    )


def make_run(path: Path, case: Case, quick: bool) -> Path:
    """The run of a case, from nothing."""
    config = RunConfig.from_tables(merged(base_tables(case, quick), case.tables))
    run = Run.create(path, config)
    # Learning rates of 0 and ten passes are refused by the options, so they are set behind them.
    run.config = dataclasses.replace(config, train=dataclasses.replace(config.train, **case.train))
    try:
        loop = SpoiltLoop(run, Stop(), PlainView(io.StringIO()))
        loop.spoil = case.spoil
        loop.run()
    finally:
        run.unlock()
    return path


def is_finished(path: Path) -> bool:
    """Whether all iterations of a run are done: Ctrl-C may have left it half made."""
    if not is_run(path):
        return False
    run = Run.open(path)
    done = (int(entry["iteration"]) for entry in read_metrics(run.metrics))
    return max(done, default=0) >= run.config.loop.iterations


def complaint(case: Case, findings: Sequence[Finding]) -> str:
    """What is wrong with the doctor's verdict; empty if nothing is."""
    named = [finding.check for finding in ill(findings)]
    if case.fault:
        causes = (case.fault, *case.twins)
        return "" if case.fault in named and named[0] in causes else f"it has {case.fault}"
    missing = JUDGED - {finding.check for finding in known(findings)}
    if named or missing:
        return f"it is healthy; not judged: {', '.join(sorted(missing)) or 'nothing'}"
    return ""


def main() -> int:
    """Makes and judges them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes each")
    parser.add_argument("--only", nargs="*", help="names of cases")
    chosen = parser.parse_args()
    names = [case.name for case in CASES]
    for name in chosen.only or ():
        if name not in names:
            parser.error(f"there is no case '{name}'; there are {', '.join(names)}")
    wrong = 0
    for case in CASES:
        if chosen.only and case.name not in chosen.only:
            continue
        path = chosen.directory / case.name
        if not is_finished(path):
            if is_run(path):
                shutil.rmtree(path)
            make_run(path, case, chosen.quick)
        findings = diagnose(path)
        fault = complaint(case, findings)
        wrong += bool(fault)
        verdict = f"WRONG ({fault})" if fault else "right"
        named = ", ".join(finding.check for finding in ill(findings))
        print(f"{case.name:20} {verdict}: {named or 'nothing found'}", flush=True)
        for finding in ill(findings):
            print(f"    {finding.sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
