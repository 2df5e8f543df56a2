"""A run's copy at a URL: what is sent, what comes back, and what goes wrong on the way."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("fsspec") is None:
    pytest.skip("'fsspec' is not installed: zermelo[cluster]", allow_module_level=True)

import fsspec
from tiny_runs import KilledError, RecordingView, config, final_files, train

from zermelo.cli import main
from zermelo.errors import UserError
from zermelo.loop import Run, Stop, run_loop
from zermelo.network.places import MANIFEST_FILE, RUN_FILE
from zermelo.runs.copies import Copies, bring_back, copying

PLACE = "memory://bucket/run"


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    yield
    fsspec.filesystem("memory").store.clear()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three iterations that nothing happened to."""
    path = tmp_path_factory.mktemp("whole") / "run"
    train(path)
    return path


def names() -> set[str]:
    return {name.removeprefix("/bucket/run/") for name in fsspec.filesystem("memory").store}


def test_a_run_whose_machine_is_lost_goes_on_from_its_copy_as_if_nothing_had_been(
    tmp_path: Path, whole: Path
) -> None:
    path = tmp_path / "lost"
    copies: list[Copies] = []

    def look_and_die() -> None:
        copies.append(Copies(path, PLACE))
        copies[0].look()
        raise KilledError

    with pytest.raises(KilledError):
        train(path, RecordingView((2, "self-play"), look_and_die))
    there = bring_back(PLACE, tmp_path / "found", print)
    before = {shard.name for shard in (path / "replay").glob("*.zshard")}
    assert {shard.name for shard in (there / "replay").glob("*.zshard")} <= before
    assert (there / "checkpoints" / "000002" / MANIFEST_FILE).exists()
    view = RecordingView()
    train(there, view)
    assert (0, "self-play") not in view.stages
    assert final_files(there) == final_files(whole)


def test_everything_is_there_when_the_run_ends(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", config())
    said: list[str] = []
    with copying(run.path, PLACE, said.append):
        run_loop(run, Stop(), RecordingView())
    here = {path.relative_to(run.path).as_posix() for path in run.path.rglob("*") if path.is_file()}
    assert {name for name in here if name.startswith(("replay/", "checkpoints/"))} <= names()
    assert {RUN_FILE, "metrics/metrics.jsonl", "log.txt"} <= names()
    assert not names() & {"lock", "status.json", "made_here"}
    assert said == []
    kept = names()
    Copies(run.path, PLACE).look()
    assert names() == kept


def test_what_is_removed_here_is_removed_there(tmp_path: Path, whole: Path) -> None:
    copies = Copies(whole, PLACE)
    copies.begin()
    copies.look()
    extra = whole / "checkpoints" / "000001" / "extra"
    extra.write_bytes(b"1")
    copies.look()
    assert "checkpoints/000001/extra" in names()
    extra.unlink()
    copies.look()
    assert "checkpoints/000001/extra" not in names()


def test_a_torn_shard_is_sent_again_and_a_whole_one_is_not(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Copies(whole, PLACE).look()
    memory = fsspec.filesystem("memory")
    shards = sorted(name for name in memory.store if "/replay/" in name)
    memory.pipe_file(shards[0], b"torn")
    sent: list[str] = []
    pipe = memory.pipe_file

    def send(_: Any, name: str, data: bytes) -> None:
        sent.append(name)
        pipe(name, data)

    monkeypatch.setattr(type(memory), "pipe_file", send)
    copies = Copies(whole, PLACE)
    copies.begin()
    copies.look()
    assert [name for name in sent if "/replay/" in name] == shards[:1]
    assert memory.cat_file(shards[0]) != b"torn"


def test_half_a_checkpoint_and_strange_files_are_not_brought(tmp_path: Path, whole: Path) -> None:
    Copies(whole, PLACE).look()
    memory = fsspec.filesystem("memory")
    memory.rm_file(f"/bucket/run/checkpoints/000003/{MANIFEST_FILE}")
    memory.pipe_file("/bucket/run/../../evil.py", b"")
    memory.pipe_file("/bucket/run/made_here", b"")
    memory.pipe_file("/bucket/run/game.py", b"")
    there = bring_back(PLACE, tmp_path / "found", print)
    assert not (there / "checkpoints" / "000003").exists()
    assert (there / "checkpoints" / "000002" / MANIFEST_FILE).exists()
    assert {path.name for path in there.iterdir()} == {
        RUN_FILE, "log.txt", "metrics", "replay", "checkpoints",
    }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"found"}


def test_a_run_does_not_end_for_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "pipe_file", refuse)
    run = Run.create(tmp_path / "run", config(loop={"iterations": 1}))
    said: list[str] = []
    with copying(run.path, PLACE, said.append):
        found = run_loop(run, Stop(), RecordingView())
    assert found["stopped"] == "done"
    assert said == [
        f"the copy at '{PLACE}' is behind: no route to host",
        f"the copy at '{PLACE}' is not complete",
    ]


def test_the_copy_of_another_run_is_not_written_over(tmp_path: Path, whole: Path) -> None:
    Copies(whole, PLACE).look()
    other = tmp_path / "other"
    other.mkdir()
    text = (whole / RUN_FILE).read_text()
    (other / RUN_FILE).write_text(text.replace('made = "2', 'made = "1'))
    assert (other / RUN_FILE).read_text() != text
    with pytest.raises(UserError, match="copy of another run"):
        Copies(other, PLACE).begin()


@pytest.mark.parametrize("url", ["nothing://x/y", "memory://bucket/none"])
def test_a_url_without_a_run_is_refused(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", url, "--run", str(tmp_path / "run")]) == 2
    assert url in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_train_takes_the_url_and_goes_on_copying(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/copy"
    train(tmp_path / "run", cluster={"copy_to": url})
    Copies(tmp_path / "run", url).look()
    here = tmp_path / "here"
    assert main(["train", url, "--run", str(here), "--iterations", "4"]) == 0
    assert (tmp_path / "copy" / "checkpoints" / "000004" / MANIFEST_FILE).exists()
    assert main(["train", url, "--run", str(here), "--iterations", "4"]) == 0  # is there already
