"""Puts the commands together and runs one; `mistakes` says what went wrong.

A command module has a function `add_to(app)`; to add one, name it in GROUPS. `exit_codes` has what
a command ends with.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from zermelo.cli.exit_codes import INTERRUPTED, NO
from zermelo.cli.mistakes import tell

# The commands by what they are for, in the order of the help. A command's module has its name; only
# the module of the command that is asked for is imported, so that it starts at once.
GROUPS = {
    "Learn": ("demo", "train", "pretrain", "selfplay"),
    "Play": ("games", "play", "web", "uci"),
    "Measure": ("match", "tournament", "yardstick", "solve", "ablate", "tune", "bench"),
    "Look inside": ("runs", "doctor", "report", "replay", "analyse", "annotate"),
    "Tools": ("check", "perft", "export", "cluster"),
}
TRACEBACK = "--traceback"
COMMANDS = tuple(command for commands in GROUPS.values() for command in commands)


def make_app(wanted: Collection[str] = COMMANDS) -> typer.Typer:
    """The application with some of its commands."""
    app = typer.Typer(
        help="Learns board games from nothing by playing against itself; plays and analyses them.",
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def root(
        context: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
        _: Annotated[  # `main` takes it out, wherever it stands
            bool, typer.Option(TRACEBACK, help="Show where in the code any error comes from.")
        ] = False,
    ) -> None:
        if version:
            from zermelo import __version__

            print(f"zermelo {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            print(context.get_help())

    for group, commands in GROUPS.items():
        for name in commands:
            if name in wanted:
                import_module(f"zermelo.cli.{name}").add_to(app)
        added: list[Any] = [*app.registered_commands, *app.registered_groups]
        for command in added:
            if not isinstance(command.rich_help_panel, str):  # it was added just now
                command.rich_help_panel = group
    return app


def commands_for(arguments: Sequence[str]) -> Collection[str]:
    """The command that the arguments begin with; all if that is not clear."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    show_traceback = TRACEBACK in given
    given = [word for word in given if word != TRACEBACK]
    try:
        command = typer.main.get_command(make_app(commands_for(given)))
        result = command.main(
            args=given,
            prog_name="zermelo",
            standalone_mode=False,
        )
        sys.stdout.flush()
        code = result if isinstance(result, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        if show_traceback:
            traceback.print_exc()
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `zermelo games | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO
    except Exception as error:
        return tell(error, given, show_traceback)
    if code == INTERRUPTED:
        print("zermelo: interrupted", file=sys.stderr)
        own = arguments is None  # not called by a program that goes on
        if own and threading.active_count() > 1:  # the core may still be counting
            sys.stdout.flush()
            end_engines()
            os._exit(INTERRUPTED)
    return code


def end_engines() -> None:
    """Engines are process groups of their own, so they do not hear Ctrl-C."""
    if "zermelo.players.uci_engine" in sys.modules:  # else there are none
        from zermelo.players.uci_engine import end_all_engines

        end_all_engines()
