"""The engine that chess programs talk to: UCI over standard input and output.

`python -m zermelo.uci` runs it, as does `zermelo uci`. Nothing heavy is imported before the first
command is answered: networks, tablebases and books are loaded when they are first needed.
"""

from zermelo.uci.session import Session, serve

__all__ = ["Session", "serve"]
