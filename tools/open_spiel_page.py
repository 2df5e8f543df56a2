"""Writes docs/games/open_spiel.md: each OpenSpiel game by its name, and whether it passes `check`.

Usage: python tools/open_spiel_page.py [GAME...]

With names it checks those alone and prints the rows. Each game is checked in a process of its own,
since the rules are others' C++ and some random games are long.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "games" / "open_spiel.md"
GAMES, SECONDS = 2, 240  # random games of each, and how long they may take
SMALLER = {  # the same rules on a board that is checked sooner
    "cursor_go": "cursor_go(board_size=5,max_cursor_moves=10)",
    "go": "go(board_size=9)",
}
MARK = "<!-- written by tools/open_spiel_page.py -->\n"  # what follows it on the page is


def main(names: list[str]) -> int:
    """Exit code 1 if a game that should pass does not."""
    import pyspiel

    from zermelo.games.open_spiel import missing_property

    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    chosen = names or sorted(kinds)
    lacking = {name: _lacks(missing_property(pyspiel, kinds[name]), kinds[name]) for name in chosen}
    able = [name for name in chosen if not lacking[name]]
    with ThreadPoolExecutor(2) as pool:
        reports = dict(zip(able, pool.map(check, able), strict=True))
    passed = [row(name, kinds[name], reports[name]) for name in able if reports[name]["ok"]]
    failed = [f"| `{n}` | {reports[n]['why']} |" for n in able if not reports[n]["ok"]]
    refused = [f"| `{n}` | {why} |" for n, why in lacking.items() if why]
    table = "| game | name | planes x rows x columns | actions | longest random game | checked as |"
    parts = [f"## {len(passed)} games pass `zermelo check`\n", table, "|---|---|---|---|---|---|"]
    parts += passed
    if failed:
        parts += [f"\n## {len(failed)} games do not\n", "| game | why |", "|---|---|", *failed]
    parts += [
        f"\n## {len(refused)} games are refused\n",
        "| game | because |",
        "|---|---|",
        *refused,
    ]
    text = "\n".join(parts) + "\n"
    if names:
        print(text)
    else:
        before = PAGE.read_text().partition(MARK)[0]
        PAGE.write_text(f"{before}{MARK}\nWith OpenSpiel {_version()}:\n\n{text}")
        print(f"{PAGE.relative_to(ROOT)}: {len(passed)} pass, {len(failed)} fail")
    return bool(failed)


def check(name: str) -> dict[str, Any]:
    """What `zermelo check` says."""
    spec = f"open_spiel:{SMALLER.get(name, name)}"
    command = [sys.executable, "-m", "zermelo", "check", spec, "--games", str(GAMES), "--json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SECONDS, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"ok": False, "why": f"{GAMES} random games take more than {SECONDS} seconds"}
    if not done.stdout.startswith("{"):
        return {"ok": False, "why": " ".join(done.stderr.split())[-200:]}
    report: dict[str, Any] = json.loads(done.stdout)
    faults = [one for one in report["checks"] if not one["passed"]]
    shown = f"{faults[0]['name']}: {faults[0]['detail']}" if faults else ""
    return {"ok": not faults, "why": shown.replace("|", "/"), "report": report, "spec": spec}


def row(name: str, kind: Any, found: dict[str, Any]) -> str:
    """A game that passes."""
    from zermelo.games.registry import named_game

    rules = named_game(found["spec"])
    shape = " x ".join(str(extent) for extent in rules.observation_shape)
    longest = found["report"]["longest_game"]
    spec = found["spec"].removeprefix("open_spiel:")
    cells = (f"`{name}`", kind.long_name, shape, f"{rules.num_actions:,}", longest, f"`{spec}`")
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _lacks(why: str, kind: Any) -> str:
    if "game" in kind.parameter_specification:
        return "it is made of another game: name that one inside, as in `misere(game=nim())`"
    return why


def _version() -> str:
    from importlib.metadata import version

    return version("open-spiel")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
