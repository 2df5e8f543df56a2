"""Draws how a run learned to see one position, as an animated SVG for the documents.

Usage: python tools/learning_picture.py RUN [OUTPUT]

The position is the one of the run's own games that it learned best; each frame is a checkpoint with
the network's policy, without any search. A viewer that does not animate shows the last frame.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from zermelo.errors import UserError
from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, State
from zermelo.games.svg import svg_board
from zermelo.runs.directory import Run
from zermelo.runs.judging import CheckpointJudges, Judgement, thinned
from zermelo.runs.tactics import Tactic, learned_tactics
from zermelo.train.metrics import read_metrics

OUTPUT = Path(__file__).parents[1] / "docs" / "images" / "learning.svg"
FRAMES = 16
SECONDS, LAST_SECONDS = 0.7, 2.8  # a frame is shown, the last one
WIDTH, HEIGHT, BOARD = 860, 430, 380
LEFT, RIGHT, TOP, BOTTOM = 470, 820, 250, 370  # of the curve
INK, SOFT, GOOD, LINE = "#23252b", "#6b6f78", "#2f7d4f", "#dcd7cc"
MARKS = 7


def picture(path: Path) -> str:
    """The SVG's text; a UserError if the run has learned nothing that can be shown."""
    run = Run.open(path)
    game = run.config.game()
    judges = CheckpointJudges(path, game)
    found = learned_tactics(run.replay, game, judges, 1)
    if not found:
        raise UserError(f"'{path}' has no position that it learned to see")
    (tactic,) = found
    state = game.initial()
    for action in tactic.actions:
        state = game.play(state, action)
    iterations = thinned(judges.iterations(), FRAMES)
    seen = [one for one in judges.judge(state, iterations) if isinstance(one, Judgement)]
    games = games_before(run.metrics)
    shares = [one.policy[tactic.best] for one in seen]
    points = [(place(i, len(seen)), height(share)) for i, share in enumerate(shares)]
    frames = [
        frame(game, state, tactic, one, points[: number + 1], games.get(one.iteration, 0))
        for number, one in enumerate(seen)
    ]
    title = escape(f"{game.name}, learned from nothing")
    best = escape(action_text(game, state, tactic.best))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="Inter, Segoe UI, system-ui, Liberation Sans, Arial, sans-serif">\n'
        f"<title>{title}: how the checkpoints of a run judge one position</title>\n"
        f'<rect width="100%" height="100%" rx="14" fill="#f6f4ef"/>\n'
        f'<rect x="20" y="20" width="{BOARD + 30}" height="{HEIGHT - 40}" rx="10" fill="#fff"/>\n'
        f"{label(LEFT, 62, 'Watch it learn to see', 21, INK, 650)}\n"
        f"{label(LEFT, 86, f'The network alone; the right move is {best}.', 14, SOFT)}\n"
        f"{axes(iterations)}\n{animated(frames)}\n</svg>\n"
    )


def games_before(metrics: Path) -> dict[int, int]:
    """Games of self-play that a checkpoint had learned from."""
    total, found = 0, {}
    for entry in read_metrics(metrics):
        total += int(entry.get("selfplay", {}).get("games", 0))
        found[int(entry["iteration"])] = total
    return found


def frame(
    game: Game,
    state: State,
    tactic: Tactic,
    judged: Judgement,
    points: list[tuple[float, float]],
    games: int,
) -> str:
    """One checkpoint."""
    marks = sorted(judged.policy.items(), key=lambda pair: -pair[1])[:MARKS]
    board = svg_board(game, state, marks, BOARD, tactic.best)
    inner = board.replace("<svg ", '<svg x="35" y="42" ', 1)
    share = judged.policy[tactic.best]
    colour = GOOD if share == max(judged.policy.values()) else INK
    played = f"{games:,} games of self-play" if games else "before the first game"
    curve = " ".join(f"{x},{y}" for x, y in points)
    x, y = points[-1]
    return (
        f"{inner}{label(LEFT, 150, f'{share:.0%}', 52, colour, 650)}"
        f"{label(LEFT, 182, f'checkpoint {judged.iteration}, {played}', 15, SOFT)}"
        f'<polyline points="{curve}" fill="none" stroke="{GOOD}" stroke-width="2.5" '
        'stroke-linejoin="round"/>'
        f'<circle cx="{x}" cy="{y}" r="5" fill="{GOOD}"/>'
    )


def place(number: int, frames: int) -> float:
    """Of a checkpoint along the curve."""
    return round(LEFT + 40 + (RIGHT - LEFT - 40) * number / max(1, frames - 1), 1)


def height(share: float) -> float:
    """Of a share on the curve."""
    return round(BOTTOM - (BOTTOM - TOP) * share, 1)


def axes(iterations: list[int]) -> str:
    """What stays."""
    rows = "".join(
        f'<line x1="{LEFT + 40}" x2="{RIGHT}" y1="{height(s)}" y2="{height(s)}" stroke="{LINE}"/>'
        + label(LEFT, height(s) + 4, f"{s:.0%}", 12, SOFT)
        for s in (0.0, 0.5, 1.0)
    )
    ends = label(LEFT + 40, BOTTOM + 22, f"checkpoint {iterations[0]}", 12, SOFT)
    return rows + ends + label(RIGHT, BOTTOM + 22, str(iterations[-1]), 12, SOFT, anchor="end")


def label(
    x: float, y: float, text: str, size: int, fill: str, weight: int = 400, anchor: str = "start"
) -> str:
    """A line of text."""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def animated(frames: list[str]) -> str:
    """One after the other, again and again."""
    total = SECONDS * (len(frames) - 1) + LAST_SECONDS
    shown = []
    for number, content in enumerate(frames):
        start, last = number * SECONDS / total, number == len(frames) - 1
        end = 1.0 if last else (number + 1) * SECONDS / total
        times = [0.0, start, end] if number else [0.0, end]
        values = ["hidden", "visible", "hidden"] if number else ["visible", "hidden"]
        if last:
            times, values = times[:-1], values[:-1]
        keys = ";".join(f"{time:.4f}" for time in times)
        shown.append(
            f'<g visibility="{"visible" if last else "hidden"}"><animate '
            f'attributeName="visibility" dur="{total:.1f}s" calcMode="discrete" keyTimes="{keys}" '
            f'values="{";".join(values)}" repeatCount="indefinite"/>{content}</g>'
        )
    return "\n".join(shown)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    output = Path(sys.argv[2]) if len(sys.argv) == 3 else OUTPUT
    try:
        text = picture(Path(sys.argv[1]))
    except UserError as error:
        sys.exit(str(error))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)
    print(f"{output}: {len(text) / 1024:.0f} KiB")
