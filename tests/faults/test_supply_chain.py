"""The check of `make check` finds what could run what a file says; pinned packages have hashes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import load_script

check = load_script("tools/check_trust.py")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import dill as harmless",
        "eval(text)",
        "exec(text)",
        "os.system(text)",
        "yaml.load(text)",
        "torch.load(path)",
        "numpy.load(path, allow_pickle=True)",
        "numpy.load(path, allow_pickle=asked)",
        "anything(weights_only=False)",
        "subprocess.run(text, shell=True)",
        "subprocess.run(text, **{'shell': True})",
        "from os import system",
        "from torch import load as harmless",
        "import os as o; o.popen(text)",
        "run = eval",
        "list(map(exec, texts))",
        "getattr(os, 'system')(text)",
        "getattr(os, name)(text)",
        "import builtins; builtins.eval(text)",
        "__builtins__.exec(text)",
        "import importlib as i; i.import_module(name)",
        "subprocess.getoutput(text)",
        "asyncio.create_subprocess_shell(text)",
        "import runpy",
    ],
)
def test_what_runs_data_is_found(line: str) -> None:
    assert list(check.faults_of(line))


@pytest.mark.parametrize(
    "line",
    [
        "network.eval()",
        "network.to(device).eval()",
        "numpy.load(path, allow_pickle=False)",
        "subprocess.run(words, shell=False)",
        "re.compile(text)",
        "json.load(file)",
        "getattr(options, name)",
        "text = 'import pickle'  # eval(x)",
        "from zermelo.games.pickling import restore",
    ],
)
def test_what_does_not_is_left_alone(line: str) -> None:
    assert not list(check.faults_of(line))


def test_the_package_keeps_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main() == 0
    assert capsys.readouterr().out == ""


def pinned(text: str) -> dict[str, str]:
    """Version by name, as packages are named in an index."""
    found = re.findall(r"^([\w.-]+)==([^\s\\]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): part.partition("+")[0] for name, part in found}


def test_every_pinned_version_has_the_hash_of_its_file() -> None:
    versions = pinned((ROOT / "constraints.txt").read_text())
    text = (ROOT / "requirements-hashed.txt").read_text()
    hashed = pinned(text)
    assert versions.items() <= hashed.items()  # else: python tools/pin_hashes.py
    assert hashed.keys() - versions.keys() == {"setuptools", "wheel"}
    entries = re.findall(r"^[\w.-]+==\S+ \\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.M)
    assert len(entries) == len(hashed)
