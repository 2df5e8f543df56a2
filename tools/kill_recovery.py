"""Kills workers of a running loop and measures how soon there is another, and what it costs.

Usage: python tools/kill_recovery.py [--kills 10] [--json]

Needs a machine without other work. A worker is back when its process runs. The exit code is 1 if a
worker is not back within 2 s, or if from 10 s after a kill on fewer than 95 % of the samples are
played that were played before.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kill_loop import Campaign, children

from zermelo.replay import read_header

BACK_SECONDS = 2.0
SHARE = 0.95
LOOK = 15.0  # seconds before a kill, and from 10 s after it on
CALM = 10.0


class Recovery(Campaign):
    """One run that plays all the time: its only iteration never ends."""

    more = {"loop.samples_per_iteration": 100_000_000, "replay.shard_samples": 200}  # noqa: RUF012

    def rate(self, seconds: float) -> float:
        """Samples a second, by the shards that appear."""
        before = set(self.shards())
        time.sleep(seconds)
        new = set(self.shards()) - before
        return sum(read_header(path).samples for path in new) / seconds

    def kill_one(self) -> tuple[float, float, float]:
        """Seconds until it is back, and samples a second before and after."""
        assert self.process is not None
        before = self.rate(LOOK)
        workers = children(self.process.pid)
        victim = self.random.choice(workers)
        os.kill(victim, signal.SIGKILL)
        began = time.monotonic()
        while len(set(children(self.process.pid)) - {victim}) < len(workers):
            if time.monotonic() - began > 60:
                raise SystemExit("the worker did not come back")
            time.sleep(0.01)
        back = time.monotonic() - began
        time.sleep(max(0.0, CALM - back))
        return back, before, self.rate(LOOK)


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Kill workers and measure what it costs.")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.workers, options.mode, options.game, options.seed = 2, "alternate", "connect4", 1
    place = Path(tempfile.mkdtemp(prefix="kill-recovery-"))
    campaign = Recovery(options, place)
    try:
        campaign.start(campaign.forever)
        assert campaign.process is not None
        campaign.wait_for_life()
        time.sleep(CALM)
        rows = [campaign.kill_one() for _ in range(options.kills)]
        campaign.process.send_signal(signal.SIGINT)  # so that nobody writes any more
        campaign.wait_for_end(60)
    finally:
        campaign.end()
    share = sum(after for _, _, after in rows) / sum(before for _, before, _ in rows)
    found: dict[str, Any] = {
        "tried": len(rows),
        "back_s_median": round(statistics.median(back for back, _, _ in rows), 2),
        "back_s_most": round(max(back for back, _, _ in rows), 2),
        "samples_per_second_before": round(statistics.mean(before for _, before, _ in rows)),
        "share_after_10_s": round(share, 3),
    }
    print(json.dumps(found, indent=None if options.json else 2))
    shutil.rmtree(place)
    return found["back_s_most"] > BACK_SECONDS or share < SHARE


if __name__ == "__main__":
    sys.exit(main())
