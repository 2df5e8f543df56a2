"""Whether the statistics of matches keep their promises, by simulated matches.

Usage: python benchmarks/match_statistics.py [intervals] [sprt] [ratings] [--matches N] [--json]

`intervals`: how often the 95 % interval holds the true Elo, by strength, draws, games and how the
two games of a pair depend on each other. `sprt`: how often the sequential test accepts the wrong
hypothesis, and how long it takes. `ratings`: how often the 95 % intervals of a tournament hold the
true differences, of single games and of pairs that go the same way. Without a name all three are
run; with 10,000 matches the intervals take less than a minute, the sequential test a quarter of an
hour.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.statistics import GamePair, Meeting, Score, Sprt, bradley_terry, score_of
from zermelo.statistics.rating import score_intervals

Floats = NDArray[np.float64]
GAME = (0.0, 0.5, 1.0)  # points per game of each result
PAIR = (0.0, 0.25, 0.5, 0.75, 1.0)
ELOS = (0, 50, 100, 200, 300, 400)
DRAWS = (0.0, 0.2, 0.5, 0.9)


def game_results(elo: float, draws: float) -> Floats:
    """Probabilities of loss, draw and win with that mean score."""
    score = score_of(elo)
    return np.array([1.0 - score - draws / 2, draws, score - draws / 2])


def most_draws(elo: float) -> float:
    """Almost all the draws that a mean score leaves room for."""
    return 0.95 * 2.0 * min(score_of(elo), 1.0 - score_of(elo))


def alike_pairs(elo: float, draws: float, alike: float) -> Floats:
    """Pairs whose second game repeats the first one's result in a share `alike` of them."""
    game = game_results(elo, draws)
    same = np.zeros(5)
    same[::2] = game
    return (1.0 - alike) * np.convolve(game, game) + alike * same


def opening_pairs(elo: float, draws: float, spread: float) -> Floats:
    """Pairs from openings that favour one side by a normal number of Elo with that spread.

    What the opening gives in one game it takes in the other. `draws` is the weight of a draw
    against the geometric mean of win and loss, by Davidson's model.
    """
    points, weights = np.polynomial.hermite_e.hermegauss(15)
    weights = weights / weights.sum()

    def game(strength: float) -> Floats:
        result = np.array([10.0 ** (-strength / 800), draws, 10.0 ** (strength / 800)])
        return result / result.sum()

    def pairs(strength: float) -> Floats:
        both = [
            np.convolve(game(strength + spread * x), game(strength - spread * x)) for x in points
        ]
        return np.asarray(weights @ np.array(both))

    low, high = -3000.0, 3000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if pairs(middle) @ PAIR < score_of(elo) else (low, middle)
    return pairs(low)


def cells() -> Iterator[tuple[str, float, float, Floats]]:
    """Name, Elo, share of draws and the probabilities of results: three for games, five for pairs.

    Draws for pairs with an opening's bias are counted as what is left when the bias is 0.
    """
    for elo in ELOS:
        room = most_draws(elo)
        for draws in sorted({min(share, room) for share in DRAWS}):
            yield "games", elo, draws, game_results(elo, draws)
            yield "independent pairs", elo, draws, alike_pairs(elo, draws, 0.0)
            yield "alike pairs", elo, draws, alike_pairs(elo, draws, 0.4)
        for weight, spread in ((0.3, 200.0), (2.0, 200.0), (0.5, 500.0), (8.0, 200.0)):
            even = weight / (2.0 + weight)
            yield "biased openings", elo, even, opening_pairs(elo, weight, spread)


def coverage(
    results: Floats, elo: float, games: int, matches: int, random: np.random.Generator
) -> float:
    """Share of simulated matches whose 95 % interval holds the true Elo."""
    values = GAME if len(results) == 3 else PAIR
    rounds = games if len(results) == 3 else games // 2
    counts = random.multinomial(rounds, results, size=matches)
    distinct, times = np.unique(counts, axis=0, return_counts=True)
    low, high = score_intervals(distinct, values)
    holds = (low <= score_of(elo)) & (score_of(elo) <= high)
    return float(times[holds].sum() / matches)


