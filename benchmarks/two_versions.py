"""Two installed versions side by side: processor seconds of the same work, as a ratio.

Usage: python benchmarks/two_versions.py OTHER_PYTHON [--repeats 9] [--json FILE]

OTHER_PYTHON is the interpreter of another installation, of an earlier commit for example. Each
piece of work is done by a fresh process of either version, one after the other, again and again;
the figure is the median of the ratios of neighbours, ours over the other's: below 1 is faster. The
work is fixed (a number of simulations or samples with fixed seeds), so processor seconds compare
even on a machine that does other things. Both must find the same, or it says so.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

SEARCH = """
import json, time
import zermelo
from zermelo import _core
from zermelo.search import Search, SearchOptions
game = zermelo.game({game!r})
search = Search(game, _core.{evaluator}(), SearchOptions(seed=1))
search.run(game.initial(), simulations=1000)
started = time.process_time()
for round in range({rounds}):
    search.clear()
    result = search.run(game.initial(), simulations={simulations})
print(json.dumps([time.process_time() - started, result.visits.tolist()]))
"""
SELFPLAY = """
import json, time
import zermelo
from zermelo import _core
game = zermelo.game({game!r})
options = _core.SelfPlayOptions(seed=1, simulations=50)
runner = _core.make_selfplay(game, _core.{evaluator}(), _core.SearchOptions(seed=1), options, None)
runner.play({samples} // 10, 0.0, None)
started = time.process_time()
found = runner.play({samples}, 0.0, None)
print(json.dumps([time.process_time() - started, int(found["statistics"]["games"])]))
"""
WORK = {
    "search connect4": SEARCH.format(
        game="connect4", evaluator="HashEvaluator", rounds=5, simulations=400_000
    ),
    "search chess": SEARCH.format(
        game="chess", evaluator="HashEvaluator", rounds=5, simulations=200_000
    ),
    "self-play connect4": SELFPLAY.format(
        game="connect4", evaluator="HashEvaluator", samples=60_000
    ),
    "self-play chess": SELFPLAY.format(game="chess", evaluator="HashEvaluator", samples=12_000),
}


def run(python: str, script: str) -> tuple[float, Any]:
    """Processor seconds, and what was found."""
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    seconds, found = json.loads(done.stdout)
    return seconds, found


def compare(other: str, script: str, repeats: int) -> dict[str, Any]:
    """The median ratio, and the ratios."""
    ratios, same = [], True
    for number in range(repeats):
        sides = [sys.executable, other]
        answers = {python: run(python, script) for python in sides[:: 1 if number % 2 else -1]}
        ratios.append(answers[sys.executable][0] / answers[other][0])
        same = same and answers[sys.executable][1] == answers[other][1]
    return {"ratio": statistics.median(ratios), "ratios": ratios, "same_result": same}


def main() -> None:
    """Prints a line for each piece of work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", help="the other version's Python")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = {}
    for name, script in WORK.items():
        found[name] = compare(arguments.other, script, arguments.repeats)
        row = found[name]
        print(
            f"{name:20} {row['ratio']:.3f} of the other's seconds "
            f"({min(row['ratios']):.3f} to {max(row['ratios']):.3f})"
            f"{'' if row['same_result'] else ', but another result'}",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
