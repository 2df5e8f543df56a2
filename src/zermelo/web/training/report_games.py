"""Games and positions of a run as pictures in its report. Knows how boards are drawn, no charts."""

from __future__ import annotations

from html import escape
from typing import Any

from zermelo.errors import UserError
from zermelo.games.notation import action_text, outcome_text
from zermelo.games.protocol import Game
from zermelo.games.svg import svg_board
from zermelo.runs.judging import Judgement
from zermelo.runs.recent_games import Ply, iterations_played, one_game, recent_games
from zermelo.runs.tactics import learned_tactics
from zermelo.web.training.run_view import RunView

BOARDS = 6  # of a game
GAMES = 3  # of the newest iteration, beside one of the first
WIDTH = 180  # pixels of a board
CHECKPOINTS = 5  # that a position is shown by
HINTS = 4  # actions that are marked on a board


def games_html(view: RunView) -> str:
    """How it played at first, and how it plays now; empty if no whole game is there."""
    replay = view.path / "replay"
    try:
        game = view.game
        played = iterations_played(replay)
        newest = recent_games(replay, game, 60)
        longest = sorted(newest, key=lambda listed: -len(listed.actions))[:GAMES]
        first = recent_games(replay, game, 1, played[0]) if len(played) > 1 else []
        shown = [
            _game(game, listed.iteration, one_game(replay, game, listed.shard, listed.number))
            for listed in (*first, *longest)
        ]
    except UserError:  # a shard went, or the game's file did
        return ""
    if not shown:
        return ""
    return f'<section class="stack"><h2>Self-play games</h2>{"".join(shown)}</section>'


def _game(game: Game, iteration: int, found: tuple[Any, list[Ply]]) -> str:
    record, plies = found
    last = len(plies) - 1
    chosen = sorted({round(step * last / BOARDS) for step in range(1, BOARDS + 1)})
    pictures = "".join(_frame(game, plies, ply) for ply in chosen)
    moves = escape(" ".join(record.texts(game)))
    title = f"Iteration {iteration}: {outcome_text(record.outcome)} after {last} plies"
    return (
        f'<article class="sheet"><h3>{escape(title)}</h3><div class="strip">{pictures}</div>'
        f'<p class="mono faint">{moves}</p></article>'
    )


def _frame(game: Game, plies: list[Ply], number: int) -> str:
    ply = plies[number]
    search = ply.search
    marks = _strongest(search.shares) if search else []
    best = marks[0][0] if marks else None
    words = [f"ply {number}"]
    if search is not None:
        value = search.value if game.player(ply.state) == 0 else -search.value
        words.append(f"value {value:+.2f}")
    picture = svg_board(game, ply.state, marks, WIDTH, best)
    return f"<figure>{picture}<figcaption>{', '.join(words)}</figcaption></figure>"


def tactics_html(view: RunView) -> str:
    """What it learned to see: one position by several checkpoints; empty without networks."""
    try:
        game, judges = view.game, view.judges
        found = learned_tactics(view.path / "replay", game, judges, 2)
        shown = [_tactic(view, game, tactic) for tactic in found]
    except UserError:
        return ""
    if not shown:
        return ""
    note = "Marks are the network's policy without any search; the value is the first player's."
    return (
        f'<section class="stack"><h2>What it learned to see</h2><p class="faint">{note}</p>'
        f"{''.join(shown)}</section>"
    )


def _tactic(view: RunView, game: Game, tactic: Any) -> str:
    state = game.initial()
    for action in tactic.actions:
        state = game.play(state, action)
    iterations = view.judges.iterations()
    steps = {round(i * (len(iterations) - 1) / (CHECKPOINTS - 1)) for i in range(CHECKPOINTS)}
    frames = []
    for judged in view.judges.judge(state, [iterations[step] for step in sorted(steps)]):
        if not isinstance(judged, Judgement):
            continue
        value = judged.value if game.player(state) == 0 else -judged.value
        share = judged.policy[tactic.best]
        picture = svg_board(game, state, _strongest(judged.policy), WIDTH, tactic.best)
        words = f"checkpoint {judged.iteration}: {share:.0%}, value {value:+.2f}"
        frames.append(f"<figure>{picture}<figcaption>{words}</figcaption></figure>")
    title = f"Playing {action_text(game, state, tactic.best)}"
    return (
        f'<article class="sheet"><h3>{escape(title)}</h3>'
        f'<div class="strip">{"".join(frames)}</div></article>'
    )


def _strongest(shares: dict[int, float]) -> list[tuple[int, float]]:
    return sorted(shares.items(), key=lambda pair: -pair[1])[:HINTS]