def intervals(matches: int, random: np.random.Generator) -> list[dict[str, Any]]:
    """Coverage of every cell at several lengths."""
    rows = []
    for games in (20, 30, 50, 100, 200, 400):
        for kind, elo, draws, results in cells():
            covered = coverage(results, elo, games, matches, random)
            row = {"games": games, "kind": kind, "elo": elo, "draws": round(draws, 3)}
            rows.append(row | {"covered": covered})
    return rows


def show_intervals(rows: list[dict[str, Any]]) -> None:
    """The range of coverage by length and kind, and the cells beyond 95 ± 2 %."""
    print("95 % intervals: least and most coverage, cells beyond 95 ± 2 %")
    for games in sorted({row["games"] for row in rows}):
        for kind in dict.fromkeys(row["kind"] for row in rows):
            found = [row for row in rows if (row["games"], row["kind"]) == (games, kind)]
            covered = [row["covered"] for row in found]
            beyond = [row for row in found if abs(row["covered"] - 0.95) > 0.02]
            print(
                f"{games:>5} games  {kind:<18} {min(covered):7.1%} {max(covered):7.1%}  "
                f"{len(beyond):>2} of {len(found)}",
                *(f"[Elo {r['elo']} draws {r['draws']}: {r['covered']:.1%}]" for r in beyond),
            )


