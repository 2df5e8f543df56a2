"""Writes the generated parts of the documents: option tables and the folder tree.

Usage: python tools/generate_docs.py [--check]

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`. With `--check` nothing is
written; stale documents are named and the exit code is 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PART = re.compile(
    r"(?P<open><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<close><!-- end -->)", re.DOTALL
)
# What the tree shows: these folders, and one line about each file from its first comment.
TREES = ("cpp", "src/zermelo", "tests", "tools", "benchmarks", "examples", "docs")
OPENING = {".py": re.compile(r'\A(?:#![^\n]*\n)?"""(.+?)(?:\n|""")'), ".md": re.compile(r"\A# (.+)")}
OPENING |= dict.fromkeys((".hpp", ".cpp"), re.compile(r"\A// (.+)"))


def search_options() -> str:
    """One row per option, as `SearchOptions.table()` has it."""
    from zermelo.search import SearchOptions

    lines = ["| option | default | range | AlphaZero | id | effect |", "|---|---|---|---|---|---|"]
    for row in SearchOptions.table():
        cells = [f"`{row['name']}`", value_text(row["default"]), range_text(row)]
        cells += [row["alphazero"], row["technique"], row["doc"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def value_text(value: Any) -> str:
    """As it would be typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def range_text(row: dict[str, Any]) -> str:
    """What may be set."""
    if row["choices"]:
        return ", ".join(row["choices"])
    if isinstance(row["default"], bool):
        return "on, off"
    return f"{row['low']:g} to {row['high']:g}"


def games() -> str:
    """The games with what can be set in them."""
    from zermelo.games.registry import game_entries

    lines = ["| game | what it is | settings |", "|---|---|---|"]
    for entry in game_entries():
        settings = [f"`{s.name}={s.default_text()}` ({s.allowed()})" for s in entry.settings]
        lines.append(f"| `{entry.name}` | {entry.summary} | {', '.join(settings)} |")
    return "\n".join(lines)


def tree() -> str:
    """Folders and files with the first sentence of each file."""
    lines = ["```"]
    for top in TREES:
        lines.append(f"{top}/")
        listed = [Path(name) for name in tracked(top)]
        shown: set[Path] = set()
        for path in sorted(listed, key=lambda p: (p.parent.parts, p.name)):
            inside = path.relative_to(top)
            for depth, folder in enumerate(reversed(inside.parents[:-1]), start=1):
                if folder not in shown:
                    lines.append(f"{'  ' * depth}{folder.name}/")
                    shown.add(folder)
            indent = "  " * len(inside.parts)
            lines.append(f"{indent}{path.name:<24} {summary(ROOT / path)}".rstrip())
    return "\n".join([*lines, "```"])


def tracked(top: str) -> list[str]:
    """Source files that git knows or would add; the tree says nothing of data files."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", top]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = set(found.stdout.split())
    return [n for n in names if Path(n).suffix in OPENING and (ROOT / n).is_file()]


def summary(path: Path) -> str:
    """The first line of a file's opening comment, up to the end of its first sentence."""
    if path.name == "__init__.py":
        return ""
    found = OPENING[path.suffix].search(path.read_text())
    return re.split(r"(?<=[a-z)`])[.:](?: |$)", found[1])[0] if found else ""


PARTS: dict[str, Callable[[], str]] = {
    "search-options": search_options,
    "games": games,
    "tree": tree,
}


def fill(text: str) -> str:
    """The document with all its generated parts as they should be."""

    def part(found: re.Match[str]) -> str:
        return f"{found['open']}{PARTS[found['name']]()}\n{found['close']}"

    return PART.sub(part, text)


def main() -> int:
    """Writes, or checks."""
    stale = []
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        before = path.read_text()
        after = fill(before)
        if after != before:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(after)
    for name in stale:
        print(f"{name} {'is stale: run make docs' if '--check' in sys.argv else 'written'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
