"""Who answers which request. Everything that may take long happens in other threads.

Owns nothing but the table of handlers; the rooms that answer own their things.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

import zermelo
from zermelo.analysis.annotate import AnnotateOptions
from zermelo.games.notation import action_text
from zermelo.games.protocol import value_for
from zermelo.players.levels import LEVELS
from zermelo.search import Limits
from zermelo.search.result import CERTAIN_WDL
from zermelo.web import messages
from zermelo.web.analysis import Analyses
from zermelo.web.catalogue import EXACT, PERFECT, RANDOM, ROLLOUT, Catalogue, OfferedGame
from zermelo.web.connection import Connection
from zermelo.web.frames import judged
from zermelo.web.judges import Judges
from zermelo.web.play import Tables
from zermelo.web.positions import Played, board_at, position_at, shape_of
from zermelo.web.refusal import Refusal
from zermelo.web.room import Room
from zermelo.web.seats import Seats
from zermelo.web.settings import WebSettings
from zermelo.web.sharing import read_game, write_game
from zermelo.web.training.watchers import Watchers

THREADS = 8  # that play games out, at a time
SHORT = 60  # moves of a native game, which take less time than a change of threads
WELCOME_SECONDS = 3.0
T = TypeVar("T")
Handler = Callable[[Connection | None, Any], Awaitable[messages.Answer]]


class Dispatcher:
    """Answers requests of sockets and of HTTP, which has no connection to send events to."""

    def __init__(self, settings: WebSettings, catalogue: Catalogue) -> None:
        bounds = settings.bounds
        self._settings = settings
        self._catalogue = catalogue
        self._server = secrets.token_hex(8)
        self._limiter: CapacityLimiter | None = None  # made in the event loop
        self._welcome: messages.Welcome | None = None  # kept for some seconds: it looks at all runs
        self._welcomed = 0.0
        self._watchers = Watchers(catalogue.library, self.threaded)
        self._judges = Judges(catalogue)
        self._room = Room(bounds.judgements, bounds.waiting)
        self._solving = Room(1, bounds.waiting)
        self._seats = Seats(self._judges, bounds)
        self.tables = Tables(catalogue, self._seats, self._room, bounds)
        self._analyses = Analyses(catalogue, self._judges, bounds, self.threaded)
        self._handlers: dict[str, Handler] = {
            "hello": self._hello,
            "line": self._line,
            "read": self._read,
            "write": self._write,
            "play.new": self._play_new,
            "play.open": self._play_open,
            "play.move": self._play_move,
            "play.undo": self._play_undo,
            "play.close": self._play_close,
            "judge": self._judge,
            "exact": self._exact,
            "analyse.start": self._analyses.start,
            "analyse.stop": lambda _, request: self._analyses.stop(request),
            "analyse.watch": self._analyses.watch,
            "analyse.tree": lambda _, request: self._analyses.tree(request),
            "training.watch": self._watchers.watch,
        }

    async def __call__(self, connection: Connection | None, request: Any) -> messages.Answer:
        """The answer; a Refusal if there is none."""
        return await self._handlers[request.type](connection, request)

    async def threaded(self, do: Callable[[], T]) -> T:
        """In a thread of a few; the connection's other requests go on meanwhile."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await to_thread.run_sync(do, limiter=self._limiter)

    def close(self) -> None:
        """Ends what runs."""
        self._analyses.close()

    async def _hello(self, _: Connection | None, request: messages.Hello) -> messages.Answer:
        if request.version != messages.PROTOCOL:
            raise Refusal(426, "this page is of another version of Zermelo: load it again")
        now = time.monotonic()
        if self._welcome is None or now - self._welcomed > WELCOME_SECONDS:
            self._welcome, self._welcomed = await self.threaded(self.welcome), now
        return self._welcome

    def welcome(self) -> messages.Welcome:
        """What there is, as of now."""
        marks = AnnotateOptions()
        bounds = self._settings.bounds
        opponents: dict[str, messages.OpponentOffer] = {}
        games = [self._offer(offered, opponents) for offered in self._catalogue.games]
        return messages.Welcome(
            version=messages.PROTOCOL,
            program=zermelo.__version__,
            server=self._server,
            games=games,
            opponents=list(opponents.values()),
            levels=[
                messages.LevelOffer(number=level.number, title=level.title, detail=level.detail)
                for level in LEVELS
            ],
            limits=messages.Limits(
                simulations=bounds.simulations,
                seconds=bounds.seconds,
                analyses=bounds.analyses,
                analysis_seconds=bounds.analysis_seconds,
                inaccuracy=marks.inaccuracy,
                mistake=marks.mistake,
                blunder=marks.blunder,
            ),
            runs=len(self._catalogue.runs()),
            allow_train=self._settings.allow_train,
        )

    def _offer(
        self, offered: OfferedGame, opponents: dict[str, messages.OpponentOffer]
    ) -> messages.GameOffer:
        rules = offered.rules
        known = [
            messages.OpponentOffer(id=n.id, title=n.title, detail=n.detail, levels=True)
            for n in self._catalogue.networks(offered)
        ]
        known.append(_plain(ROLLOUT, "Search alone", "judges by random games", levels=True))
        networks = [offer.id for offer in known]
        if offered.kind in EXACT:
            known.append(_plain(PERFECT, "Perfect", "never gives a result away"))
        known.append(_plain(RANDOM, "Random", "any legal move"))
        opponents.update({offer.id: offer for offer in known})
        return messages.GameOffer(
            id=offered.id,
            title=offered.title,
            summary=offered.summary,
            kind=offered.kind,
            players=list(offered.sides),
            shape=shape_of(rules),
            board=board_at(rules, rules.initial()),
            opponents=[offer.id for offer in known],
            networks=networks,
            exact=offered.kind in EXACT,
            reads_positions=callable(getattr(rules, "parse_position", None)),
            reads_pgn=offered.kind == "chess",
        )

    async def _line(self, _: Connection | None, request: messages.ShowLine) -> messages.Answer:
        offered = self._catalogue.game(request.line.game)

        def show() -> messages.LineShown:
            played = Played(offered.rules, request.line)
            boards = played.boards()
            line = request.line.model_copy(update={"moves": played.texts()})
            position = position_at(played.game, played.state, boards[-1])
            return messages.LineShown(line=line, boards=boards, position=position)

        if offered.kind and len(request.line.moves) <= SHORT:
            return show()
        return await self.threaded(show)

    async def _read(self, _: Connection | None, request: messages.ReadGame) -> messages.Answer:
        offered = self._catalogue.game(request.game)
        return await self.threaded(lambda: read_game(offered, request.text))

    async def _write(self, _: Connection | None, request: messages.WriteGame) -> messages.Answer:
        offered = self._catalogue.game(request.line.game)
        return await self.threaded(lambda: write_game(offered, request.line))

    async def _play_new(
        self, connection: Connection | None, request: messages.PlayNew
    ) -> messages.Answer:
        table = await self.threaded(lambda: self.tables.prepare(request))
        self.tables.sit_down(table, connection)
        return await self.threaded(table.shown)

    async def _play_open(
        self, connection: Connection | None, request: messages.PlayOpen
    ) -> messages.Answer:
        return await self.threaded(self.tables.find(request.session, connection).shown)

    async def _play_move(
        self, connection: Connection | None, request: messages.PlayMove
    ) -> messages.Answer:
        table = self.tables.find(request.session, connection)
        await self.threaded(lambda: self.tables.move(table, request))
        shown = await self.threaded(table.shown)
        self.tables.changed(table, connection)
        return shown

    async def _play_undo(
        self, connection: Connection | None, request: messages.PlayUndo
    ) -> messages.Answer:
        table = self.tables.find(request.session, connection)
        self.tables.undo(table)
        shown = await self.threaded(table.shown)
        self.tables.changed(table, connection)
        return shown

    async def _play_close(
        self, _: Connection | None, request: messages.PlayClose
    ) -> messages.Answer:
        self.tables.close(request.session)
        return messages.Done()

    async def _judge(self, _: Connection | None, request: messages.Judge) -> messages.Answer:
        most = self._settings.bounds.simulations
        if request.simulations > most:
            raise Refusal(422, f"a short search has {most:,} simulations at most")
        offered = self._catalogue.game(request.line.game)

        def search() -> messages.Judged:
            played = Played(offered.rules, request.line)
            outcome = played.game.outcome(played.state)
            if outcome is not None:
                return over(played)
            judge = self._judges.judge(offered, request.network)
            live = judge.search(counted=True)
            state = judge.translated(played.game, played.states[0], tuple(played.actions))
            live.follow(state)
            limits = Limits(request.simulations, seconds=self._settings.bounds.seconds)
            result = live.run(limits)
            found = judged(result, judge.rules, state)
            live.close()
            return found

        return await self._room.run(search)

    async def _exact(self, _: Connection | None, request: messages.Exact) -> messages.Answer:
        offered = self._catalogue.game(request.line.game)
        exact = self._seats.exact(offered)

        def solve() -> messages.ExactAnswer:
            played = Played(offered.rules, request.line)
            game, state = played.game, played.state
            if game.outcome(state) is not None:
                return messages.ExactAnswer(moves={})
            stones = sum(cell != "." for cell in played.boards()[-1].cells)
            found = exact.results(state, stones)
            return messages.ExactAnswer(
                moves={action_text(game, state, action): each for action, each in found.items()}
            )

        return await self._solving.run(solve)


def over(played: Played) -> messages.Judged:
    """What is known of a game that has ended."""
    game, state = played.game, played.state
    outcome = game.outcome(state)
    assert outcome is not None
    turn = game.player(state)
    result = value_for(outcome, turn)
    return messages.Judged(
        turn=turn, value=float(result), wdl=CERTAIN_WDL[result], visits=0, proven=result,
        distance=0, rows=[],
    )  # fmt: skip


def _plain(ident: str, title: str, detail: str, levels: bool = False) -> messages.OpponentOffer:
    return messages.OpponentOffer(id=ident, title=title, detail=detail, levels=levels)
