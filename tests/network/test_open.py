"""Opening a network by its reference: the rules, the evaluator, and how it is searched."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from lc0_files import write_net
from small_networks import save_small, small_weights

import zermelo
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.cli.entry import main
from zermelo.errors import UserError
from zermelo.evaluator import ChecksGames, WarmsUp
from zermelo.network import save_network
from zermelo.network.open import open_network, open_weights, own_search
from zermelo.network.own_search import LC0_SEARCH, searched
from zermelo.network.places import SHIPPED, network_path
from zermelo.search import SearchOptions, UniformEvaluator

OLD = Path(__file__).parents[1] / "data" / "made_by_902049b"
BACKEND = "openvino"


def test_a_file_gives_its_game_its_search_and_a_title(tmp_path: Path) -> None:
    weights = replace(small_weights("othello?size=6"), search={"c_puct": 2.5})
    save_network(weights, tmp_path / "mine.onnx")
    opened = open_network(str(tmp_path / "mine.onnx"), backend=BACKEND)
    assert opened.game.name == "othello?size=6"
    assert opened.search == SearchOptions(c_puct=2.5)
    assert opened.title == "mine.onnx on openvino"
    assert opened.path == str(tmp_path / "mine.onnx")
    assert opened.evaluator.architecture == weights.architecture


def test_a_network_that_does_not_fit_the_game_that_it_names_is_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = small_weights("tictactoe")
    wrong = replace(weights, architecture=replace(weights.architecture, game="connect4"))
    save_network(wrong, tmp_path / "wrong.safetensors")
    source, target = tmp_path / "wrong.safetensors", tmp_path / "out.onnx"
    assert main(["export", str(source), str(target)]) == 2
    assert "the network is for connect4 (2 x 3 x 3" in capsys.readouterr().err
    assert not target.exists()


def test_a_checkpoint_and_a_run_give_what_the_checkpoint_keeps(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "checkpoints")
    weights = replace(small_weights("tictactoe"), search={"fpu": "loss"})
    saved = store.save(4, weights, TrainingState({}, {}))
    (tmp_path / "run.toml").write_text('[search]\nfpu = "parent"\n')  # changed since
    assert own_search(str(tmp_path)) == own_search(str(saved.directory)) == {"fpu": "loss"}


def test_a_checkpoint_of_an_older_version_is_searched_as_its_run_says() -> None:
    assert own_search(str(OLD / "run")) == {"c_puct": 1.25, "fpu": "reduced"}
    assert open_weights(str(OLD / "run")).search == own_search(str(OLD / "run"))


@pytest.mark.parametrize("name", ["old.onnx", "old.safetensors"])
def test_a_file_of_an_older_version_is_searched_with_the_defaults(name: str) -> None:
    opened = open_network(str(OLD / name), backend=BACKEND)
    assert opened.search == SearchOptions()
    assert opened.game.name == "tictactoe"


def test_a_checkpoint_outside_of_any_run_is_searched_with_the_defaults(tmp_path: Path) -> None:
    newest = network_path(str(OLD / "run"))
    shutil.copytree(newest, tmp_path / "000003")
    assert own_search(str(tmp_path / "000003")) == {}


def test_a_run_file_that_means_nothing_is_refused_by_its_name(tmp_path: Path) -> None:
    shutil.copytree(OLD / "run" / "checkpoints", tmp_path / "checkpoints")
    for text, sentence in {
        "[search": "not valid TOML",
        "search = 3": "its search options cannot be read",
        "[search]\nno_such = 1": "there is no option 'no_such'",
    }.items():
        (tmp_path / "run.toml").write_text(text)
        with pytest.raises(UserError, match=sentence) as refused:
            open_network(str(tmp_path), backend=BACKEND)
        assert "run.toml" in str(refused.value)


def test_a_shipped_network_is_opened_by_its_name_or_that_of_its_game() -> None:
    for name in ("othello_size6", "othello?size=6"):
        assert network_path(name) == str(SHIPPED / "othello_size6.onnx")
    assert open_network("tictactoe", backend=BACKEND).game.name == "tictactoe"


def test_a_network_of_lc0_is_searched_as_lc0_would_and_exported_so(tmp_path: Path) -> None:
    file = write_net(tmp_path / "net.pb.gz")
    wanted = SearchOptions(
        fpu="reduced", policy_temperature=1.359, cache_history=False, cache_clock=False
    )
    assert open_network(str(file), backend=BACKEND).search == wanted
    save_network(open_weights(str(file)), tmp_path / "net.onnx")
    assert own_search(str(tmp_path / "net.onnx")) == own_search(str(file)) == LC0_SEARCH


def test_chess_is_seen_as_the_network_sees_it(tmp_path: Path) -> None:
    file = str(save_small(tmp_path / "net.onnx", "chess?encoder=lc0"))
    assert open_network(file, "chess", BACKEND).game.name == "chess?encoder=lc0"
    with pytest.raises(UserError, match=r"net\.onnx: the network is for chess"):
        open_network(file, zermelo.game("chess"), BACKEND)
    with pytest.raises(UserError, match=r"net\.onnx: the network is for chess"):
        open_network(file, "connect4", BACKEND)


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    place = tmp_path / "net.safetensors"
    for c_puct in (2.0, 3.25):
        save_network(replace(small_weights(), search={"c_puct": c_puct}), place)
        assert own_search(str(place)) == {"c_puct": c_puct}


def test_a_gumbel_root_of_the_networks_own_needs_a_number_of_simulations() -> None:
    own = SearchOptions(gumbel=True, gumbel_scale=0.3)
    assert searched(own, {"c_puct": "2"}) == own.replace(c_puct=2.0, cache_symmetry=False)
    assert searched(own, {}, counted=False) == own.replace(gumbel=False)
    assert searched(own, {"gumbel": "on"}, counted=False).gumbel  # asked for: others refuse it


def test_with_a_number_of_simulations_no_cached_answer_of_another_position_is_used() -> None:
    own = SearchOptions(**LC0_SEARCH)
    counted, timed = searched(own, {}), searched(own, {}, counted=False)
    exact = SearchOptions(fpu="reduced", policy_temperature=1.359, cache_symmetry=False)
    assert counted == exact
    assert timed == own
    assert searched(own, {"cache_history": "off"}) == counted.replace(cache_history=False)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no network 'nothing'"):
        open_network("nothing")
    with pytest.raises(UserError, match=r"without weights\.safetensors"):
        open_network(str(tmp_path))


def test_what_an_evaluator_can_do_is_known_by_its_protocols() -> None:
    network = open_network("tictactoe", backend=BACKEND).evaluator
    assert isinstance(network, WarmsUp)
    assert isinstance(network, ChecksGames)
    network.check_fits(zermelo.game("tictactoe"))
    with pytest.raises(UserError, match="the network is for tictactoe"):
        network.check_fits(zermelo.game("connect4"))
    for other in (UniformEvaluator(), lambda planes: (planes, planes)):
        assert not isinstance(other, WarmsUp | ChecksGames)
