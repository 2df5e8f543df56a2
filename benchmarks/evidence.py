"""Measures rows of docs/evidence.md and keeps what was found.

Usage: python benchmarks/evidence.py --list
       python benchmarks/evidence.py --only ROW [ROW ...] --work DIR [--processes 2] [--again]

A row is named in benchmarks/evidence_rows.py, or by its technique. Games and runs go to DIR, and a
row that was broken off goes on there. What is finished is a line of docs/evidence.jsonl, from which
`make docs` writes the table; it is not measured again without `--again`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from evidence_rows import PLAYERS, ROWS, Learning, Match, Row, Tested

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "evidence.jsonl"
NETWORKS = ROOT / "src" / "zermelo" / "data" / "networks"
FIGURES = ("games", "wins", "draws", "losses", "score", "elo", "elo_low", "elo_high", "los")


def kept(path: Path = KEPT) -> dict[str, dict[str, Any]]:
    """The newest line of each row."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return {line["row"]: line for line in lines}


def keep(line: dict[str, Any], path: Path = KEPT) -> None:
    """Adds it at the end."""
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def chosen_rows(names: list[str]) -> list[Row]:
    """By name or technique; refuses others."""
    found = [row for row in ROWS if row.name in names or row.technique in names]
    known = {row.name for row in ROWS} | {row.technique for row in ROWS}
    if unknown := sorted(set(names) - known):
        sys.exit(f"there is no row {', '.join(unknown)}; --list shows them")
    return found


# --- measuring ------------------------------------------------------------------------------------


def zermelo(*arguments: str) -> str:
    """What a command prints; it raises if the command fails."""
    command = [sys.executable, "-m", "zermelo", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def play(row: Match, work: Path) -> dict[str, Any]:
    """The match; what is finished of it stays in `work`."""
    arguments = row.command[1:]
    network = PLAYERS[row.game]
    arguments = [part.replace(network, str(NETWORKS / network)) for part in arguments]
    result = json.loads(zermelo(*arguments, "--out", str(work / row.name), "--json"))
    return {key: result[key] for key in FIGURES}


def learn(row: Learning, work: Path) -> dict[str, Any]:
    """Runs for each seed and side; matches of pairs with one seed, added up."""
    counts = {"wins": 0, "draws": 0, "losses": 0}
    for seed in range(row.seeds):
        runs = [_trained(row, work, side, seed) for side in ("ours", "theirs")]
        players = [f"{run}?simulations={row.simulations}" for run in runs]
        out = work / row.name / f"match{seed}"
        result = json.loads(
            zermelo("match", *players, "--games", str(row.games), "--out", str(out), "--json")
        )
        for key in counts:
            counts[key] += result[key]
    from zermelo.statistics import Score

    found = Score(**counts).to_dict()
    return {key: found[key] for key in FIGURES}


def _trained(row: Learning, work: Path, side: str, seed: int) -> Path:
    """The run's directory. A run that was broken off begins again: its time is its budget."""
    run = work / row.name / f"{side}{seed}"
    done = run.with_suffix(".done")
    if not done.exists():
        subprocess.run(["rm", "-rf", str(run)], check=True)
        sets = [part for option in getattr(row, side) for part in ("--set", option)]
        zermelo(
            "train", row.game, "--run", str(run), "--for", f"{row.minutes}m", "--seed", str(seed),
            *sets,
        )  # fmt: skip
        done.touch()
    return run


def test(row: Tested) -> dict[str, Any]:
    """Runs the tests that are marked with the technique."""
    sys.path.insert(0, str(ROOT / "tools"))
    from technique_index import marked_tests

    names = dict.fromkeys(f"tests/{name}" for name in marked_tests(ROOT / "tests")[row.technique])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "", *names],
        cwd=ROOT, check=False, text=True, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, "pytest", done.stdout, done.stderr)
    return {"tests": done.stdout.splitlines()[-1]}


def measure(row: Row, work: Path) -> dict[str, Any]:
    """The line that is kept."""
    work.mkdir(parents=True, exist_ok=True)
    if isinstance(row, Match):
        found = play(row, work)
    elif isinstance(row, Learning):
        found = learn(row, work)
    else:
        found = test(row)
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.strip()  # fmt: skip
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"row": row.name, "technique": row.technique, "commit": commit, "day": day, **found}


# --- the table ------------------------------------------------------------------------------------


def command_text(row: Row) -> str:
    """What repeats the row."""
    return f"python benchmarks/evidence.py --only {row.name} --work DIR"


def compared(row: Row) -> str:
    """What against what, on which game."""
    if isinstance(row, Match):
        return f"{row.game}, {row.simulations} simulations: `{row.ours}` against `{row.theirs}`"
    if isinstance(row, Learning):
        ours, theirs = (" ".join(side) or "the preset" for side in (row.ours, row.theirs))
        return (
            f"{row.game}, {row.seeds} seeds of {row.minutes} minutes: `{ours}` against `{theirs}`"
        )
    return "its tests"


def found_text(row: Row, line: dict[str, Any] | None) -> str:
    """The result with its interval, or how to get it."""
    if line is None:
        return f"not measured yet: `{command_text(row)}`"
    if "tests" in line:
        return f"{line['tests']} ({line['day']}, {line['commit']})"
    return (
        f"+{line['wins']} -{line['losses']} ={line['draws']}, {line['elo']:+.1f} "
        f"[{line['elo_low']:+.1f}, {line['elo_high']:+.1f}] ({line['day']}, {line['commit']})"
    )


def table(path: Path = KEPT) -> str:
    """For docs/evidence.md: a line for every row, none of its cells empty."""
    lines = kept(path)
    rows = ["| row | id | what | the sources | found, Elo |", "|---|---|---|---|---|"]
    for row in ROWS:
        cells = (row.name, row.technique, compared(row), row.claim or "-")
        rows.append("| " + " | ".join((*cells, found_text(row, lines.get(row.name)))) + " |")
    return "\n".join(rows)


def main() -> int:
    """Lists or measures."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="show the rows and what is known")
    parser.add_argument("--only", nargs="+", metavar="ROW", default=[], help="rows or techniques")
    parser.add_argument("--work", type=Path, help="directory for games and runs")
    parser.add_argument("--processes", type=int, default=1, help="rows at once")
    parser.add_argument("--again", action="store_true", help="also rows that are known")
    arguments = parser.parse_args()
    lines = kept()
    if arguments.list:
        for row in ROWS:
            print(f"{row.name}: {found_text(row, lines.get(row.name))}")
        return 0
    if not arguments.only or arguments.work is None:
        parser.error("name rows by --only and a directory by --work, or ask for --list")
    rows = [r for r in chosen_rows(arguments.only) if arguments.again or r.name not in lines]
    failed = 0
    with ThreadPoolExecutor(max(1, arguments.processes)) as pool:
        tasks = {pool.submit(measure, row, arguments.work): row for row in rows}
        for task in as_completed(tasks):
            row = tasks[task]
            try:
                line = task.result()
            except subprocess.CalledProcessError as error:
                failed += 1
                said = shlex.join(error.cmd) if isinstance(error.cmd, list) else str(error.cmd)
                print(f"{row.name}: failed with {error.returncode}: {said}", file=sys.stderr)
                continue
            keep(line)
            print(f"{row.name}: {found_text(row, line)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
