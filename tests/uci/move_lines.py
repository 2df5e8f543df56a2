"""What Nibbler takes from a line on a move."""

from __future__ import annotations

import re

# What Nibbler takes from a line on a move, by the words in front of the numbers.
MOVE_LINE = re.compile(
    r"info string (?P<move>\S+) +\((?P<index>\d+) *\) N: +(?P<n>\d+) \(\+ 0\) "
    r"\(P: +(?P<p>[\d.]+)%\) "
    r"\(WL: +(?P<wl>[-.\d]+)\) \(D: (?P<d>[-.\d]+)\) \(M: +(?P<m>[-.\d]+)\) \(Q: +(?P<q>[-.\d]+)\) "
    r"\(U: (?P<u>[.\d]+)\) \(S: +(?P<s>[-.\d]+)\) \(V: +(?P<v>[-.\d]+)\)( \(T\))?"
)
