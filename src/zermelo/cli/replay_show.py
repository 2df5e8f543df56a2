"""`zermelo replay show`: one self-play game of a run, move by move, with the search's numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.options import JsonOption, RunArgument, TrustOption
from zermelo.errors import UserError
from zermelo.games.notation import action_text, outcome_text
from zermelo.games.protocol import Game
from zermelo.games.render import ascii_board

if TYPE_CHECKING:
    from zermelo.runs.recent_games import ListedGame, Ply

BEST = 3  # actions of the search's policy that are shown


def show(
    run: RunArgument,
    game: Annotated[
        int, typer.Option("--game", min=1, help="Which game; 1 is the first of the newest shard.")
    ] = 1,
    boards: Annotated[bool, typer.Option("--boards", help="Draw every position.")] = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show a self-play game: each move with value and policy of the search that chose it."""
    from zermelo.runs.directory import Run
    from zermelo.runs.recent_games import one_game, recent_games
    from zermelo.runs.trust import refuse, strange_code

    opened = Run.open(run)
    if not trust:
        refuse(f"'{run}'", strange_code(opened.config, run))
    rules = opened.config.game()
    listed = recent_games(opened.replay, rules, game)
    if len(listed) < game:
        raise UserError(f"'{run}' has {len(listed)} whole games to show; there is no number {game}")
    chosen = listed[game - 1]
    _, plies = one_game(opened.replay, rules, chosen.shard, chosen.number)
    if as_json:
        print(json.dumps(to_dict(rules, chosen, plies), indent=2))
        return
    outcome = outcome_text(chosen.outcome)
    place = f"number {chosen.number} of {chosen.shard}, iteration {chosen.iteration}"
    print(f"game {game}, the newest being 1 ({place}): {outcome}")
    for number, ply in enumerate(plies, 1):
        if boards:
            print(ascii_board(rules, ply.state))
        if ply.action is not None:
            print(line(rules, number, ply))
    if not boards:
        print(ascii_board(rules, plies[-1].state))


def line(game: Game, number: int, ply: Ply) -> str:
    """A move in words; value and policy are the mover's."""
    assert ply.action is not None
    begin = f"{number:>4}. player {game.player(ply.state) + 1}: {text(game, ply, ply.action):<8}"
    if ply.search is None:
        return f"{begin} not searched in full"
    best = sorted(ply.search.shares.items(), key=lambda pair: -pair[1])[:BEST]
    policy = ", ".join(f"{text(game, ply, action)} {share:.0%}" for action, share in best)
    proven = ", proven" if ply.search.proven else ""
    return f"{begin} value {ply.search.value:+.2f}{proven}; {policy or 'a quick search'}"


def text(game: Game, ply: Ply, action: int) -> str:
    """An action as the game writes it."""
    return action_text(game, ply.state, action)


def to_dict(game: Game, chosen: ListedGame, plies: list[Ply]) -> dict[str, Any]:
    """For programs."""
    return {
        "shard": chosen.shard,
        "game": chosen.number,
        "iteration": chosen.iteration,
        "outcome": outcome_text(chosen.outcome),
        "moves": [
            {
                "player": game.player(ply.state),
                "action": ply.action,
                "text": text(game, ply, ply.action),
                "value": None if ply.search is None else ply.search.value,
                "draw": None if ply.search is None else ply.search.draw,
                "proven": bool(ply.search and ply.search.proven),
                "policy": {}
                if ply.search is None
                else {text(game, ply, a): s for a, s in ply.search.shares.items()},
            }
            for ply in plies
            if ply.action is not None
        ],
    }
