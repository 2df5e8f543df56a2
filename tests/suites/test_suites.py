"""Suites: every format is read, answers are judged by what is known, claims are checked."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from outside_data import outside_data
from written_suites import MATES, Scripted, answers, write

import zermelo
from zermelo.cli import solve as solve_command
from zermelo.errors import UserError
from zermelo.players import player
from zermelo.players.search_player import SearchPlayer
from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.suites.files import read_suite
from zermelo.suites.report import share_interval, summary
from zermelo.suites.solve import Answer, SuiteSolver, watch_search

UNIFORM = "search?simulations={}&evaluator=uniform"
BACK_RANK = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"  # 1 Re8 mates
PUZZLES = """PuzzleId,FEN,Moves,Rating,Themes
one,6k1/5ppp/8/8/8/8/7P/K3R3 b - - 0 1,h7h6 e1e8 g8h7 h2h4,900,endgame short
mate,6k1/p4ppp/8/8/8/8/7K/3RR3 b - - 0 1,a7a6 e1e8,1000,mate short
"""


OTHELLO = (
    "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X; "
    "G8:+18; H1:+12; H7:+6; A2:+6; A3:+4; B1:-4; A4:-22; G2:-24;\n"
)


# Scores of the columns: 1 -3, 2 +2, 4 +4, 6 -4; the others are full.
LATE = "531633412573473732555776574121142"


# Reading


def test_the_format_is_told_by_the_content(tmp_path: Path) -> None:
    for text, kind, game in (
        (f'{BACK_RANK[:-4]} bm Re8#; id "x";\n', "moves", "chess"),
        (f"{BACK_RANK[:-4]} dm 1;\n", "mates", "chess"),
        (f"{BACK_RANK[:-4]} bm #1;\n", "mates", "chess"),
        (PUZZLES, "puzzles", "chess"),
        ("\n".join(PUZZLES.splitlines()[1:]), "puzzles", "chess"),  # without the names of columns
        ("# late positions\n2252576253462244111563365343671351441 -1\n", "connect4", "connect4"),
        (OTHELLO, "othello", "othello"),
    ):
        suite = read_suite(write(tmp_path, text))
        assert (suite.kind, suite.game) == (kind, game), text


def test_what_is_known_is_read(tmp_path: Path) -> None:
    epd = write(tmp_path, f'{BACK_RANK[:-4]} bm Re8# Kb1; am Re2; id "first";\n')
    (problem,) = read_suite(epd).problems
    assert (problem.name, problem.best, problem.avoid) == ("first", ("e1e8", "a1b1"), ("e1e2",))
    (problem,) = read_suite(write(tmp_path, "6k1/5ppp/8/8/8/8/8/K3R3 b - - bm #-4;")).problems
    assert (problem.mate, problem.themes) == (-4, ("mated in 4",))
    (problem,) = read_suite(write(tmp_path, f"{BACK_RANK[:-4]} bm Re8#; dm 1;")).problems
    assert (problem.mate, problem.best, problem.themes) == (1, ("e1e8",), ("mate in 1",))
    one, _ = read_suite(write(tmp_path, PUZZLES)).problems
    assert (one.name, one.themes) == ("one", ("endgame", "short"))
    (board,) = read_suite(write(tmp_path, OTHELLO)).problems
    assert (board.score, board.scores["g2"], len(board.scores)) == (18, -24, 8)


def test_a_limit_leaves_the_rest_unread(tmp_path: Path) -> None:
    path = write(tmp_path, "44 1\n445 2\nnonsense\n")
    assert len(read_suite(path, 2).problems) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no problems"),
        ("hello\n", "is no suite"),
        ("44 1\n48 1\n", "suite.txt line 2: columns from 1 to 7"),
        ("44 1\n\n44444441 1\n", "suite.txt line 3: "),
        ("1212121 3\n", "line 1: the game is over"),
        (f"{BACK_RANK[:-4]} bm Re8;\n{BACK_RANK[:-4]} bm Qa1;\n", "line 2: .*Qa1"),
        (f'{BACK_RANK[:-4]} id "x";\n', "line 1: it says nothing"),
        (f"{BACK_RANK[:-4]} bm Re8;\nhello\n", "line 2: this is no EPD"),
        (f"{BACK_RANK[:-4]} dm {'9' * 5000};\n", "line 1: it has a number of hundreds of digits"),
        (f"{BACK_RANK[:-4]} dm -5;\n", "line 1: a mate in -5 moves is none"),
        (f"{BACK_RANK[:-4]} dm 99999;\n", "line 1: a mate in 99999 moves is none"),
        (PUZZLES.splitlines()[0], "has no problems"),
        (PUZZLES + "bad,6k1/5ppp/8/8/8/8/8/K3R3 b - - 0 1,h7h9 e1e8,1,\n", "line 4: .*h7h9"),
        (PUZZLES + "short,6k1/5ppp/8/8/8/8/8/K3R3 b - - 0 1,h7h6,1,\n", "line 4: Moves needs"),
        (OTHELLO + OTHELLO.replace("G8:+18", "G8"), "line 2: 'G8' is no scored move"),
        (OTHELLO.replace("G8:+18", "C1:+18"), "line 1: .*c1"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_suite(write(tmp_path, text))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "suite.epd"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(UserError, match="not a text file"):
        read_suite(path)


def test_a_line_that_is_too_long_for_a_table_is_named(tmp_path: Path) -> None:
    long = "x" * (csv.field_size_limit() + 1)
    with pytest.raises(UserError, match=r"suite\.txt' is no suite: its first line"):
        read_suite(write(tmp_path, f"{long}\n"))
    path = write(tmp_path, f"{PUZZLES}{long}\n")
    with pytest.raises(UserError, match=r"suite\.txt line 4: field larger than field limit"):
        read_suite(path)
    assert len(read_suite(path, 2).problems) == 2


def test_a_quote_that_does_not_end_does_not_swallow_the_next_puzzle(tmp_path: Path) -> None:
    path = write(tmp_path, PUZZLES.replace("endgame", '"endgame'))
    assert [problem.name for problem in read_suite(path).problems] == ["one", "mate"]


# Judging


@pytest.mark.technique("E2")
def test_best_and_avoided_moves_decide(tmp_path: Path) -> None:
    path = write(tmp_path, f"{BACK_RANK[:-4]} bm Re8;\n{BACK_RANK[:-4]} am Re2;\n" * 2)
    found = answers(path, Scripted("e1e8", "e1e2", "e1e7", "e1e3"))
    assert [answer.solved for answer in found] == [True, False, False, True]
    assert (found[2].given, found[2].wanted) == ("e1e7", "e1e8")


def test_a_puzzle_needs_every_move_and_takes_any_mate(tmp_path: Path) -> None:
    path = write(tmp_path, PUZZLES)
    right = answers(path, Scripted("e1e8", "h2h4", "d1d8"))  # Rd8 mates as well as Re8
    assert [answer.solved for answer in right] == [True, True]
    wrong = answers(path, Scripted("e1e8", "h2h3", "e1e7"))
    assert [answer.solved for answer in wrong] == [False, False]
    assert (wrong[0].given, wrong[0].wanted) == ("h2h3", "h2h4")


@pytest.mark.technique("E2")
def test_connect_four_is_judged_by_the_exact_result(tmp_path: Path) -> None:
    path = write(tmp_path, f"{LATE} 4\n" * 3)
    found = answers(path, Scripted("4", "2", "1"))
    assert [(answer.solved, answer.optimal) for answer in found] == [
        (True, True),
        (True, False),
        (False, False),
    ]
    assert found[0].themes == ("win",)


def test_othello_is_judged_by_the_listed_scores(tmp_path: Path) -> None:
    path = write(tmp_path, OTHELLO * 3)
    found = answers(path, Scripted("g8", "h1", "b1"))
    assert [(answer.solved, answer.optimal) for answer in found] == [
        (True, True),
        (True, False),
        (False, False),
    ]
    assert found[2].wanted == "g8"


def test_the_value_is_compared_with_the_result(tmp_path: Path) -> None:
    path = write(tmp_path, f"{LATE} 4\n")
    (answer,) = answers(path, UNIFORM.format(2000))
    assert answer.solved and answer.value_error == 0.0  # proven


# Simulations to solve


def searcher(spec: str, game: Any) -> SearchPlayer:
    who = player(spec, game)
    assert isinstance(who, SearchPlayer)
    return who


@pytest.mark.parametrize("options", ["", "&solver=off", "&tree_reuse=off"])
def test_a_search_that_is_watched_ends_where_it_would_unwatched(options: str) -> None:
    game: Any = zermelo.game("chess")
    fen = read_suite(MATES / "mate2.epd").problems[3].position
    state = game.parse_position(fen)
    who = searcher(UNIFORM.format(700) + options, game)
    watched = watch_search(who, game, state, lambda result: True)
    settings = SearchOptions(solver="solver" not in options, tree_reuse="reuse" not in options)
    plain = Search(game, UniformEvaluator(), settings).run(state, 700)
    assert watched.result is not None
    assert watched.result.visits.tolist() == plain.visits.tolist()
    assert watched.action == plain.best_action
    assert watched.simulations == 1


def test_simulations_to_solve_is_since_when_the_answer_stayed_right() -> None:
    game: Any = zermelo.game("chess")
    state = game.initial()
    looks: list[int] = []

    def right(result: Any) -> bool:
        looks.append(result.root_visits - 1)
        return 10 <= looks[-1] < 20 or looks[-1] >= 50

    who = searcher(UNIFORM.format(200), game)
    choice = watch_search(who, game, state, right)
    assert looks[:20] == list(range(1, 21))
    assert looks[-1] == 200
    assert choice.simulations == next(look for look in looks if look >= 50)
    assert watch_search(who, game, state, lambda result: False).simulations is None


def test_a_plan_for_the_whole_budget_is_looked_at_in_the_end_only() -> None:
    game: Any = zermelo.game("chess")
    who = searcher("search?simulations=64&gumbel=on&evaluator=uniform", game)
    choice = watch_search(who, game, game.parse_position(BACK_RANK), lambda result: True)
    assert choice.solved and choice.simulations is None


# Report


def made(name: str, solved: bool, simulations: int | None, *themes: str) -> Answer:
    return Answer(name, solved, "a", "b", themes, 0.5, simulations)


def test_the_summary_counts_by_budget_and_theme() -> None:
    found = summary(
        [
            made("1", True, 1, "fork", "short"),
            made("2", True, 40, "fork"),
            made("3", True, 900, "pin"),
            made("4", False, None, "fork"),
        ]
    )
    assert (found["problems"], found["solved"], found["share"]) == (4, 3, 0.75)
    assert found["simulations"] == {
        "median_of_solved": 40,
        "most": 900,
        "within": {"1": 0.25, "10": 0.25, "100": 0.5, "1000": 0.75},
    }
    assert [(row["theme"], row["problems"], row["solved"]) for row in found["themes"]] == [
        ("fork", 3, 2),
        ("pin", 1, 1),
        ("short", 1, 1),
    ]
    assert found["mates"] is None and found["optimal"] is None and found["seconds"] == 2.0
    assert summary([])["share"] == 0.0


def test_the_largest_budget_is_the_least_power_of_ten_that_solves_all_that_was_solved() -> None:
    for most, last in ((1, "1"), (9, "10"), (10, "10"), (11, "100")):
        found = summary([made("1", True, 1), made("2", True, most)])["simulations"]["within"]
        assert list(found.items())[-1] == (last, 1.0)


def test_the_interval_of_a_share_is_wilsons() -> None:
    assert share_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert share_interval(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-3)


# Command


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def call(*arguments: str) -> str:
        app = typer.Typer(pretty_exceptions_enable=False)
        app.callback()(lambda: None)
        solve_command.add_to(app)
        typer.main.get_command(app).main(["solve", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    return call


def test_the_command_reports_as_text_and_json(run: Callable[..., str], tmp_path: Path) -> None:
    suite, who = str(MATES / "mate1.epd"), UNIFORM.format(150)
    text = run(suite, "--limit", "10", "--player", who)
    assert "proven 10 of 10: 100.0%" in text and "10 verified" in text
    out = tmp_path / "answers.jsonl"
    report = json.loads(run(suite, "--limit", "5", "-p", who, "--json", "--out", str(out)))
    assert (report["kind"], report["game"], report["interrupted"]) == ("mates", "chess", False)
    assert report["players"][0]["solved"] == 5
    assert len(report["players"][0]["answers"]) == 5
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["name"] for line in lines] == ["1", "2", "3", "4", "5"]
    assert lines[0]["verified"] is True


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_solved(
    run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SuiteSolver, "solve", lambda *_: pytest.fail("it was solved"))
    for place, said in ((tmp_path, "cannot be written: Is a dir"), (tmp_path / "no" / "x", "no f")):
        with pytest.raises(UserError, match=said):
            run(str(MATES / "mate1.epd"), "--limit", "1", "--out", str(place))


def test_people_are_not_asked_to_solve(run: Callable[..., str]) -> None:
    with pytest.raises(UserError, match="without people: 'human' cannot take part"):
        run(str(MATES / "mate1.epd"), "-p", "human")


def test_players_are_compared(run: Callable[..., str], tmp_path: Path) -> None:
    path = write(tmp_path, f"{LATE} 4\n2762751722231276466633475674533 5\n")
    text = run(str(path), "-p", "perfect", "-p", "search?simulations=50", "--failed")
    assert text.count("result kept 2 of 2") >= 1
    assert "95 % interval" in text


def test_an_interrupted_run_reports_what_it_has(
    run: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solve_one = SuiteSolver.solve
    solved: list[Any] = []

    def interrupted(self: SuiteSolver, problem: Any) -> Answer:
        if len(solved) == 3:
            raise KeyboardInterrupt
        solved.append(problem)
        return solve_one(self, problem)

    monkeypatch.setattr(SuiteSolver, "solve", interrupted)
    app = typer.Typer()
    app.callback()(lambda: None)
    solve_command.add_to(app)
    code = typer.main.get_command(app).main(
        ["solve", str(MATES / "mate1.epd"), "-p", UNIFORM.format(100)], standalone_mode=False
    )
    assert code == 130
    assert "proven 3 of 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "kind", "problems"),
    [
        ("chess/wacnew.epd", "moves", 300),
        ("chess/bratko-kopec.epd", "moves", 24),
        ("chess/mates1000.epd", "mates", 1000),
        ("chess/lichess_puzzles_500.csv", "puzzles", 500),
        ("connect4/Test_L3_R1", "connect4", 1000),
        ("othello/fforum-40-59.obf", "othello", 20),
    ],
)
def test_real_suites_are_read_whole(file: str, kind: str, problems: int) -> None:
    suite = read_suite(outside_data(file))
    assert (suite.kind, len(suite.problems)) == (kind, problems)


def test_perfect_play_solves_every_late_position() -> None:
    suite = read_suite(outside_data("connect4/Test_L3_R1"), 30)
    found = list(SuiteSolver(suite, "perfect").answers())
    assert all(answer.solved and answer.optimal for answer in found)
