"""Refuses code that could run what a file says: pickles, eval, shells. Part of `make check`.

Looks at the names that the program really uses, not at comments and texts.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = ("src", "tools", "benchmarks", "examples")  # tests make such files, to see them refused
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
MODULES |= {"jsonpickle", "runpy", "code", "codeop", "imp", "commands"}
# However they are reached: by their module, by another name, or handed on without being called.
NAMES = {
    "eval": "builtins", "exec": "builtins", "compile": "builtins", "__import__": "builtins",
    "system": "os", "popen": "os", "load": "yaml torch", "unsafe_load": "yaml",
    "full_load": "yaml", "mktemp": "tempfile", "getoutput": "subprocess",
    "getstatusoutput": "subprocess", "create_subprocess_shell": "asyncio",
    "import_module": "importlib",
}  # fmt: skip
BARE = {"eval", "exec", "compile", "__import__"}  # names that need no import
ARGUMENTS = {"allow_pickle": True, "weights_only": False, "shell": True}
ALLOWED = {
    ("src/zermelo/games/python_file.py", "exec_module"),  # a person's own game: its business
    # Modules by names that stand in the code, so that they need not be installed, or load late.
    ("src/zermelo/__init__.py", "imports import_module from importlib"),
    ("src/zermelo/train/__init__.py", "imports import_module from importlib"),
    ("src/zermelo/cli/entry.py", "imports import_module from importlib"),
    ("src/zermelo/front/table.py", "uses importlib.import_module"),
    ("src/zermelo/games/open_spiel.py", "uses importlib.import_module"),
    ("src/zermelo/network/runtimes.py", "uses importlib.import_module"),
    ("benchmarks/cluster_model.py", "imports pickle"),  # reads what it packed itself
    ("src/zermelo/testing/position.py", "imports pickle"),  # compares what states become; no load
}


def faults_of(source: str) -> Iterator[tuple[int, str]]:
    """Line and reason of everything in a Python text that is refused."""
    tree = ast.parse(source)
    called = names_of_modules(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in MODULES:
                    yield node.lineno, f"imports {alias.name}"
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            module = (node.module or "").partition(".")[0]
            if module in MODULES:
                yield node.lineno, f"imports from {node.module}"
            for alias in node.names:
                if module in NAMES.get(alias.name, "").split():
                    yield node.lineno, f"imports {alias.name} from {node.module}"
        elif isinstance(node, ast.Name) and node.id in BARE and isinstance(node.ctx, ast.Load):
            yield node.lineno, f"uses {node.id}"
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            module = called.get(dotted(node.value), "")
            if node.attr == "exec_module":
                yield node.lineno, "exec_module"
            elif module and module in NAMES.get(node.attr, "").split():
                yield node.lineno, f"uses {module}.{node.attr}"
        elif isinstance(node, ast.Call):
            yield from faults_of_call(node, called)


def faults_of_call(node: ast.Call, called: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Arguments that let data run, and names of such functions given as text."""
    for keyword in node.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg in ARGUMENTS and value is not (not ARGUMENTS[keyword.arg]):
            yield node.lineno, f"passes {keyword.arg}={ast.unparse(keyword.value)}"
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            for key in keyword.value.keys:
                if isinstance(key, ast.Constant) and key.value in ARGUMENTS:
                    yield node.lineno, f"passes {key.value} in a dictionary"
    if dotted(node.func) == "getattr" and len(node.args) > 1:
        of, name = node.args[0], node.args[1]
        text = name.value if isinstance(name, ast.Constant) else None
        module = called.get(dotted(of), "")
        if module and (text is None or module in NAMES.get(str(text), "").split()):
            yield node.lineno, f"looks up {ast.unparse(name)} in {module}"


def names_of_modules(tree: ast.AST) -> dict[str, str]:
    """The modules that have something refused, by the names that the text gives them."""
    known = {module for modules in NAMES.values() for module in modules.split()}
    found = {module: module for module in known}
    found["__builtins__"] = "builtins"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and alias.name in known:
                    found[alias.asname] = alias.name
    return found


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
    paths = [path for place in PLACES for path in (ROOT / place).rglob("*.py")]
    for path in sorted(paths):
        place = str(path.relative_to(ROOT))
        for line, reason in faults_of(path.read_text()):
            if (place, reason) not in ALLOWED:
                found.append(f"{place}:{line}: {reason}; files are read as data (SECURITY.md)")
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
