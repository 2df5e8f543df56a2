"""What self-play is told to play, iteration by iteration."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import RecordingView, config

from zermelo.loop import Run, Stop
from zermelo.loop.cycle import Loop


@pytest.mark.technique("P4")
def test_the_simulations_of_orders_grow_over_the_first_part_of_a_run(tmp_path: Path) -> None:
    growing = config(
        selfplay={"simulations": 200, "progressive_fraction": 0.5}, loop={"iterations": 8}
    )
    loop = Loop(Run.create(tmp_path / "run", growing), Stop(), RecordingView())
    loop.begin()
    orders = [loop.collector.orders.order(loop.checkpoint, number, 100) for number in range(8)]
    assert [order.simulations for order in orders] == [100, 125, 150, 175, 200, 200, 200, 200]


def test_machines_that_only_play_rest_after_two_shares_while_the_trainer_is_not_ready(
    tmp_path: Path,
) -> None:
    loop = Loop(
        Run.create(tmp_path / "run", config(selfplay={"workers": 2})), Stop(), RecordingView()
    )
    loop.begin()
    orders = loop.collector.orders
    ahead = orders.order(loop.checkpoint, 1, 301, ahead=True)
    assert (ahead.share, ahead.quota) == (151, 302)
    assert orders.order(loop.checkpoint, 1, 301).quota == 0
