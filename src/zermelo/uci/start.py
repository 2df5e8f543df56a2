"""The engine's own command line: `zermelo-uci`, `python -m zermelo.uci`, and behind `zermelo uci`.

Reads its few arguments by hand: no library for command lines is on the way to the first answer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from zermelo.errors import UserError
from zermelo.uci.options import Settings

USAGE = """usage: zermelo-uci [--weights FILE] [--set NAME=VALUE]...

Speaks UCI on standard input and output.

  --weights FILE     a network: lc0's .pb.gz or .pb, .onnx, .safetensors, a checkpoint or a run
  --set NAME=VALUE   an option of the engine or of the search, as `setoption` would set it
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the engine until `quit` or the end of its input; the exit code."""
    try:
        settings = read_arguments(sys.argv[1:] if arguments is None else list(arguments))
    except UserError as error:
        print(f"zermelo-uci: {error}", file=sys.stderr)
        return 2
    if settings is None:
        print(USAGE, end="")
        return 0
    from zermelo.uci.session import serve

    return serve(settings)


def read_arguments(arguments: Sequence[str]) -> Settings | None:
    """The options that the arguments set; None when they ask for help."""
    rest, weights, given = list(arguments), None, []
    while rest:
        word = rest.pop(0)
        name, joined, value = word.partition("=")
        if name in ("-h", "--help"):
            return None
        if name not in ("--weights", "--set"):
            raise UserError(f"there is no argument '{word}'; there are --weights and --set")
        if not joined:
            if not rest:
                raise UserError(f"{name} needs a value")
            value = rest.pop(0)
        if name == "--weights":
            weights = value
        else:
            given.append(value)
    return settings_from(weights, given)


def settings_from(weights: str | None, given: Sequence[str]) -> Settings:
    """The options with which the engine begins."""
    settings = Settings.defaults()
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--set takes NAME=VALUE, not '{text}'")
        settings = settings.with_value(name, value)
    return settings.with_value("WeightsFile", weights) if weights else settings
