"""`zermelo doctor`: names what is wrong with a run, and finds nothing in a healthy one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scripts import load_script

from zermelo.checkpoint import CheckpointStore
from zermelo.doctor import evidence as doctor_evidence
from zermelo.doctor import search as doctor_search
from zermelo.doctor.diagnose import HEALTHY, ILL, UNKNOWN, Finding, diagnose, ill, one_line
from zermelo.doctor.evidence import Evidence
from zermelo.doctor.replay import Rediscovery
from zermelo.errors import UserError
from zermelo.replay import Samples, ShardHeader, read_shard, write_shard
from zermelo.replay.canonical import canonical
from zermelo.runs.directory import Run

broken_runs = load_script("tools/broken_runs.py")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small real run of Connect Four; not to be changed."""
    path = tmp_path_factory.mktemp("health") / "healthy"
    return Path(broken_runs.make_run(path, broken_runs.Case("healthy"), quick=True))


@pytest.fixture
def run(healthy: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(healthy, tmp_path / "run"))


def named(path: Path) -> list[str]:
    return [finding.check for finding in ill(diagnose(path))]


def finding_of(path: Path, check: str, deep: bool = False) -> Finding:
    return next(finding for finding in diagnose(path, deep=deep) if finding.check == check)


def change_shards(
    path: Path,
    samples: Callable[[Samples], Samples] | None = None,
    **statistics: Any,
) -> None:
    for place in sorted((path / "replay").glob("*.zshard")):
        shard = read_shard(place)
        changed = shard.samples if samples is None else samples(shard.samples)
        header = ShardHeader.of(
            shard.header.schema,
            changed,
            iteration=shard.header.iteration,
            worker=shard.header.worker,
            number=shard.header.number,
            statistics=shard.header.statistics | statistics,
        )
        write_shard(place, changed, header)


