"""P9 over UCI: a chess program may let searches end early."""

from __future__ import annotations

import pytest
from uci_talk import Talk, infos

START = "position startpos"


@pytest.mark.technique("P9")
def test_a_search_of_many_nodes_ends_once_its_visits_no_longer_shift() -> None:
    with Talk(WeightsFile="none", Threads=1) as talk:
        patient = talk.ask(START, "go nodes 3000")
        talk.send("ucinewgame", "setoption name MinimumKLDGainPerNode value 1")
        eager = talk.ask(START, "go nodes 3000")
    assert int(infos(patient)[-1]["nodes"]) >= 2999
    assert int(infos(eager)[-1]["nodes"]) < 1000
    assert eager[-1].startswith("bestmove ")
