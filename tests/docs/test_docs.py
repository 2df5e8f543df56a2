"""What the documents say is so: code runs, commands run, generated parts are fresh, links lead."""

from __future__ import annotations

import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from zermelo.cli import main
from zermelo.cli.entry import make_app

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    ROOT / "cpp" / "README.md",
]
CURRENT = [path for path in DOCUMENTS if path.name != "log.md"]  # the log is history
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(#[^)]*)?\)")


def blocks(path: Path, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(path.read_text()) if kind == language]


def shell_lines(path: Path, program: str) -> list[str]:
    lines = (line for block in blocks(path, "sh") for line in block.splitlines())
    return [line for line in lines if line.startswith(program + " ")]


def written_commands(path: Path) -> list[str]:
    """Every command in a block of any kind, without its prompt, on one line."""
    text = "\n".join(body for _, body in BLOCK.findall(path.read_text()))
    lines = (line.strip().removeprefix("$ ") for line in text.replace("\\\n", "").splitlines())
    return [line for line in lines if line.startswith("zermelo ")]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [p for p in CURRENT if blocks(p, "python")], ids=name)
def test_python_blocks_run_and_print_what_they_show(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names: dict[str, Any] = {}  # a block knows what those before it made
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report = io.StringIO()
    for block in blocks(path, "python"):
        if ">>>" not in block:
            exec(block, names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, name(path), str(path), 0)
        runner.run(test, out=report.write, clear_globs=False)
        names = test.globs
    assert runner.failures == 0, report.getvalue()


COMMANDS = [(name(path), line) for path in CURRENT for line in shell_lines(path, "zermelo")]


@pytest.mark.parametrize(("document", "line"), COMMANDS, ids=[line for _, line in COMMANDS])
def test_commands_of_the_documents_run(
    document: str,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    arguments = shlex.split(line, comments=True)[1:]
    assert main(arguments) == 0, (document, capsys.readouterr().err)
    assert capsys.readouterr().out


WRITTEN = [(name(path), line) for path in CURRENT for line in written_commands(path)]


@pytest.mark.parametrize(("document", "line"), WRITTEN, ids=[line for _, line in WRITTEN])
def test_commands_of_the_documents_exist_with_their_options(document: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    known = [word for word in words if not word.startswith(("--a.", "--b."))]  # a player's own
    first, *rest = known
    app: Any = typer.main.get_command(make_app())
    command = app.commands[first]
    command.make_context(first, rest, ignore_unknown_options=False)


TUTORIALS = [path for path in CURRENT if path.parent.name == "tutorial"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", TUTORIALS, ids=name)
def test_a_tutorial_can_be_followed(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its commands in their order, with a training of half a minute."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for line in written_commands(path):
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
        words = shlex.split(line, comments=True)[1:]
        brief = ["--for", "30s"] if words[0] == "train" else []
        well = (0, 1) if words[0] == "doctor" else (0,)  # which may find something so early
        assert main([*words, *brief]) in well, (line, capsys.readouterr().err)


def test_make_targets_of_the_documents_exist_and_so_do_their_scripts() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for line in shell_lines(path, "make"):
            assert line.split()[1] in targets, line
    for script in re.findall(r"\$\(PY\) ([\w/]+\.py)", makefile):
        assert (ROOT / script).is_file(), script


def test_generated_parts_are_fresh() -> None:
    command = [sys.executable, "tools/generate_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_technique_has_a_test_and_every_mark_a_technique(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "technique_index.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    (tmp_path / "test_one.py").write_text(
        'pytestmark = pytest.mark.technique("S1")\n'
        '@pytest.mark.technique("S2", "X9")\ndef test_it(): pass\n'
    )
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "X9 is no technique: test test_one.py::test_it" in done.stdout
    assert "S3 (First-play urgency) has no test" in done.stdout
    assert "S1 " not in done.stdout
    assert "S2 " not in done.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_to_files(path: Path) -> None:
    for target, _ in LINK.findall(path.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), target


def test_contributing_fits_one_screen() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 40


def test_the_core_includes_downwards_only(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "check_layers.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    for folder, line, objection in (
        ("games", '#include "search/tree.hpp"', "search is above it"),
        ("search", "#include <nanobind/nanobind.h>", "for bindings only"),
        ("base", "#include <Python.h>", "for bindings only"),
        ("games", '#include "tree.hpp"', "is no file below"),
    ):
        root = tmp_path / f"{folder}-{len(line)}"
        for sub in ("base", "games", "search"):
            (root / sub).mkdir(parents=True)
        (root / "search" / "tree.hpp").write_text("")
        (root / folder / "wrong.hpp").write_text(f"#pragma once\n{line}\n")
        done = subprocess.run([*command, root], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "wrong.hpp:2: " in done.stdout
        assert objection in done.stdout