def run_sprt(
    test: Sprt, results: Floats, matches: int, random: np.random.Generator, step: int = 10
) -> tuple[float, float]:
    """(share that accepts H1, mean games), looking after every `step` games or pairs."""
    values = GAME if len(results) == 3 else PAIR
    lower, upper = test.bounds
    counts = np.zeros((matches, len(results)), np.int64)
    accepted, games = 0, 0.0
    rounds = 0
    while len(counts):
        counts = counts + random.multinomial(step, results, size=len(counts))
        rounds += step
        llr = test.llr(counts, values)
        ended = (llr <= lower) | (llr >= upper)
        accepted += int((llr >= upper).sum())
        games += int(ended.sum()) * rounds * (len(results) // 2)
        counts = counts[~ended]
    return accepted / matches, games / matches


def sprt(matches: int, random: np.random.Generator) -> list[dict[str, Any]]:
    """Error rates at both ends of the tested range, and what lies between and beyond."""
    rows = []
    for elo0, elo1 in ((0.0, 10.0), (-10.0, 0.0), (0.0, 40.0)):
        test = Sprt(elo0, elo1)
        for elo in (elo0 - 5.0, elo0, (elo0 + elo1) / 2, elo1, elo1 + 5.0):
            for kind, results in (
                ("games", game_results(elo, 0.5)),
                ("biased openings", opening_pairs(elo, 2.0, 200.0)),
                ("alike pairs", alike_pairs(elo, 0.3, 0.4)),
            ):
                share, games = run_sprt(test, results, matches, random, step=20)
                row = {"elo0": elo0, "elo1": elo1, "alpha": test.alpha, "beta": test.beta}
                row |= {"elo": elo, "kind": kind, "accepts_h1": share, "games": games}
                rows.append(row)
    return rows


def show_sprt(rows: list[dict[str, Any]]) -> None:
    """One line per true Elo."""
    print("sequential test: H1 accepted, mean games (5 % errors at elo0 and elo1)")
    for row in rows:
        print(
            f"  [{row['elo0']:g}, {row['elo1']:g}] true {row['elo']:+6.1f}  {row['kind']:<16} "
            f"{row['accepts_h1']:7.2%} {row['games']:>9,.0f}"
        )


def tournament(
    elos: Floats, first: float, draws: float, games: int, random: np.random.Generator
) -> list[Meeting]:
    """A round robin; each pairing plays `games` with each colour."""
    meetings = []
    for i, j in ((i, j) for i in range(len(elos)) for j in range(len(elos)) if i != j):
        elo = float(elos[i] - elos[j]) + first
        results = game_results(elo, min(draws, most_draws(elo)))
        losses, drawn, wins = random.multinomial(games, results)
        meetings.append(Meeting(f"p{i}", f"p{j}", Score(int(wins), int(drawn), int(losses))))
    return meetings


def paired_tournament(
    elos: Floats, first: float, draws: float, games: int, alike: float, random: np.random.Generator
) -> tuple[list[Meeting], list[GamePair]]:
    """A round robin in pairs; in a share `alike` of them the same luck decides both games."""
    meetings: list[Meeting] = []
    pairs: list[GamePair] = []
    for i, j in combinations(range(len(elos)), 2):
        luck = random.random(games)
        other_luck = np.where(random.random(games) < alike, luck, random.random(games))
        points = []  # of the player who moves first, in both games of each pair
        for one, other, lucky in ((i, j, luck), (j, i, 1.0 - other_luck)):
            elo = float(elos[one] - elos[other]) + first
            shares = np.cumsum(game_results(elo, min(draws, most_draws(elo))))
            points.append(np.searchsorted(shares[:2], lucky) / 2.0)
            won = Score.of(points[-1].tolist())
            meetings.append(Meeting(f"p{one}", f"p{other}", won))
        both = zip(*(p.tolist() for p in points), strict=True)
        pairs += [GamePair(f"p{i}", f"p{j}", results) for results in both]
    return meetings, pairs


def ratings(matches: int, random: np.random.Generator) -> list[dict[str, Any]]:
    """How often the interval of a rating, of a difference, and of the first move is right.

    Players are normal with a spread of 150 Elo, or `apart`: so far from one to the next.
    """
    rows = []
    for players, games, draws, alike, apart in (
        (4, 25, 0.0, None, None),
        (4, 25, 0.5, None, None),
        (8, 10, 0.3, None, None),
        (8, 50, 0.3, None, None),
        (4, 25, 0.0, 1.0, None),
        (8, 25, 0.3, 0.4, None),
        (3, 2, 0.0, 0.0, 400.0),
        (3, 10, 0.0, 0.0, 400.0),
        (3, 10, 0.3, 0.4, 400.0),
        (3, 50, 0.0, 0.0, 400.0),
    ):
        held: dict[str, list[bool]] = {"rating": [], "difference": [], "first": []}
        for _ in range(max(1, matches // 10)):
            elos = random.normal(0.0, 150.0, players)
            if apart is not None:
                elos = np.arange(players) * apart
            pairs: list[GamePair] = []
            if alike is None:
                meetings = tournament(elos, 35.0, draws, games, random)
            else:
                meetings, pairs = paired_tournament(elos, 35.0, draws, games, alike, random)
            found = bradley_terry(meetings, anchor="p0", pairs=pairs)
            for i in range(1, players):
                elo, error = found[f"p{i}"].elo, found[f"p{i}"].error
                assert elo is not None and error is not None
                held["rating"].append(abs(elo - (elos[i] - elos[0])) <= 1.96 * error)
            elo, error = found.difference("p1", "p2")
            held["difference"].append(abs(elo - (elos[1] - elos[2])) <= 1.96 * error)
            assert found.first_advantage is not None
            elo, error = found.first_advantage
            held["first"].append(abs(elo - 35.0) <= 1.96 * error)
        row = {"players": players, "games_each_way": games, "draws": draws, "alike": alike}
        row |= {"apart": apart}
        rows.append(row | {name: float(np.mean(values)) for name, values in held.items()})
    return rows


def show_ratings(rows: list[dict[str, Any]]) -> None:
    """One line per kind of tournament."""
    print("ratings: 95 % intervals that hold the truth: of a rating, a difference, the first move")
    for row in rows:
        print(
            f"  {row['players']} players, {row['games_each_way']} games each way, "
            f"draws {row['draws']:.0%}, "
            + (f"{row['apart']:.0f} Elo apart, " if row["apart"] else "")
            + ("single games: " if row["alike"] is None else f"pairs {row['alike']:.0%} alike: ")
            + f"{row['rating']:.1%} {row['difference']:.1%} {row['first']:.1%}"
        )


def main() -> None:
    """Prints tables, or one JSON object."""
    parts = {
        "intervals": (intervals, show_intervals),
        "sprt": (sprt, show_sprt),
        "ratings": (ratings, show_ratings),
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *parts], help="what to simulate; all")
    parser.add_argument("--matches", type=int, default=10_000, help="in each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    random = np.random.default_rng(arguments.seed)
    report: dict[str, Any] = {"benchmark": "match_statistics", "matches": arguments.matches}
    for name in arguments.parts or parts:
        measure, show = parts[name]
        report[name] = measure(arguments.matches, random)
        if not arguments.json:
            show(report[name])
    if arguments.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
