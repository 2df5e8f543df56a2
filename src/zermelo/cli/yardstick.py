"""`zermelo yardstick`: how strong a network is, by figures that do not depend on its rivals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.judge import (
    changed_options,
    open_judge,
    read_settings,
    rules_for,
    search_of,
)
from zermelo.cli.match_report import Live, OpeningsOption, SeedOption, print_table
from zermelo.cli.options import (
    BackendOption,
    GameArgument,
    JsonOption,
    SearchSetOption,
    WeightsOption,
)
from zermelo.errors import UserError
from zermelo.options import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zermelo.games.protocol import Game
    from zermelo.search import SearchOptions
    from zermelo.yardsticks.labels import Connect4Labels
    from zermelo.yardsticks.measure import EvaluateOptions, Yardstick
    from zermelo.yardsticks.perfect import PerfectGames

    Progress = Callable[[str, int, int], None]

SHARES = ("keeps_value", "keeps_score", "solved", "score", "score_low", "score_high")
COUNTS = ("positions", "judged", "games", "failures", "wins", "unique_games", "first_mistake")
MISTAKES = 5  # lines that are shown; JSON has all


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(yardstick)


def yardstick(
    game: GameArgument,
    *,
    weights: WeightsOption = None,
    evaluator: Annotated[
        str | None, typer.Option(help="In place of a network: uniform, rollout or hash.")
    ] = None,
    simulations: Annotated[int, typer.Option(min=1, help="Of the search, for a choice.")] = 100,
    positions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only these: 'generated', a file, or a folder of files; repeatable.",
        ),
    ] = None,
    perfect: Annotated[
        int, typer.Option(min=0, help="Connect Four: games against the perfect player.")
    ] = 0,
    opponents: Annotated[
        str | None, typer.Option(help="Players, separated by blanks; 'policy' is without search.")
    ] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Against each opponent.")] = None,
    openings: OpeningsOption = "random:4",
    suite: Annotated[Path | None, typer.Option(help="Problems: an EPD file for chess.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first positions or problems.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Also for files: is the exact score kept? Slow.")
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(help="Where solved Connect Four positions are kept.")
    ] = None,
    seed: SeedOption = 0,
    threads: Annotated[
        int, typer.Option(min=0, help="Of the search and of the solver; 0: one for each core.")
    ] = 0,
    settings: SearchSetOption = None,
    backend: BackendOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure a network: known positions, perfect play, fixed opponents."""
    from zermelo.cli.waiting import interruptible
    from zermelo.cores import available_cores
    from zermelo.yardsticks.measure import installed, measure

    if (weights is None) == (evaluator is None):
        raise UserError("which network? Give --weights FILE, or --evaluator uniform without one")
    if games is not None and opponents is None and (positions or perfect or suite):
        raise UserError("--games counts games against --opponents, and none is named")
    for opponent in (opponents or "").split():
        if not installed(opponent):
            raise UserError(f"--opponents: '{opponent}' is not installed")
    rules = rules_for(game, weights)
    threads = threads or available_cores()
    options = search_of(weights).replace(**read_settings(settings or ()))
    options = options.replace(threads=threads)
    judge, title = open_judge(rules, weights, backend, evaluator or "", seed)
    plan = evaluate_options(
        simulations=simulations,
        opponents=opponents,
        games=games,
        openings=openings,
        suite=None if suite is None else str(suite),
        positions=limit,
        perfect_games=perfect or None,
        seed=seed,
        threads=threads,
    )
    with Live() as live:

        def progress(text: str, done: int, of: int) -> None:
            live.show(done, of, text)

        wanted = Wanted(rules, plan, options, progress, cache, threads, exact, limit)
        chosen = (
            wanted.of_sets(positions or [], bool(opponents), perfect)
            if positions or perfect or suite
            else wanted.usual()
        )
        if not chosen:
            raise UserError(f"there is no yardstick for {rules.name} with these options")
        figures = interruptible(lambda: measure(chosen, judge))
    games_lost = next((y.last for y in chosen if hasattr(y, "last")), None)
    if as_json:
        print(json.dumps(report(rules, title, plan, options, figures, games_lost), indent=2))
    else:
        show(rules, title, plan, options, figures, games_lost)


def evaluate_options(**given: Any) -> EvaluateOptions:
    """Those of a run, with what the command line says."""
    from zermelo.options import make_options
    from zermelo.yardsticks.measure import EvaluateOptions

    values = {name: value for name, value in given.items() if value is not None}
    return make_options(EvaluateOptions, values, "yardstick")


