"""The command line: `zermelo COMMAND`. Each file of this folder is one command."""

from zermelo.cli.entry import main

__all__ = ["main"]
