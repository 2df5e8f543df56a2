"""Mates are proven, and every claim of a mate is checked against the rules."""

from pathlib import Path

import chess
import pytest
from written_suites import MATES, Scripted, answers, write

from zermelo.errors import UserError
from zermelo.suites.files import Problem, Suite, read_suite
from zermelo.suites.mate_proof import ProofTree, verify_mate
from zermelo.suites.report import summary
from zermelo.suites.solve import SuiteSolver

UNIFORM = "search?simulations={}&evaluator=uniform"
BACK_RANK = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"  # 1 Re8 mates


def test_mates_are_proven_and_every_proof_is_verified() -> None:
    suite = read_suite(MATES / "mate2.epd", 20)
    found = list(SuiteSolver(suite, UNIFORM.format(2_000)).answers())
    proven = [answer for answer in found if answer.solved]
    assert len(proven) >= 15
    assert all(answer.verified is True and answer.exact for answer in proven)
    assert all(answer.simulations and answer.simulations <= 2_000 for answer in proven)
    table = summary(found)["mates"]
    assert (table["verified"], table["wrong"]) == (len(proven), [])


def test_a_player_that_proves_nothing_is_not_asked_for_mates() -> None:
    with pytest.raises(UserError, match="proofs of mates"):
        SuiteSolver(read_suite(MATES / "mate1.epd", 1), "random")
    (answer,) = SuiteSolver(
        read_suite(MATES / "mate1.epd", 1), UNIFORM.format(100) + "&solver=off"
    ).answers()
    assert not answer.solved and answer.mate is None


def test_a_player_that_proves_nothing_is_asked_for_the_move_if_there_is_one(tmp_path: Path) -> None:
    mixed = write(tmp_path, f'{BACK_RANK[:-4]} bm Re8; id "a";\n{BACK_RANK[:-4]} dm 1; id "b";\n')
    with pytest.raises(UserError, match=r"proofs of mates \(the first is b\)"):
        SuiteSolver(read_suite(mixed), Scripted("e1e8", "e1e8"))
    assert [a.solved for a in answers(mixed, UNIFORM.format(200))] == [True, True]
    problem = Problem("c", BACK_RANK, best=("e1e8",), mate=1)
    suite = Suite("named", "mates", "chess", (problem, problem))
    found = list(SuiteSolver(suite, Scripted("e1e8", "e1e7")).answers())
    assert [answer.solved for answer in found] == [True, False]
    (proven, _) = SuiteSolver(suite, UNIFORM.format(200)).answers()
    assert proven.verified is True


NO_TREE = ProofTree([])


def test_a_claimed_mate_is_checked_against_every_defence() -> None:
    for moves in (1, 2):
        for problem in read_suite(MATES / f"mate{moves}.epd", 10).problems:
            board = chess.Board(problem.position)
            assert verify_mate(board, moves, NO_TREE) is True
            if moves > 1:
                assert verify_mate(board, moves - 1, NO_TREE) is False


def test_being_mated_is_checked_too() -> None:
    cornered = chess.Board("7k/8/5K2/8/8/8/8/6Q1 b - - 0 1")  # 1...Kh7 2 Qg7
    assert verify_mate(cornered, -1, NO_TREE) is True
    with_air = chess.Board("6k1/5ppp/8/8/8/8/8/2KRR3 b - - 0 1")  # 1...h6 and nothing mates
    assert verify_mate(with_air, -1, NO_TREE) is False


def test_stalemate_is_no_mate() -> None:
    stalemating = chess.Board("7k/8/5KQ1/8/8/8/8/8 b - - 0 1")
    assert stalemating.is_stalemate()
    assert verify_mate(stalemating, -1, NO_TREE) is False


def test_a_wrong_hint_does_not_make_a_proof() -> None:
    hint = {"id": 1, "parent": 0, "action": "e1e7", "proven": 1, "distance": 0}
    root = {"id": 0, "parent": None, "action": "", "proven": 1, "distance": 1}
    tree = ProofTree([root, hint])
    quiet = chess.Board("6k1/5pp1/8/8/8/8/8/K3R3 w - - 0 1")  # h7 is free
    assert tree.winning(0) == [("e1e7", 1)]
    assert verify_mate(quiet, 1, tree) is False
    assert verify_mate(chess.Board(BACK_RANK), 1, tree) is True


def test_too_large_a_check_is_left_undecided() -> None:
    assert verify_mate(chess.Board(), 3, NO_TREE, positions=500) is None


def test_what_the_rules_refute_is_not_counted_as_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.suites.solve.verify_mate", lambda *_: False)
    (answer,) = SuiteSolver(read_suite(MATES / "mate1.epd", 1), UNIFORM.format(200)).answers()
    assert answer.mate == 1 and answer.verified is False and not answer.solved
    assert summary([answer])["mates"]["wrong"] == [answer.name]
