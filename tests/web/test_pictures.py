"""The pictures of the documents can be made anew from any run."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from scripts import load_script

from zermelo.errors import UserError


def test_a_run_becomes_a_moving_picture_of_its_learning(watched: Path) -> None:
    text = load_script("tools/learning_picture.py").picture(watched)
    frames = [each for each in ElementTree.fromstring(text).iter() if each.tag.endswith("animate")]
    assert len(frames) == 9
    assert "checkpoint 8, " in text


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a run"):
        load_script("tools/learning_picture.py").picture(tmp_path)
