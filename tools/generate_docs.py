"""Writes the generated parts of the documents: option tables, the layers and the folder tree.

Usage: python tools/generate_docs.py [--check]

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`. With `--check` nothing is
written; stale documents are named and the exit code is 1.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PART = re.compile(
    r"(?P<open><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<close><!-- end -->)", re.DOTALL
)
# What the tree shows: the files of these folders with the first sentence of each, ...
FILES = ("cpp", "src/zermelo")
# ... and only the folders in these.
FOLDERS = ("tests", "tools", "benchmarks", "examples", "docs")
OPENING = {".py": re.compile(r'\A"""(.+?)(?:\n\n|""")', re.DOTALL)}
OPENING |= dict.fromkeys((".hpp", ".cpp"), re.compile(r"\A// ((?:.+\n//)*.+)"))


def search_options() -> str:
    """One row per option, as `SearchOptions.table()` has it."""
    from zermelo.search import SearchOptions

    return option_rows(SearchOptions.table())


def section_options(section: str) -> str:
    """The options of a run file's section."""
    from zermelo.config.sections import rows_of

    return option_rows(rows_of(section))


def option_rows(rows: Iterable[dict[str, Any]]) -> str:
    """One row per option."""
    lines = ["| option | default | range | AlphaZero | id | effect |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = [f"`{row['name']}`", value_text(row["default"]), range_text(row)]
        cells += [row["alphazero"] or "-", row["technique"] or "-", row["doc"]]
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
    if isinstance(row["default"], str):
        return "text"
    return f"{row['low']:g} to {row['high']:g}"


def web_messages() -> str:
    """Requests, replies and events of the web page."""
    from typing import get_args

    from zermelo.web import messages

    lines = ["| message | sent by | meaning |", "|---|---|---|"]
    requests, answers = get_args(get_args(messages.Request)[0]), get_args(messages.Answer)
    for sender, models in (("page", requests), ("server", answers)):
        for model in models:
            name = get_args(model.model_fields["type"].annotation)[0]
            meaning = " ".join((model.__doc__ or "").split())
            lines.append(f"| `{name}` | {sender} | {meaning} |")
    return "\n".join(lines)


def games() -> str:
    """The games with what can be set in them."""
    from zermelo.games.registry import game_entries

    lines = ["| game | what it is | settings |", "|---|---|---|"]
    for entry in game_entries():
        settings = [f"`{s.name}={s.default_text()}` ({s.allowed()})" for s in entry.settings]
        lines.append(f"| `{entry.name}` | {entry.summary} | {', '.join(settings)} |")
    return "\n".join(lines)


def shard_columns() -> str:
    """The columns of shards as `Samples` and `GameRecords` declare them."""
    from zermelo.replay.header import ALL_COLUMNS

    letters = {"samples": "N", "entries": "E", "records": "G", "moves": "A"}
    lines = ["| column | type | shape | since | meaning | rule |", "|---|---|---|---|---|---|"]
    for name, one in ALL_COLUMNS.items():
        dtype, shape = one.dtype.replace("|", r"\|"), letters[one.per] + ", W" * one.wide
        lines.append(
            f"| `{name}` | `{dtype}` | [{shape}] | {one.since} | {one.says} | {one.must} |"
        )
    return "\n".join(lines)


def layers() -> str:
    """Those of `pyproject.toml` that exist, from the top down."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    rows = [re.findall(r"\w+", row) for row in tools["importlinter"]["contracts"][0]["layers"]]
    there = {path.stem for path in (ROOT / "src" / "zermelo").iterdir()}
    found = [" | ".join(name for name in row if name in there) for row in rows]
    return "- Python: " + " > ".join(f"`{row}`" for row in found if row)


def tree() -> str:
    """Folders and files with the first sentence of each file."""
    lines = ["```"]
    for top in FILES:
        lines.append(f"{top}/")
        for folder in folders(ROOT / top):
            depth = len(folder.relative_to(ROOT / top).parts)
            if depth:
                lines.append(f"{'  ' * depth}{folder.name}/")
            indent = "  " * (depth + 1)
            lines += [f"{indent}{path.name:<24} {summary(path)}" for path in sources(folder)]
    for top in FOLDERS:
        inside = [f.name for f in folders(ROOT / top) if f.parent == ROOT / top]
        lines.append(f"{top + '/':<26} {'  '.join(name + '/' for name in inside)}".rstrip())
    return "\n".join([*lines, "```"])


def folders(top: Path) -> list[Path]:
    """`top` and the folders below it, each before what it contains."""
    found = [top]
    for folder in sorted(path for path in top.iterdir() if path.is_dir()):
        if any(path.is_file() for path in folder.rglob("*")) and folder.name != "__pycache__":
            found += folders(folder)
    return found


def sources(folder: Path) -> list[Path]:
    """The files that say what they own; not tests of the core, there is one per header."""
    kinds = (path for path in folder.iterdir() if path.suffix in OPENING)
    kept = (path for path in kinds if path.name != "__init__.py" and summary(path))
    return [] if "tests" in folder.relative_to(ROOT).parts else sorted(kept)


def summary(path: Path) -> str:
    """The first sentence of a file's opening comment, up to a colon."""
    found = OPENING[path.suffix].search(path.read_text())
    if found is None:
        return ""
    text = re.sub(r"\n(?:// ?)?", " ", found[1])
    # A command's or class's name is the file's; numbers of techniques say nothing here.
    text = re.sub(r"^(?:`[^`]+`|[A-Z]\d+(?:, [A-Z]\d+)*): ", "", text)
    return re.split(r"(?<=[\w)`])[.:](?: |$)", text)[0]


def my_game() -> str:
    """The whole of the example."""
    return f"```python\n{(ROOT / 'examples' / 'my_game.py').read_text().rstrip()}\n```"


def reference_select() -> str:
    """The function of the reference that is the formula."""
    text = (ROOT / "src/zermelo/reference/puct.py").read_text()
    begin = text.index("def select(")
    return f"```python\n{text[begin : text.index(chr(10) * 3, begin)]}\n```"


def uci_options() -> str:
    """What a chess program can set."""
    from zermelo.uci.options import uci_option_table

    return uci_option_table()


def techniques() -> str:
    """What the short ids mean, with options, tests and files."""
    from technique_index import table

    return table()


def mutants() -> str:
    """How each technique is broken on purpose, to prove its tests."""
    from mutants import table

    return table()


def evidence() -> str:
    """What was measured of each technique, and what was not yet."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from evidence import table

    return str(table())


PARTS: dict[str, Callable[[], str]] = {
    "mutants": mutants,
    "techniques": techniques,
    "evidence": evidence,
    "search-options": search_options,
    "games": games,
    "my-game": my_game,
    "reference-select": reference_select,
    "shard-columns": shard_columns,
    "layers": layers,
    "tree": tree,
    "uci-options": uci_options,
    "web-messages": web_messages,
}
for _section in ("network", "selfplay", "replay", "train", "loop", "evaluate", "cluster"):
    PARTS[f"run-{_section}"] = partial(section_options, _section)


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
