"""What a person may choose about training."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.options import option


@dataclass(frozen=True)
class TrainOptions:
    """The keys of a run file's section [train]."""

    batch: int = option(
        256, "Samples per step of the optimiser.", low=1, high=65536, alphazero="4096"
    )
    passes: int = option(
        1,
        "How often an iteration trains on each sample of its window.",
        low=1,
        high=2,
        technique="T11",
    )
    reuse: float = option(
        0.0,
        "How often training sees a sample in all; each iteration then trains on a part of its "
        "window. 0 means the whole window each time.",
        low=0.0,
        high=1000.0,
        technique="T11",
        alphazero="about 1",
    )
    optimiser: str = option(
        "adamw",
        "Optimiser; muon uses Muon for the tower's kernels and AdamW for the rest.",
        choices=("adamw", "muon"),
        alphazero="SGD with momentum",
    )
    learning_rate: float = option(
        0.002,
        "Highest learning rate of an iteration.",
        low=1e-8,
        high=1.0,
        technique="T10",
        alphazero="0.2 to 0.0002 in steps, with momentum",
    )
    learning_rate_end: float = option(
        1.0,
        "Highest learning rate of the last iteration, as a share of learning_rate; it falls "
        "linearly over the second half of the iterations.",
        low=1e-6,
        high=1.0,
        technique="T10",
    )
    one_cycle: bool = option(
        True,
        "Let the learning rate rise and fall in each iteration; off keeps it at its highest.",
        technique="T10",
    )
    learning_rate_low: float = option(
        0.1,
        "Learning rate at the start of an iteration, as a share of the highest.",
        low=0.0,
        high=1.0,
        technique="T10",
    )
    learning_rate_min: float = option(
        0.02,
        "Learning rate at the end of an iteration, as a share of the highest.",
        low=0.0,
        high=1.0,
        technique="T10",
    )
    warm_up: float = option(
        0.25,
        "Share of an iteration's steps in which the learning rate rises.",
        low=0.0,
        high=1.0,
        technique="T10",
    )
    weight_decay: float = option(
        0.01,
        "Decay of kernels per unit of learning rate; biases and norms do not decay.",
        low=0.0,
        high=10.0,
        alphazero="0.0001 (as a penalty)",
    )
    gradient_clip: float = option(
        4.0,
        "Greatest length of a gradient; longer ones are shortened; 0 means no limit.",
        low=0.0,
        high=1e6,
    )
    value_blend: float = option(
        0.3,
        "Share of the search's value in the value target; the rest is the game's result.",
        low=0.0,
        high=1.0,
        technique="T3",
        alphazero="0",
    )
    value_blend_ramp: float = option(
        0.1,
        "Share of the iterations over which value_blend rises from 0.",
        low=0.0,
        high=1.0,
        technique="T3",
    )
    value_weight: float = option(
        1.0,
        "Weight of the value loss; the policy loss has weight 1.",
        low=0.0,
        high=100.0,
        alphazero="1",
    )
    moves_left_weight: float = option(
        0.1, "Weight of the moves-left loss, if the network has that head.", low=0.0, high=100.0
    )
    reply_weight: float = option(
        0.0,
        "Weight of the loss of a head that learns the opponent's reply; 0 is no such head. It is "
        "left out of what plays.",
        low=0.0,
        high=100.0,
        technique="T15",
    )
    soft_policy_weight: float = option(
        0.0,
        "Weight of the loss of a head that learns the policy softened by temperature 4; 0 is none.",
        low=0.0,
        high=100.0,
        technique="T15",
    )
    future_weight: float = option(
        0.0,
        "Weight of the loss of a head that learns the searches' values 6, 16 and 50 plies later; "
        "0 is none.",
        low=0.0,
        high=100.0,
        technique="T15",
    )
    policy_smoothing: float = option(
        0.0,
        "Share of the policy target that is spread evenly over the legal actions.",
        low=0.0,
        high=0.5,
    )
    layer_norms: bool = option(
        True,
        "Write to the metrics how long each layer's weights are and how far an iteration moves "
        "them.",
        technique="T16",
    )
    precision: str = option(
        "auto",
        "Precision of training; auto selects bf16 if the processor has it.",
        choices=("auto", "f32", "bf16"),
        technique="T12",
    )
    device: str = option(
        "auto",
        "Where to train; auto selects a CUDA device if there is one, else the processor.",
        choices=("auto", "cpu", "cuda", "mps"),
    )
    threads: int = option(
        0, "Threads of the optimiser on a processor; 0 means one per core.", low=0, high=1024
    )

    @property
    def extra_heads(self) -> bool:
        """T15: whether the network learns with heads that it does not play with."""
        return max(self.reply_weight, self.soft_policy_weight, self.future_weight) > 0