class Wanted:
    """Makes the yardsticks that the command line asks for."""

    def __init__(
        self,
        game: Game,
        plan: EvaluateOptions,
        search: SearchOptions,
        progress: Progress,
        cache: Path | None,
        threads: int,
        exact: bool,
        limit: int | None,
    ) -> None:
        self.game = game
        self.plan = plan
        self.search = search
        self.progress = progress
        self.cache = cache
        self.threads = threads
        self.exact = exact
        self.limit = limit
        self._labels: Connect4Labels | None = None

    def usual(self) -> list[Yardstick]:
        """What a training run measures."""
        from zermelo.yardsticks.measure import yardsticks_for
        from zermelo.yardsticks.positions import PositionYardstick

        found = yardsticks_for(self.game, self.plan, self.search)
        for made in found:
            if isinstance(made, PositionYardstick):
                made.progress = self.progress
        return found

    def of_sets(self, names: list[str], opponents: bool, perfect: int) -> list[Yardstick]:
        """Sets of positions, the perfect player, a suite, and opponents if they were named."""
        from dataclasses import replace

        from zermelo.yardsticks.measure import refuse_equal_names, yardsticks_for
        from zermelo.yardsticks.perfect import PerfectYardstick
        from zermelo.yardsticks.suite import SuiteYardstick

        found = [self.of_set(path) for name in names for path in self.files(name)]
        plan = self.plan
        if plan.suite:
            suite = Path(plan.suite)
            found.append(
                SuiteYardstick(self.game, suite, plan.simulations, self.search, self.limit)
            )
        if perfect and self.game.name != "connect4":
            raise UserError(f"--perfect is for connect4, not for {self.game.name}")
        games = plan.games if opponents else 0
        others = replace(plan, positions=0, games=games, suite="")
        for made in yardsticks_for(self.game, others, self.search):
            if isinstance(made, PerfectYardstick):
                made.labels = self.labels()
                made.progress = self.progress
            found.append(made)
        refuse_equal_names(made.name for made in found)
        return found

    def files(self, name: str) -> Sequence[Path | None]:
        """The files that a name stands for; None is the set of the package."""
        from zermelo.yardsticks.positions import GENERATED

        if name == GENERATED:
            return [None]
        path = Path(name)
        if path.is_dir():
            return sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != ".")
        if not path.is_file():
            raise UserError(
                f"there are no positions '{name}': give '{GENERATED}', a file or a folder"
            )
        return [path]

    def of_set(self, path: Path | None) -> Yardstick:
        """One set of positions."""
        from dataclasses import replace

        from zermelo.yardsticks.positions import (
            GENERATED,
            PositionYardstick,
            connect4_set,
            read_positions,
        )

        if path is None:
            if self.game.name != "connect4":
                raise UserError(f"the set '{GENERATED}' is for connect4, not for {self.game.name}")
            known = connect4_set()
            known = replace(known, positions=known.positions[: self.limit])
        else:
            known = read_positions(path, self.game, self.limit)
        scored = all(position.scores for position in known.positions)
        return PositionYardstick(
            self.game,
            known,
            self.plan.simulations,
            self.search,
            labels=None if scored else self.labels(),
            exact=scored or self.exact,
            progress=self.progress,
        )

    def labels(self) -> Connect4Labels:
        """One for all, with the results of earlier days."""
        from zermelo.yardsticks.labels import Connect4Labels, default_cache

        if self._labels is None:
            self._labels = Connect4Labels(self.cache or default_cache(), self.threads)
        return self._labels


def report(
    game: Game,
    title: str,
    plan: EvaluateOptions,
    search: SearchOptions,
    figures: dict[str, float],
    games: PerfectGames | None,
) -> dict[str, Any]:
    """Plain values with stable keys."""
    mistakes = games.mistakes.most_common() if games else []
    return {
        "game": game.name,
        "evaluator": title,
        "simulations": plan.simulations,
        "search": changed_options(search),
        "metrics": figures,
        "mistakes": [{"moves": moves(line), "games": count} for line, count in mistakes],
    }


def show(
    game: Game,
    title: str,
    plan: EvaluateOptions,
    search: SearchOptions,
    figures: dict[str, float],
    games: PerfectGames | None,
) -> None:
    """A table, one row for each figure."""
    print(f"{game.name}, {title}, {plan.simulations} simulations")
    changes = [f"{name} {value_text(value)}" for name, value in changed_options(search).items()]
    print(f"search: {', '.join(changes) or 'defaults'}\n")
    rows = [(key, text(key, value)) for key, value in figures.items() if key != "seconds"]
    print_table(("measure", "figure"), rows)
    for line, count in games.mistakes.most_common(MISTAKES) if games else ():
        print(f"the win was given away by {moves(line)} in {count} games")
    print(f"\n{figures['seconds']:.1f} s")


def text(key: str, value: float) -> str:
    """A figure with its unit."""
    last = key.rpartition(".")[2].removeprefix("policy_")
    if last in SHARES:
        return f"{value:.2%}"
    if last == "never_loses":
        return "yes" if value else "no"
    if last in COUNTS or last.startswith("losses"):
        return f"{value:.0f}"
    return f"{value:+.1f}" if last == "elo" else f"{value:.3f}"


def moves(line: tuple[int, ...]) -> str:
    """Columns from 1 to 7, as files of positions have them."""
    return "".join(str(column + 1) for column in line)
