"""Training: batches of samples in, a better network and its metrics out.

`TrainOptions`, the schedule and the metrics files need no torch; `Trainer` is loaded when asked
for, by a `Learner` as soon as it has something to learn. Called as a function,
`zermelo.train(game, minutes=5)`, this room opens the front door's function of the same name.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zermelo.train.learner import Learner
from zermelo.train.metrics import MetricsWriter, read_metrics
from zermelo.train.options import TrainOptions
from zermelo.train.schedule import highest_rate_at, learning_rate_at
from zermelo.train.targets import value_blend_at

if TYPE_CHECKING:
    from zermelo.train.trainer import DivergedError, Trainer, TrainProgress

__all__ = [
    "DivergedError",
    "Learner",
    "MetricsWriter",
    "TrainOptions",
    "TrainProgress",
    "Trainer",
    "highest_rate_at",
    "learning_rate_at",
    "read_metrics",
    "value_blend_at",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from zermelo.train import trainer

        return getattr(trainer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Room(ModuleType):
    """Both would be `zermelo.train`; whichever is imported first, the call works."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return import_module("zermelo.front").train(*arguments, **named)


sys.modules[__name__].__class__ = _Room