def change_metrics(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    place = path / "metrics" / "metrics.jsonl"
    entries = [json.loads(line) for line in place.read_text().splitlines()]
    for entry in entries:
        change(entry)
    place.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def test_nothing_is_found_in_a_healthy_run(healthy: Path) -> None:
    findings = diagnose(healthy)
    assert [finding for finding in findings if finding.verdict == ILL] == []
    known = {finding.check for finding in findings if finding.verdict == HEALTHY}
    assert {"learning", "value sign", "policy targets", "window", "diversity", "search"} <= known
    assert one_line(findings).startswith("healthy")


def test_the_doctor_changes_nothing(healthy: Path) -> None:
    def digests() -> dict[str, str]:
        files = sorted(path for path in healthy.rglob("*") if path.is_file())
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = digests()
    diagnose(healthy)
    assert digests() == before


def test_shuffled_policy_targets_are_named(run: Path) -> None:
    for place in sorted((run / "replay").glob("*.zshard")):
        broken_runs.rewrite(place, broken_runs.shuffle_policies)
    assert "policy targets" in named(run)


@pytest.mark.parametrize("spoil", ["flip_results", "flip_results_and_values"])
def test_a_flipped_value_sign_is_named(run: Path, spoil: str) -> None:
    for place in sorted((run / "replay").glob("*.zshard")):
        broken_runs.rewrite(place, getattr(broken_runs, spoil))
    assert named(run)[0] == "value sign"


def test_weights_that_do_not_move_are_named(run: Path) -> None:
    store = CheckpointStore(run / "checkpoints", 5)
    newest, before = (store.load(iteration) for iteration in store.list()[:-3:-1])
    store.save(newest.iteration, before.weights(), before.training())
    finding = finding_of(run, "learning", deep=True)
    assert (finding.verdict, finding.figure) == (ILL, 0.0)
    assert "learning_rate" in finding.advice


def test_a_learning_rate_of_zero_is_named(run: Path) -> None:
    change_metrics(run, lambda entry: entry["train"].update(learning_rate=0.0))
    assert finding_of(run, "learning rate").verdict == ILL


def test_ten_passes_over_the_same_samples_are_named(run: Path) -> None:
    def ten_times(entry: dict[str, Any]) -> None:
        entry["train"]["training"]["samples"] *= 10

    change_metrics(run, ten_times)
    finding = finding_of(run, "repetition")
    assert finding.verdict == ILL
    assert finding.figure == pytest.approx(10, abs=0.1)


def test_a_window_of_one_iteration_is_named(run: Path) -> None:
    Run.open(run).change({"replay": {"window_start": 1, "window_max": 1}})
    change_metrics(run, lambda e: e["window"].update(oldest_iteration=e["iteration"] - 1))
    finding = finding_of(run, "window")
    assert (finding.verdict, finding.figure) == (ILL, 1)


def test_two_simulations_are_named(run: Path) -> None:
    change_shards(run, budget=2)
    assert finding_of(run, "simulations").verdict == ILL
    Run.open(run).change({"search": {"gumbel": True}})
    change_shards(run, budget=16)
    assert finding_of(run, "simulations").verdict == HEALTHY


def test_wrong_resignations_are_named_and_right_ones_are_not(run: Path) -> None:
    lost, saved = [[-0.6, -1]] * 20, [[-0.1, 0]] * 20
    change_shards(run, resign_threshold=0.0, resigned=10, audit=lost + saved)
    finding = finding_of(run, "resignation")
    assert finding.verdict == ILL
    assert finding.figure == pytest.approx(0.5)
    change_shards(run, resign_threshold=-0.5, resigned=10, audit=lost + saved)
    assert finding_of(run, "resignation").verdict == HEALTHY


def test_games_that_are_all_alike_are_named(run: Path) -> None:
    def one_game(samples: Samples) -> Samples:
        rows = np.flatnonzero(samples.games == samples.games[0])
        copies = [samples.take(rows) for _ in range(30)]
        numbered = [
            dataclasses.replace(copy, games=np.full(len(copy), number, np.uint32))
            for number, copy in enumerate(copies)
        ]
        return Samples.concat(numbered)

    change_shards(run, one_game, games=30, unique_games=1)
    assert {"unique games", "diversity"} <= set(named(run))


def test_draws_only_and_games_without_an_end_are_named(run: Path) -> None:
    change_shards(run, games=100, draws=100, adjudicated=60)
    assert finding_of(run, "draws").verdict == ILL
    assert finding_of(run, "endings").figure == pytest.approx(0.6)
    change_shards(run, games=100, draws=90, adjudicated=1)
    assert finding_of(run, "draws").verdict == HEALTHY
    assert finding_of(run, "endings").verdict == HEALTHY


def reused(run: Path, times: float, **train: float) -> None:
    """As if so many samples had been trained on for each new one."""

    def change(entry: dict[str, Any]) -> None:
        entry["train"].update(train)
        entry["train"]["training"]["samples"] = times * entry["selfplay"]["samples"]

    change_metrics(run, change)


def test_training_that_takes_all_the_time_is_named_if_it_repeats_itself(run: Path) -> None:
    reused(run, 30.0, seconds=1000.0)
    finding = finding_of(run, "balance")
    assert finding.verdict == ILL
    assert "starves self-play" in finding.advice


def test_quick_games_leave_their_time_to_training(run: Path) -> None:
    reused(run, 6.8, seconds=1000.0)  # as the preset of tic-tac-toe does
    assert finding_of(run, "balance").verdict == HEALTHY


def test_slow_games_are_worth_their_time_if_training_uses_them(run: Path) -> None:
    reused(run, 2.0, seconds=1e-4)
    assert finding_of(run, "balance").verdict == HEALTHY
    reused(run, 0.5)
    assert "starves training" in finding_of(run, "balance").advice


def test_one_slow_iteration_does_not_make_a_run_ill(run: Path) -> None:
    def slow(entry: dict[str, Any]) -> None:
        if entry["iteration"] == 2:
            entry["train"]["seconds"] = 1e6
            entry["train"]["training"]["samples"] = 100 * entry["selfplay"]["samples"]

    change_metrics(run, slow)
    assert finding_of(run, "balance").verdict == HEALTHY


def test_a_search_that_hardly_differs_from_the_policy_is_unknown(
    healthy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_search, "LEAST_DECIDED", doctor_search.POSITIONS + 1)
    finding = doctor_search.search_helps(Evidence(healthy))
    assert finding.verdict == UNKNOWN
    assert finding.sentence.startswith("in only")


def test_a_judge_that_has_no_time_gives_no_verdict(
    healthy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hurried:
        """The second search, the judge's, is cut after 40 simulations."""

        def __init__(self, *_: Any) -> None:
            self.searches = 0

        def run_many(self, states: list[Any], simulations: int, *, seconds: float) -> list[Any]:
            self.searches += 1
            cut = self.searches == 2
            visits = 41 if cut else simulations + 1
            found = SimpleNamespace(stop="time" if cut else "", root_visits=visits, best_action=0)
            return [found] * len(states)

    monkeypatch.setattr(doctor_search, "Search", Hurried)
    finding = doctor_search.search_helps(Evidence(healthy))
    assert finding.verdict == UNKNOWN
    assert "gets only 40 simulations" in finding.sentence


def test_a_run_without_a_finished_iteration_is_unknown(run: Path) -> None:
    shutil.rmtree(run / "metrics")
    findings = diagnose(run)
    assert {finding.verdict for finding in findings} == {UNKNOWN}
    assert one_line(findings) == "not known yet"
    assert all("their metrics are lost" in finding.sentence for finding in findings)
    for place in (run / "checkpoints").glob("0*"):
        if place.name != "000000":
            shutil.rmtree(place)
    assert {finding.sentence for finding in diagnose(run)} == {"no iteration is finished yet"}


def test_a_backend_that_is_not_installed_here_is_replaced(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.open(run).change({"selfplay": {"backend": "onnx"}})
    monkeypatch.setattr("zermelo.network.runtimes.installed_backends", lambda: ["openvino"])
    assert Evidence(run).evaluator.backend == "openvino"


def test_without_any_backend_the_other_checks_still_speak(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.network.runtimes.installed_backends", list)
    findings = {finding.check: finding for finding in diagnose(run)}
    assert findings["search"].verdict == UNKNOWN
    assert "no runtime is installed" in findings["search"].sentence
    assert findings["window"].verdict == HEALTHY


def test_no_more_memory_is_filled_than_is_allowed(
    healthy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(np.unique(Evidence(healthy).shard_iterations)) > 1
    monkeypatch.setattr(doctor_evidence, "MOST_BYTES", 1)
    evidence = Evidence(healthy)
    assert len(np.unique(evidence.shard_iterations)) == 1  # a shard, since one is needed


def test_what_was_not_trained_on_yet_is_no_witness_of_what_was_learned(healthy: Path) -> None:
    evidence = Evidence(healthy)
    evidence.iteration = 2  # as if the newer shards belonged to an iteration under way
    assert evidence.trained is not None and evidence.held is not None
    assert evidence.shard_iterations.max() >= 2
    for found in (evidence.trained, evidence.held):
        assert evidence.shard_iterations[found.rows].max() < 2


def test_damaged_shards_are_left_out_and_left_alone(run: Path) -> None:
    place = min((run / "replay").glob("*.zshard"))
    place.write_bytes(place.read_bytes()[:-40] + bytes(40))
    assert named(run) == []
    assert place.exists()


def test_positions_of_samples_are_found_again(healthy: Path) -> None:
    evidence = Evidence(healthy)
    samples = evidence.samples
    assert samples is not None
    wanted = np.flatnonzero(samples.games < 3)
    found = dict(Rediscovery(evidence.game, samples).states(wanted))
    assert sorted(found) == wanted.tolist()
    for row, state in found.items():
        assert evidence.game.ply(state) == samples.plies[row]
        legal = evidence.game.legal_actions(state)
        assert len(legal) == samples.policy_counts[row]


def test_positions_are_found_by_the_moves_that_were_played(healthy: Path) -> None:
    evidence = Evidence(healthy)
    samples = evidence.samples
    assert samples is not None
    assert set(samples.games.tolist()) <= set(evidence.moves)
    wanted = np.flatnonzero(samples.games % 7 == 0)
    search = Rediscovery(evidence.game, samples, evidence.moves)
    found = dict(search.states(wanted))
    assert sorted(found) == wanted.tolist()
    assert search.steps <= len(wanted) * 10  # a ply each, and no line of play beside the game
    for row, state in found.items():
        assert evidence.game.ply(state) == samples.plies[row]
        assert np.array_equal(canonical(evidence.game, state).words, samples.observations[row])


def run_command(*arguments: str) -> Any:
    import typer
    from typer.testing import CliRunner

    from zermelo.cli import doctor

    app = typer.Typer()
    doctor.add_to(app)
    return CliRunner().invoke(app, list(arguments))


def test_the_command_prints_json_and_says_by_its_exit_code_whether_all_is_well(run: Path) -> None:
    answer = run_command(str(run), "--quick", "--json")
    found = json.loads(answer.stdout)
    assert (answer.exit_code, found["healthy"], found["ill"]) == (0, True, [])
    change_shards(run, budget=2)
    answer = run_command(str(run), "--quick", "--json")
    found = json.loads(answer.stdout)
    assert (answer.exit_code, found["ill"]) == (1, ["simulations"])
    finding = next(each for each in found["findings"] if each["check"] == "simulations")
    assert finding["figure"] == 2
    assert "selfplay.simulations" in finding["advice"]


def test_what_to_do_is_printed_for_people(run: Path) -> None:
    change_shards(run, budget=2)
    answer = run_command(str(run), "--quick")
    assert "Set selfplay.simulations to" in answer.stdout


def test_a_run_in_which_nothing_is_ill_is_told_by_what_could_be_judged(run: Path) -> None:
    answer = run_command(str(run), "--quick")
    findings = diagnose(run, deep=False)
    healthy = sum(finding.verdict == HEALTHY for finding in findings)
    unsure = len(findings) - healthy
    said = f"Nothing wrong was found ({healthy} checks healthy, {unsure} unknown)."
    assert said in answer.stdout.replace("\n", " ")
    shutil.rmtree(run / "metrics")
    assert "Nothing can be said yet" in run_command(str(run), "--quick").stdout
    found = json.loads(run_command(str(run), "--quick", "--json").stdout)
    assert (found["known"], found["healthy"]) == (0, None)


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a run"):
        diagnose(tmp_path)


def test_a_run_that_was_left_half_made_is_told(run: Path, tmp_path: Path) -> None:
    assert broken_runs.is_finished(run)
    assert not broken_runs.is_finished(tmp_path)
    place = run / "metrics" / "metrics.jsonl"
    lines = place.read_text().splitlines(keepends=True)
    place.write_text("".join(lines[:-1]))
    assert not broken_runs.is_finished(run)
