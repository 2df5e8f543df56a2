"""The runtime that was the fastest for a network's size on this machine, kept for some weeks.

So that `zermelo play` need not measure again at each start. A file in the user's cache holds plain
figures; what cannot be read or is of other packages is measured anew. No run depends on it: a run
writes its own choice into its run file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from zermelo.files import read_plain, write_whole
from zermelo.network.form import NetworkForm

FILE = "runtimes.json"
DAYS = 30.0
MOST = 200  # entries; the oldest leave first
PACKAGES = ("openvino", "onnxruntime", "torch", "numpy")

Choice = list[dict[str, Any]]  # as `fastest` gives it, the fastest first


def recall(architecture: NetworkForm, asked: tuple[str, ...]) -> Choice | None:
    """What was measured here before for such a network and question; None if nothing was."""
    entry = _read().get(_key(architecture, asked))
    try:
        assert entry is not None
        age = time.time() - float(entry["when"])
        found = [dict(row) for row in entry["choice"]]
        texts = all(isinstance(row[key], str) for row in found for key in ("backend", "precision"))
        rates = all(isinstance(row["evaluations_per_second"], int) for row in found)
    except (AssertionError, KeyError, TypeError, ValueError):
        return None
    return found if found and texts and rates and 0 <= age < DAYS * 86400 else None


def remember(architecture: NetworkForm, asked: tuple[str, ...], choice: Choice) -> None:
    """Keeps a measurement in which every candidate worked; without a cache nothing is kept."""
    if not choice or any("reason" in row for row in choice if _is_fault(row)):
        return
    entries = _read()
    entries[_key(architecture, asked)] = {"when": int(time.time()), "choice": choice}
    newest = sorted(entries.items(), key=lambda item: -float(item[1].get("when", 0)))[:MOST]
    with contextlib.suppress(OSError):
        _place().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_place(), json.dumps(dict(newest)).encode(), lasting=False)


def _is_fault(row: dict[str, Any]) -> bool:
    """A candidate that failed, unlike one that the processor cannot have."""
    return "bf16" not in str(row.get("precision"))


def _key(architecture: NetworkForm, asked: tuple[str, ...]) -> str:
    versions = []
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions.append(f"{package} {metadata.version(package)}")
    facts = (architecture.to_dict(), asked, versions, platform.machine(), platform.node())
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _read() -> dict[str, Any]:
    try:
        found = json.loads(read_plain(_place()))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = found if isinstance(found, dict) else {}
    return {key: entry for key, entry in entries.items() if isinstance(entry, dict)}


def _place() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(given) if os.path.isabs(given) else Path(os.path.expanduser("~/.cache"))
    return base / "zermelo" / FILE
