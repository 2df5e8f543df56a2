"""Who is not let into a cluster: without the token, with another one, with other versions."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("'ray' is not installed: zermelo[cluster]", allow_module_level=True)

from clusters import Machines, family, machines

from zermelo.cluster.node_command import command, join_arguments
from zermelo.cluster.token import new_token, settings

BEFORE = ("settings of", "joining the cluster")  # what a run says whatever comes
ANOTHER_RAY = """\
import sys
from zermelo.cluster import joining
here = joining.versions_here()
joining.versions_here = lambda: here | {"ray": "2.9.9"}
from zermelo.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def there() -> Iterator[Machines]:
    """A head alone."""
    with machines(1) as made:
        until = time.monotonic() + 60
        while len(family(made.nodes[0].pid)) < 5 and time.monotonic() < until:
            time.sleep(0.2)
        yield made


def ended(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def said(words: list[str], environment: dict[str, str], code: int = 2) -> str:
    """The only line that a command says of the cluster before it ends."""
    done = ended([sys.executable, *words], environment)
    assert done.returncode == code, done.stderr[-3000:]
    lines = done.stderr.strip().splitlines()
    assert len([line for line in lines if not line.startswith(BEFORE)]) == 1, done.stderr[-3000:]
    return lines[-1]


TRAIN = ["train", "tictactoe", "--cluster"]


@pytest.mark.parametrize(
    ("words", "where"), [(["cluster", "join"], ""), (TRAIN, ""), (TRAIN, "auto")]
)
def test_another_token_is_refused_in_one_line(
    there: Machines, words: list[str], where: str, tmp_path: Path
) -> None:
    other = there.environment | settings(new_token()) | {"RAY_ADDRESS": there.address}
    more = ["--run", str(tmp_path / "run"), "--set", "loop.iterations=1"]
    named = [where or there.address, *(more if words == TRAIN else [])]
    line = said(["-m", "zermelo", *words, *named], other)
    assert "its token is another one than here" in line
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_no_token_is_refused_in_one_line(there: Machines, tmp_path: Path) -> None:
    without = {key: value for key, value in there.environment.items() if "RAY_AUTH" not in key}
    without["RAY_AUTH_TOKEN_PATH"] = str(tmp_path / "none")
    line = said(["-m", "zermelo", "cluster", "join", there.address], without)
    assert "the cluster's token is not known here" in line


def test_auto_is_the_cluster_that_this_machine_is_part_of(there: Machines) -> None:
    words = [sys.executable, "-m", "zermelo", "match", "random", "random", "--game", "tictactoe"]
    done = ended(
        [*words, "--games", "4", "--cluster", "auto"],
        there.environment | {"RAY_ADDRESS": there.address},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "4 games" in done.stdout


def test_auto_says_in_one_line_that_the_head_it_found_has_gone(
    there: Machines, tmp_path: Path
) -> None:
    """Other tests may have clusters here, so it is named."""
    none = there.environment | {"RAY_ADDRESS": "127.0.0.1:1"}
    line = said(["-m", "zermelo", *TRAIN, "auto", "--run", str(tmp_path / "run")], none)
    assert "nothing answers at 127.0.0.1:1" in line


def test_another_version_of_ray_is_refused_in_one_line(there: Machines) -> None:
    words = ["-c", ANOTHER_RAY, "cluster", "join", there.address]
    assert "cannot be joined: it has ray 2" in said(words, there.environment)


def test_ray_itself_does_not_let_in_a_node_with_another_token(there: Machines) -> None:
    """Whoever leaves our command out."""
    words = command(join_arguments(there.address, "127.0.0.1", 1, 100))
    other = there.environment | settings(new_token())
    done = ended(words, other)
    assert done.returncode != 0
    assert "auth" in (done.stdout + done.stderr).lower()
