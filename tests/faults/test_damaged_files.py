"""Damaged and special files: one sentence at once, whatever reads them."""

from __future__ import annotations

import gzip
import os
import time
import zipfile
from pathlib import Path

import pytest

import zermelo
from zermelo.cli import main
from zermelo.errors import UserError
from zermelo.matches import openings
from zermelo.matches.openings import make_openings
from zermelo.network import load_network
from zermelo.players.chess_book import Book
from zermelo.pretrain.files import labelled_file
from zermelo.suites.files import read_suite

CHESS = zermelo.game("chess")
DAMAGED = "1. e5 ) $5 *\n\n1. e4 e5 ) ) $7 {x} ( ) 1-0\n"


def special(tmp_path: Path, name: str) -> Path:
    """A pipe that nobody writes to, or a device without an end."""
    path = tmp_path / name
    if name.startswith("pipe"):
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("kind", ["pipe", "zero"])
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, kind: str) -> None:
    began = time.monotonic()
    path = special(tmp_path, kind)
    for refused in (
        lambda: read_suite(path),
        lambda: make_openings(CHESS, str(path), 1, 0),
        lambda: load_network(path),
        lambda: Book(str(path)),
        lambda: list(labelled_file(CHESS, special(tmp_path, f"{kind}.pgn"))),
    ):
        with pytest.raises(UserError):
            refused()
    toml = special(tmp_path, f"{kind}.toml")
    assert main(["train", str(toml), "--run", str(tmp_path / "run")]) == 2
    assert time.monotonic() - began < 10.0


def test_damaged_pgn_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.pgn"
    path.write_text(DAMAGED)
    with pytest.raises(UserError, match="game 1 of the book"):
        make_openings(CHESS, str(path), 1, 0)
    with pytest.raises(UserError, match="line 1"):
        list(labelled_file(CHESS, path))
    assert main(["annotate", str(path), "--simulations", "1", "-o", str(tmp_path / "out")]) in (
        0,
        2,
    )
    assert "Traceback" not in capsys.readouterr().err


def test_a_line_of_megabytes_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "long.epd"
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - -"
    path.write_text(f'{fen} bm e4;\n{fen} bm e4; id "{"x " * 2_000_000}";\n')
    began = time.monotonic()
    with pytest.raises(UserError, match="line 2"):
        read_suite(path)
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize("answer", ['bm "e4"', 'am "Kd1"', 'bm "1"'])
def test_answers_of_a_suite_that_are_no_moves_are_refused(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "quoted.epd"
    path.write_text(f"4k3/8/8/8/8/8/4P3/4K3 w - - {answer};\n")
    with pytest.raises(UserError, match="need moves"):
        read_suite(path)


@pytest.mark.parametrize("ending", ["gz", "zip"])
def test_a_packed_book_without_end_is_refused(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openings, "MAX_BOOK", 1 << 20)
    path = tmp_path / f"book.epd.{ending}"
    zeros = bytes(8 << 20)
    if ending == "gz":
        path.write_bytes(gzip.compress(zeros))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("book.epd", zeros)
    with pytest.raises(UserError, match="more than 1 MiB"):
        make_openings(CHESS, str(path), 1, 0)
