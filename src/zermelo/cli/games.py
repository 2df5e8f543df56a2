"""`zermelo games`: what can be played and what can be set."""

from __future__ import annotations

import json

import typer

from zermelo.cli.options import JsonOption
from zermelo.games.registry import game_entries


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(games)


def games(as_json: JsonOption = False) -> None:
    """List the games and their parameters."""
    entries = game_entries()
    if as_json:
        listing = [
            {
                "name": entry.name,
                "summary": entry.summary,
                "parameters": [
                    {"name": s.name, "default": s.default, "allowed": s.allowed()}
                    for s in entry.settings
                ],
            }
            for entry in entries
        ]
        print(json.dumps(listing, indent=2))
        return
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        print(f"{entry.name:<{width}}  {entry.summary}")
        for setting in entry.settings:
            default = setting.default_text()
            print(f"{'':<{width}}    {setting.name}={default}  ({setting.allowed()})")
    print(f"\nParameters follow the name: '{entries[-1].name}?NAME=VALUE&NAME=VALUE'.")
    print("A game of your own is a Python file: 'my_game.py' or 'my_game.py:ClassName'.")
    print("OpenSpiel's games: 'open_spiel:NAME' or 'open_spiel:NAME(PARAMETER=VALUE,...)'.")
