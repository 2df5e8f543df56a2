"""One position with a tree of its own: restricted actions, reports on the way, the tree itself.

Knows how such a task is searched, nothing of queues, threads or who gets the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from zermelo.analysis.answer import Task, figures, head
from zermelo.search import Limits, LiveSearch, SearchResult

TREE_DEPTH = 6
TREE_SHARE = 1000  # a node of an answered tree has at least this part of the visits


def search_alone(
    live: LiveSearch, task: Task, tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """The figures of the task; `tell` gets reports during the search, in this thread."""
    asked = task.request
    last = time.monotonic()

    def report(result: SearchResult) -> None:
        nonlocal last
        now = time.monotonic()
        due = asked.report_every and now - last >= asked.report_every
        if due and not result.final and result.visits.any():
            last = now
            tell(head(task, final=False) | figures(task, result) | {"stop": ""})

    live.follow(task.state)
    result = live.run(Limits(asked.simulations, allowed=asked.allowed), report)
    found = figures(task, result)
    if asked.tree:
        found["tree"] = live.tree(TREE_DEPTH, max(1, result.root_visits // TREE_SHARE)).nodes
    return found
