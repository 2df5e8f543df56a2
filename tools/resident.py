"""What a process holds: memory in RAM and open files."""

from __future__ import annotations

import os
from pathlib import Path

MIB = 2**20


def resident_mib(process: int | str = "self") -> float:
    """Memory that is in RAM."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


def open_files(process: int | str = "self") -> int:
    """Descriptors."""
    return len(os.listdir(f"/proc/{process}/fd"))
