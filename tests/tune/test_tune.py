"""`zermelo tune`: the climb, its diary, and what it writes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from zermelo.cli.entry import main
from zermelo.errors import UserError
from zermelo.matches.match import MatchOptions
from zermelo.network.open import own_search
from zermelo.search import SearchOptions
from zermelo.tune.constants import Constant, begin, options_at, parse_constants
from zermelo.tune.spsa import Spsa, belief, settled
from zermelo.tune.tuning import DIARY, TuneOptions, Tuning

BEST = np.array([0.8, 0.3])


def climbed(seed: int, noise: float, steps: int) -> Spsa:
    """SPSA on a hill whose comparisons are as noisy as games."""
    spsa = Spsa(np.array([0.2, 0.7]), seed)
    random = np.random.default_rng(seed + 100)
    for _ in range(steps):
        first, second = spsa.ends()
        better = 4.0 * (((second - BEST) ** 2).sum() - ((first - BEST) ** 2).sum())
        spsa.tell(float(np.clip(better + noise * random.standard_normal(), -1.0, 1.0)))
    return spsa


def test_the_climb_finds_the_top_through_the_noise() -> None:
    found = [belief(climbed(seed, noise=0.3, steps=400).path)[0] for seed in range(8)]
    assert np.abs(np.mean(found, axis=0) - BEST).max() < 0.08


def test_pure_noise_is_not_believed() -> None:
    errors = [belief(climbed(seed, noise=1.0, steps=60).path)[1].max() for seed in range(8)]
    quiet = [belief(climbed(seed, noise=0.0, steps=800).path)[1].max() for seed in range(8)]
    assert np.mean(errors) > np.mean(quiet)
    assert settled(climbed(1, noise=0.0, steps=800).path, 0.03)
    assert not settled(climbed(1, noise=0.3, steps=30).path, 0.03)


def test_constants_are_named_with_bounds_and_come_back_from_the_cube() -> None:
    constants = parse_constants("c_puct=1:3, fpu_reduction")
    assert constants[0] == Constant("c_puct", 1.0, 3.0)
    point = begin(constants, SearchOptions(c_puct=2.5))
    assert options_at(constants, point) == {"c_puct": 2.5, "fpu_reduction": 0.1}
    for wrong in ("", "c_puckt", "solver", "threads", "c_puct=3:1", "c_puct=x", "c_puct,c_puct"):
        with pytest.raises(UserError):
            parse_constants(wrong)


def small(out: Path | None, steps: int) -> Tuning:
    plan = MatchOptions(openings="random:2", seed=4, out=out)
    options = TuneOptions(steps=steps, pairs=1, check_games=4, match=plan)
    constants = parse_constants("c_puct,turn_discount=0.9:1")
    return Tuning("rollout?simulations=8", "tictactoe", constants, SearchOptions(), options)


def test_an_interrupted_tuning_goes_on_and_ends_like_one_that_was_not(tmp_path: Path) -> None:
    whole = small(None, 6)
    for _ in whole.climb():
        pass
    out = tmp_path / "tune"
    for _ in small(out, 3).climb():
        pass
    with (out / DIARY).open("a") as file:
        file.write('{"differ')  # killed while it wrote
    again = small(out, 6)
    assert again.standing.games == 6
    for _ in again.climb():
        pass
    assert np.array_equal(again.standing.path, whole.standing.path)
    assert len((out / DIARY).read_text().splitlines()) == 6
    other = TuneOptions(steps=6, pairs=2, match=MatchOptions(out=out, openings="random:2", seed=4))
    with pytest.raises(UserError, match="other settings: pairs"):
        Tuning("rollout?simulations=8", "tictactoe", again.constants, SearchOptions(), other)


def test_the_command_reports_and_writes_only_what_is_sure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "tuned.onnx"
    common = ["tune", "tictactoe", "--weights", "tictactoe", "--simulations", "4", "--pairs", "1"]
    short = ["--steps", "2", "--check", "4", "--options", "c_puct", "--json"]
    places = ["--write", str(target), "--out", str(tmp_path / "out")]
    code = main([*common, *short, *places])
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] == 2
    assert found["games"] == 4
    assert found["constants"][0]["name"] == "c_puct"
    assert code == (0 if found["better"] else 1)
    assert target.exists() == found["better"]
    assert main([*common, "--check", "0", "--write", str(target)]) == 2
    assert main([*common, "--options", "nothing"]) == 2


def test_constants_are_written_beside_what_the_network_says_already(tmp_path: Path) -> None:
    from zermelo.cli.tune import keep
    from zermelo.network.places import network_path

    source = tmp_path / "network.onnx"
    shutil.copy(network_path("tictactoe"), source)
    before = dict(own_search(str(source)))
    target = tmp_path / "tuned.onnx"
    keep(str(source), target, {"c_puct": 2.75})
    assert own_search(str(target)) == {**before, "c_puct": 2.75}
