"""Networks in lc0's format: `.pb.gz`, or `.pb` as it is."""

from zermelo.network.lc0.heads import chosen_heads
from zermelo.network.lc0.read import GZIP, LC0_HEAD, read_lc0

__all__ = ["GZIP", "LC0_HEAD", "chosen_heads", "read_lc0"]
