"""What self-play lets a person choose beside the core's own `SelfPlayOptions`."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.options import option


@dataclass(frozen=True)
class PoolOptions:
    """Processes, their network runtime, and what changes from iteration to iteration."""

    workers: int = option(
        0, "Processes that play; 0 is one per core. 1 makes a run repeatable.", low=0, high=1024
    )
    backend: str = option(
        "auto",
        "Runs the network; auto measures once and writes down the fastest.",
        choices=("auto", "openvino", "onnx", "torch"),
    )
    precision: str = option(
        "auto",
        "Of the network in self-play; auto is bf16 where that is fastest.",
        choices=("auto", "f32", "bf16", "int8"),
    )
    progressive_fraction: float = option(
        0.05,
        "Share of the iterations over which simulations grow from half to all; 0 is at once.",
        low=0.0,
        high=1.0,
        technique="P4",
        alphazero="0",
    )
    resign_calibrated: bool = option(
        True, "Find resign_threshold from noted games; off keeps the one that is set.",
        technique="P2",
    )  # fmt: skip
    resign_false_share: float = option(
        0.05,
        "Noted games that may turn out not to be lost.",
        low=0.0,
        high=1.0,
        technique="P2",
        alphazero="0.05",
    )
    resign_noted: int = option(
        200, "Noted games without which nobody resigns.", low=1, high=1_000_000, technique="P2"
    )
    resign_highest: float = option(
        -0.5, "The calibrated threshold stays at or below this.", low=-1.0, high=0.0,
        technique="P2",
    )  # fmt: skip
