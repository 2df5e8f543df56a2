"""Where each technique can be set, is tested and lives: the table of docs/techniques.md.

Usage: python tools/technique_index.py [TESTS]

Prints what is wrong (a technique without a test, an id that is no technique, a home that is not
there) and ends with 1 if there is anything. The tests say what they cover by
`@pytest.mark.technique("S4")`, or by `pytestmark` for a whole file; they are read, not run.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from techniques import GROUPS, TECHNIQUES

ROOT = Path(__file__).parents[1]
ID = re.compile(r"\b[SPTE]\d{1,2}\b")
SECTIONS = ("network", "selfplay", "replay", "train", "loop", "evaluate")
Places = dict[str, list[str]]


def marked_tests(tests: Path) -> Places:
    """By technique the tests that are marked with it, as `room/file.py::test`."""
    found: Places = defaultdict(list)
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text())
        name = path.relative_to(tests).as_posix()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                for technique in marks(node.decorator_list):
                    found[technique].append(f"{name}::{node.name}")
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                for technique in marks([node.value]):
                    found[technique].append(name)
    return found


def marks(nodes: list[ast.expr]) -> Iterator[str]:
    """The ids in calls of `pytest.mark.technique`."""
    calls = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call))
    for call in calls:
        if ast.unparse(call.func) == "pytest.mark.technique":
            yield from (str(ast.literal_eval(argument)) for argument in call.args)


def options() -> Places:
    """By technique the options that set it."""
    from zermelo.config.sections import rows_of
    from zermelo.search import SearchOptions

    found: Places = defaultdict(list)
    for row in SearchOptions.table():
        found[row["technique"]].append(f"`{row['name']}`")
    for section in SECTIONS:
        for row in rows_of(section):
            found[row["technique"]].append(f"`{section}.{row['name']}`")
    for none in ("", "-"):  # options that belong to no technique
        found.pop(none, None)
    return found


def files() -> Places:
    """By technique the sources whose comments name it; tests and option tables do not count."""
    found: Places = defaultdict(list)
    paths = [*(ROOT / "cpp").rglob("*.[ch]pp"), *(ROOT / "src").rglob("*.py")]
    for path in sorted(paths):
        if path.stem != "options" and "tests" not in path.relative_to(ROOT).parts:
            for technique in sorted(set(ID.findall(comments(path)))):
                found[technique].append(path.relative_to(ROOT).as_posix())
    return found


def comments(path: Path) -> str:
    """Comments, and in Python also the strings of three quotes."""
    text = path.read_text()
    if path.suffix != ".py":
        return "\n".join(re.findall(r"//.*", text))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(
        token.string
        for token in tokens
        if token.type == tokenize.COMMENT or token.string.startswith('"""')
    )


def faults(tests: Path) -> list[str]:
    """What is wrong, a sentence each."""
    marked, sources = marked_tests(tests), files()
    found = [f"{i} ({TECHNIQUES[i].name}) has no test" for i in TECHNIQUES if i not in marked]
    for kind, places in (("test", marked), ("option", options()), ("comment", sources)):
        found += [
            f"{i} is no technique: {kind} {where[0]}"
            for i, where in sorted(places.items())
            if i not in TECHNIQUES
        ]
    for i, technique in TECHNIQUES.items():
        if not technique.home and i not in sources:
            found.append(f"{i} has neither a home nor a comment that names it")
        elif not (ROOT / technique.home).exists():
            found.append(f"{i}: its home {technique.home} is not there")
    return found


def table() -> str:
    """All techniques by group."""
    marked, where, settings = marked_tests(ROOT / "tests"), files(), options()
    parts = []
    for letter, title in GROUPS.items():
        lines = [f"## {title}", ""]
        lines += [
            "| id | technique | options | tests | files | evidence |",
            "|---|---|---|---|---|---|",
        ]
        for i, technique in TECHNIQUES.items():
            if i.startswith(letter):
                places = [technique.home] if technique.home else []
                places += [
                    p for p in where.get(i, []) if not technique.home or technique.home not in p
                ]
                cells = [i, f"**{technique.name}.** {technique.definition}"]
                cells += [", ".join(settings.get(i, [])) or "-", test_links(marked.get(i, []))]
                cells += [", ".join(link(p) for p in places), technique.evidence or "tests"]
                lines.append("| " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def test_links(names: list[str]) -> str:
    """Each file of tests once."""
    files = dict.fromkeys(name.split("::")[0] for name in names)
    return ", ".join(link(f"tests/{file}") for file in files)


def link(path: str) -> str:
    """By its last two names."""
    return f"[{'/'.join(Path(path).parts[-2:])}](../{path})"


def main() -> int:
    """Prints what is wrong."""
    found = faults(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests")
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
