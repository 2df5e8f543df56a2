"""Opens what learns in a run: its window, checkpoints and metrics as a Learner.

Does not know where samples come from; self-play's loop and pretraining share it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.checkpoint import CheckpointStore
from zermelo.network.own_search import changed_options
from zermelo.replay import Window
from zermelo.train import Learner, MetricsWriter
from zermelo.yardsticks.ladder import FOLDER, needed_checkpoints

if TYPE_CHECKING:
    from zermelo.replay import ReplayStore
    from zermelo.runs.directory import Run
    from zermelo.train import TrainOptions


def open_learner(
    run: Run,
    replay: ReplayStore,
    *,
    wait: Callable[[], bool],
    note: Callable[[str], None],
    train: TrainOptions | None = None,
) -> Learner:
    """Of a locked run, neither begun nor resumed; metrics after its newest checkpoint are dropped.

    While the disk is full, `wait` is asked whether to try again; `note` takes sentences. `train`
    are other options than the run's.
    """
    options = run.config
    store = CheckpointStore(
        run.checkpoints,
        options.loop.keep_checkpoints,
        options.loop.keep_every,
        report=note,
        needed=lambda: needed_checkpoints(run.path / FOLDER, run.config.evaluate),
    )
    newest = store.newest()
    game, chosen = options.game(), train or options.train
    return Learner(
        game,
        Window(replay, options.replay, game if chosen.extra_heads else None),
        store,
        MetricsWriter(run.metrics, newest.iteration if newest else 0, report=run.log),
        chosen,
        newest=newest,
        iterations=options.loop.iterations,
        seed=options.loop.seed,
        search=changed_options(options.search),
        wait=wait,
    )
