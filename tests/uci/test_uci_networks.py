"""Which network searches: what is refused, what stays in its place, what is ready beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_networks import save_small
from uci_talk import Fake, Talk, loading

from zermelo.errors import UserError
from zermelo.network.runtimes import installed_backends
from zermelo.uci.networks import Network


class Compiling(Fake):
    """Counts the batch sizes that it meets without having been warmed up for them."""

    observation_shape = (17, 8, 8)

    def __init__(self) -> None:
        super().__init__()
        self.ready: set[int] = set()
        self.threads = 0
        self.late: list[int] = []

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        if len(planes) not in self.ready:
            self.late.append(len(planes))
        return super().__call__(planes)

    def warm_up(self, threads: int, batch: int) -> None:
        self.threads = max(self.threads, threads)
        self.ready |= {2**i for i in range(batch.bit_length())} | {batch}


def choosy(path: str, backend: str, precision: str) -> Network:
    """Loads what is called good and the package's own, in f32."""
    if precision != "f32" or not path.startswith(("good", "own")):
        raise UserError(f"'{path}' in {precision} is refused")
    return loading(Fake())(path, backend, precision)  # type: ignore[no-any-return]


def test_a_refused_network_leaves_the_last_good_one_and_every_search_says_so() -> None:
    with Talk(load=choosy, own="own", WeightsFile="good") as talk:
        assert "info string network good" in talk.ready()
        talk.send("setoption name WeightsFile value bad")
        lines = talk.ready()
        assert "info string error 'bad' in f32 is refused" in lines
        assert "info string network good" in lines
        for _ in range(2):
            lines = talk.ask("position startpos", "go nodes 20")
            said = "info string error 'bad' in f32 is refused; searching with network good"
            assert said in lines
        talk.send("setoption name WeightsFile value good2")
        lines = talk.ask("position startpos", "go nodes 20")
        assert "info string network good2" in lines
        assert not any("error" in line for line in lines)


@pytest.mark.parametrize("own", ["own", ""])
def test_a_network_refused_at_first_leaves_the_packages_own(own: str) -> None:
    with Talk(load=choosy, own=own, WeightsFile="bad") as talk:
        lines = talk.ask("position startpos", "go nodes 20")
        instead = "network own" if own else "no network is loaded"
        assert any(f"refused; searching with {instead}" in line for line in lines)


def test_a_refused_precision_leaves_the_network_as_it_was() -> None:
    with Talk(load=choosy, own="own", WeightsFile="good") as talk:
        talk.ready()
        talk.send("setoption name Precision value bf16")
        lines = talk.ask("position startpos", "go nodes 20")
        said = "info string error 'good' in bf16 is refused; searching with network good"
        assert said in lines


def test_no_network_at_all_is_still_a_choice() -> None:
    with Talk(load=choosy, own="own") as talk:
        assert "info string network own" in talk.ready()
        talk.send("setoption name WeightsFile value none")
        assert any("no network is loaded" in line for line in talk.ready())


def test_a_network_that_cannot_compute_is_refused_when_it_is_loaded() -> None:
    class Broken(Compiling):
        def __call__(self, planes: Any) -> tuple[Any, Any]:
            raise RuntimeError("an unknown instruction")

    def load(path: str, backend: str, precision: str) -> Network:
        made = Broken() if path == "broken" else Compiling()
        return loading(made)(path, backend, precision)  # type: ignore[no-any-return]

    with Talk(load=load, own="own", WeightsFile="broken") as talk:
        lines = talk.ask("position startpos", "go nodes 20")
        assert any("an unknown instruction; searching with network own" in line for line in lines)


@pytest.mark.parametrize("when", ["before", "after"])
def test_nothing_is_compiled_after_readyok(when: str) -> None:
    made = Compiling()
    made.ready = {1}  # the answer with which a network is tried out
    with Talk(load=loading(made), WeightsFile="fake") as talk:
        options = ["setoption name Threads value 2", "setoption name MinibatchSize value 6"]
        if when == "after":
            talk.ready()
        talk.send(*options)
        talk.ready()
        assert made.threads == 2
        assert {1, 2, 4, 6} <= made.ready
        made.ready = set(range(1, 7))  # batches between two sizes are put together from them
        talk.ask("position startpos", "go nodes 300")
        assert made.late == []


def test_isready_within_a_game_keeps_the_tree() -> None:
    with Talk(load=loading(Fake()), WeightsFile="fake") as talk:
        talk.send("debug on")
        talk.ask("position startpos", "go nodes 300")
        talk.ready()
        lines = talk.ask("position startpos", "go nodes 400")
        assert any("debug 300 visits kept" in line for line in lines)


def test_stepping_back_through_a_game_asks_the_network_for_little() -> None:
    made = Fake()
    with Talk(load=loading(made), WeightsFile="fake", Threads=1) as talk:
        talk.ask("position startpos moves e2e4", "go nodes 400")
        talk.ask("position startpos moves e2e4 e7e5", "go nodes 400")
        before = made.calls
        talk.ask("position startpos moves e2e4", "go nodes 400")
        assert made.calls - before < 40


@pytest.mark.skipif("openvino" not in installed_backends(), reason="openvino is not installed")
def test_int8_plays_where_the_network_has_a_tower(tmp_path: Path) -> None:
    path = save_small(tmp_path / "net.onnx", "chess")
    with Talk(WeightsFile=path, Precision="int8") as talk:
        lines = talk.ready()
        assert any("on openvino, int8" in line for line in lines)
        assert talk.bestmove("position startpos", "go nodes 20").isalnum()
