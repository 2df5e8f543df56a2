"""What a search found, as messages. Pure: a result goes in, a message comes out."""

from __future__ import annotations

from typing import Any

from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, State
from zermelo.search import LiveSearch, SearchResult
from zermelo.search.result import CERTAIN_WDL
from zermelo.web import messages

LINES = 10  # candidates with their expected lines
PLIES = 24  # of such a line
ROWS = 80  # candidates at most
PATH = 16  # plies of a simulation's way that are shown
MOST_FLOAT = 6  # digits


def rows_of(result: SearchResult, game: Game, state: State) -> list[messages.Row]:
    """The candidates, best first; only the first have lines, which take time to write."""
    visits, priors = result.visits.tolist(), result.prior.tolist()
    best = result.best_action
    actions = result.actions.tolist()
    order = sorted(range(len(actions)), key=lambda i: (actions[i] != best, -visits[i], -priors[i]))
    rows = []
    for place, index in enumerate(order[:ROWS]):
        if place < LINES:
            row = result.row(index)
            rows.append(
                messages.Row(
                    move=row.text,
                    visits=row.visits,
                    q=_short(row.q),
                    prior=_short(row.prior),
                    wdl=_shares(row.wdl),
                    proven=row.certain.result if row.certain else None,
                    distance=row.certain.distance if row.certain else None,
                    line=list(row.pv[:PLIES]),
                )
            )
        else:
            rows.append(_light(result, game, state, index))
    return rows


def _light(result: SearchResult, game: Game, state: State, index: int) -> messages.Row:
    q = float(result.q[index])
    return messages.Row(
        move=action_text(game, state, int(result.actions[index])),
        visits=int(result.visits[index]),
        q=_short(q),
        prior=_short(float(result.prior[index])),
        wdl=_shares(((1 + q) / 2, 0.0, (1 - q) / 2)),
        proven=None,
        distance=None,
        line=[],
    )


def judged(result: SearchResult, game: Game, state: State) -> messages.Judged:
    """A short search."""
    proven = result.proven
    return messages.Judged(
        turn=game.player(state),
        value=float(proven.result) if proven else _short(result.value),
        wdl=_shares(CERTAIN_WDL[proven.result] if proven else result.wdl),
        visits=result.root_visits,
        proven=proven.result if proven else None,
        distance=proven.distance if proven else None,
        rows=rows_of(result, game, state),
    )


def frame(
    result: SearchResult, live: LiveSearch, state: State, path: list[str], head: dict[str, Any]
) -> messages.Frame:
    """A live search now; `head` has what the search does not know."""
    proven = result.proven
    seconds = max(result.seconds, 1e-6)
    done = int(result.counters.get("simulations", 0))
    return messages.Frame(
        turn=live.game.player(state),
        visits=result.root_visits,
        nodes=result.nodes,
        bytes=result.bytes,
        seconds=round(result.seconds, 3),
        per_second=round(done / seconds, 1),
        depth=round(float(result.counters.get("mean_depth", 0.0)), 2),
        value=_short(result.value),
        wdl=_shares(CERTAIN_WDL[proven.result] if proven else result.wdl),
        proven=proven.result if proven else None,
        distance=proven.distance if proven else None,
        rows=rows_of(result, live.game, state),
        path=path,
        final=result.final,
        stop=(result.stop or ("proven" if proven else "")) if result.final else "",
        **head,
    )


def selection_path(live: LiveSearch, state: State) -> list[str]:
    """Where the next simulation goes; only while nobody changes the tree."""
    game = live.game
    path: list[int] = []
    texts: list[str] = []
    while len(path) < PATH:
        place = live.look(path)
        if place is None or place.chosen < 0:
            break
        child = place.children[place.chosen]
        texts.append(action_text(game, state, child.action))
        path.append(child.action)
        if child.visits == 0:
            break
        state = game.play(state, child.action)
    return texts


def tree_node(
    live: LiveSearch, state: State, path: list[int]
) -> tuple[int, list[messages.Child]] | None:
    """Visits and children of a node; None beyond the tree. `state` is the position there."""
    place = live.look(path)
    if place is None:
        return None
    children = [
        messages.Child(
            move=action_text(live.game, state, child.action),
            visits=child.visits,
            prior=_short(child.prior),
            q=_short(child.q) if child.visits else None,
            u=_short(child.u),
            proven=child.certain[0] if child.certain else None,
            distance=child.certain[1] + 1 if child.certain else None,
            chosen=index == place.chosen,
        )
        for index, child in enumerate(place.children)
    ]
    return place.visits, sorted(children, key=lambda c: (-c.visits, -c.prior))


def _short(value: float) -> float:
    return round(float(value), MOST_FLOAT)


def _shares(wdl: tuple[float, float, float]) -> tuple[float, float, float]:
    win, draw, loss = (round(max(0.0, float(part)), 4) for part in wdl)
    return win, draw, loss
