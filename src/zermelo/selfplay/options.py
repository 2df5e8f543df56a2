"""What self-play lets a person choose beside the core's own `SelfPlayOptions`."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.options import option


@dataclass(frozen=True)
class PoolOptions:
    """Processes, their network runtime, and what changes from iteration to iteration."""

    workers: int = option(
        0, "Self-play processes; 0 means one per core, 1 makes a run repeatable.", low=0, high=1024
    )
    backend: str = option(
        "auto",
        "Runtime of the network; auto measures once and records the fastest.",
        choices=("auto", "openvino", "onnx", "torch"),
    )
    precision: str = option(
        "auto",
        "Precision of the network in self-play; auto selects bf16 if that is fastest.",
        choices=("auto", "f32", "bf16", "int8"),
    )
    progressive_fraction: float = option(
        0.05,
        "Share of the iterations over which simulations grow from half to all; 0 means at once.",
        low=0.0,
        high=1.0,
        technique="P4",
        alphazero="0",
    )
    resign_calibrated: bool = option(
        True, "Calibrate resign_threshold from noted games; off keeps the given one.",
        technique="P2",
    )  # fmt: skip
    resign_false_share: float = option(
        0.05,
        "Largest share of noted resignations that may be wrong.",
        low=0.0,
        high=1.0,
        technique="P2",
        alphazero="0.05",
    )
    resign_noted: int = option(
        200,
        "Noted resignations needed before anybody resigns.",
        low=1,
        high=1_000_000,
        technique="P2",
    )
    resign_highest: float = option(
        -0.5, "Upper limit of the calibrated threshold.", low=-1.0, high=0.0,
        technique="P2",
    )  # fmt: skip
