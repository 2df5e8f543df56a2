"""How the threads of a computation wait for each other on a machine that has other work too."""

from __future__ import annotations

import os


def wait_patiently() -> None:
    """Lets OpenMP's threads sleep where they would spin; before torch is imported, or never.

    On two busy cores two spinning threads of a small network made 0.5 steps of training a second,
    sleeping ones 9. What a person has set stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
