"""For all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from web_server import Server

# How long an example takes is the machine's affair; pytest-timeout ends what hangs.
hypothesis.settings.register_profile("zermelo", deadline=None)
hypothesis.settings.load_profile("zermelo")

# Who starts the tests may ignore Ctrl-C, as scripts do for what they start in the background, and
# whatever a test starts inherits that. Tests of Ctrl-C need the handler that Python sets otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Processes of `pytest -n` share the cores; each with as many threads as there are cores is slower.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is remembered of this user is the tests' own, also in processes they start.

    That is the secret that marks runs as made here, and results that a solver took long to find.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The web page with the usual settings, for the tests that only look."""
    from web_server import running

    with running() as started:
        yield started


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of tic-tac-toe that really learned; to be looked at, not to be changed."""
    from watched_runs import watched_run

    return watched_run(tmp_path_factory.mktemp("runs") / "watched")
