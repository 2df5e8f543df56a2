"""Refuses code that could run what a file says: pickles, eval, shells. Part of `make check`.

Looks at the names that the program really uses, not at comments and texts.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "yaml.load"}
CALLS |= {"torch.load", "tempfile.mktemp"}
ARGUMENTS = {"allow_pickle": True, "weights_only": False, "shell": True}
ALLOWED = {
    ("src/zermelo/games/python_file.py", "exec_module"),  # a person's own game: its business
    ("src/zermelo/testing/position.py", "imports pickle"),  # compares what states become; no load
}


def faults_of(source: str) -> Iterator[tuple[int, str]]:
    """Line and reason of everything in a Python text that is refused."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in MODULES:
                    yield node.lineno, f"imports {alias.name}"
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            if (node.module or "").partition(".")[0] in MODULES:
                yield node.lineno, f"imports from {node.module}"
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            if name in CALLS:
                yield node.lineno, f"calls {name}"
            if name.endswith("exec_module"):
                yield node.lineno, "exec_module"
            for keyword in node.keywords:
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if keyword.arg in ARGUMENTS and value is not (not ARGUMENTS[keyword.arg]):
                    yield node.lineno, f"passes {keyword.arg}={ast.unparse(keyword.value)}"


def dotted(node: ast.expr) -> str:
    """`a.b.c` of such an expression, else its end."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "?"  # of something else, as in `network.to(device).eval()`, which only sets a mode


def main() -> int:
    """Exit code 1 if something is refused."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        place = str(path.relative_to(ROOT))
        for line, reason in faults_of(path.read_text()):
            if (place, reason) not in ALLOWED:
                found.append(f"{place}:{line}: {reason}; files are read as data (SECURITY.md)")
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
