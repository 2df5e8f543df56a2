"""How much memory processes use, as far as the system tells."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def memory_of(processes: Iterable[int]) -> int:
    """Resident bytes of these processes; 0 where the system does not tell."""
    total = 0
    for process in processes:
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
        except (OSError, ValueError, IndexError):
            continue
    return total
