"""The options that the readable search knows: those of its page and of its refinements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Names and defaults are those of `SearchOptions`; `min_root_visits` is that of play."""

    c_puct: float = 1.5  # S2
    c_puct_factor: float = 0.0
    c_puct_base: float = 19652.0
    c_puct_root: float = 0.0  # S27: 0 and -1 mean as elsewhere
    c_puct_factor_root: float = -1.0
    impurity_slope: float = 0.0  # S28
    impurity_base: float = 0.463
    impurity_most: float = 2.26
    spread_weight: float = 0.0  # S24
    spread_prior: float = 0.4
    spread_prior_visits: float = 2.0
    fpu: str = "zero"  # S3: zero, parent, reduced, loss; S26: imputed
    fpu_root: str = "same"  # or one of the above
    fpu_reduction: float = 0.10
    fpu_slope: float = 0.15
    virtual_loss: int = 1  # S4
    virtual_loss_kind: str = "loss"  # S22: loss, visit
    max_collisions: int = 1
    leaves_per_tree: int = 1
    leaves_share: float = 0.0  # S22
    dirichlet_epsilon: float = 0.25  # S7, used when noise is given
    min_root_visits: int = 0  # S9
    turn_discount: float = 0.99  # S10
    moves_left_slope: float = 0.0
    moves_left_cap: float = 0.0345
    moves_left_threshold: float = 0.8
    draw_score: float = 0.0  # of a draw, for the player to move at the root
    backup: str = "mean"  # S25: mean, regularised
    backup_shrinkage: float = 3.0
    lcb_z: float = 0.0  # S23
    lcb_visit_share: float = 0.15
    lcb_min_visits: int = 10
    solver: bool = True  # S11
    proof_weight: float = 0.0  # S29
    proof_threshold: float = 0.5
    auto_extend: bool = True  # S12
    repetition_draw: bool = True  # S13
    policy_temperature: float = 1.0
    policy_temperature_root: float = 0.0  # S27: 0 means as elsewhere
    stop_gain: float = 0.0  # P9
    stop_interval: int = 100
    stop_minimum: int = 100
