"""Training: it learns, it stops when it must, and it goes on bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.checkpoint import CheckpointStore
from zermelo.errors import UserError
from zermelo.network import NetworkOptions, load_network
from zermelo.replay import Batch

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from sample_batches import sample_batches  # noqa: E402

from zermelo.network.trained import network_of, new_network  # noqa: E402
from zermelo.train import DivergedError, Trainer, TrainOptions, arithmetic, learning_rate_at  # noqa: E402
from zermelo.train import trainer as trainer_module  # noqa: E402
from zermelo.train.losses import batch_losses  # noqa: E402

SMALL = NetworkOptions(blocks=1, filters=8, value_hidden=16, moves_left=True)
OPTIONS = TrainOptions(threads=1, learning_rate=0.003)
MUON = TrainOptions(threads=1, learning_rate=0.003, optimiser="muon")
both_optimisers = pytest.mark.parametrize("options", [OPTIONS, MUON], ids=["adamw", "muon"])


@pytest.fixture(scope="module")
def batches() -> list[Batch]:
    return sample_batches(zermelo.game("connect4"), 6, 64)


def made_trainer(options: TrainOptions = OPTIONS, game: Any = None) -> Trainer:
    return Trainer(new_network(game or zermelo.game("connect4"), SMALL, seed=3), options)


def same(first: Trainer, second: Trainer) -> bool:
    a, b = first.state(), second.state()
    return (
        a.numbers == b.numbers
        and a.arrays.keys() == b.arrays.keys()
        and all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)
    )


def test_training_lowers_every_loss_on_both_kinds_of_batches(batches: list[Batch]) -> None:
    trainer = made_trainer()
    found = [
        trainer.train_iteration(batches[:5], iteration, 12, held_out=batches[5:])
        for iteration in range(12)
    ]
    for kind in ("training", "held_out"):
        first, last = found[0][kind], found[-1][kind]
        assert last["policy_kl"] < 0.5 * first["policy_kl"]
        assert last["value_squared_error"] < 0.6 * first["value_squared_error"]
        assert last["moves_left_loss"] < 0.5 * first["moves_left_loss"]
    assert found[-1]["training"]["policy_accuracy"] > 0.95
    assert found[-1]["total_steps"] == 60
    assert found[-1]["total_samples"] == 12 * 320 == trainer.samples
    assert [entry["value_blend"] for entry in found[:3]] == pytest.approx([0, 0.25, 0.3])


@pytest.mark.technique("E6")
def test_a_python_game_is_trained_like_any_other() -> None:
    class Nim:
        name, num_actions, observation_shape = "nim", 3, (2, 1, 10)

        def initial(self) -> tuple[int, int]:
            return 10, 0

        def legal_actions(self, state: tuple[int, int]) -> list[int]:
            return [a for a in range(3) if a < state[0]]

        def play(self, state: tuple[int, int], action: int) -> tuple[int, int]:
            return state[0] - action - 1, 1 - state[1]

        def player(self, state: tuple[int, int]) -> int:
            return state[1]

        def outcome(self, state: tuple[int, int]) -> Any:
            return None if state[0] else 1

        def observe(self, state: tuple[int, int]) -> Any:
            planes = np.zeros((2, 1, 10), np.float32)
            planes[state[1], 0, : state[0]] = 1
            return planes

    game = Nim()
    trainer = made_trainer(game=game)
    data = sample_batches(game, 3, 32)
    first = trainer.train_iteration(data, 0, 5)["training"]["policy_kl"]
    for iteration in range(1, 5):
        last = trainer.train_iteration(data, iteration, 5)["training"]["policy_kl"]
    assert last < first


@pytest.mark.technique("T14")
@both_optimisers
def test_a_run_that_stops_and_goes_on_ends_like_one_that_does_not(
    batches: list[Batch], tmp_path: Path, options: TrainOptions
) -> None:
    whole = made_trainer(options)
    for iteration in (0, 1):
        whole.train_iteration(batches, iteration, 4)
    torch.manual_seed(11)

    halved = made_trainer(options)
    halved.train_iteration(batches, 0, 4)
    store = CheckpointStore(tmp_path)
    store.save(0, halved.weights(), halved.state())
    random_state = torch.random.get_rng_state()

    torch.manual_seed(12)
    resumed = Trainer(network_of(halved.network.architecture), options)
    newest = store.newest()
    assert newest is not None
    resumed.restore(newest.training())
    assert torch.equal(torch.random.get_rng_state(), random_state)
    assert same(resumed, halved)
    resumed.train_iteration(batches, 1, 4)
    whole_state, resumed_state = whole.state(), resumed.state()
    for name in whole_state.arrays.keys() - {"torch_generator"}:
        np.testing.assert_array_equal(whole_state.arrays[name], resumed_state.arrays[name], name)
    assert whole_state.numbers == resumed_state.numbers


@pytest.mark.technique("T14")
@pytest.mark.parametrize(("options", "part"), [(OPTIONS, 0), (MUON, 0), (MUON, 1)])
def test_the_moments_of_the_optimiser_are_needed_to_go_on(
    batches: list[Batch], options: TrainOptions, part: int
) -> None:
    first = made_trainer(options)
    first.train_iteration(batches, 0, 4)
    second = made_trainer(options)
    second.restore(first.state())
    second.optimiser.parts[part].state.clear()
    first.train_iteration(batches, 1, 4)
    second.train_iteration(batches, 1, 4)
    assert not same(first, second)


def test_the_folded_weights_of_a_checkpoint_are_the_trained_network(
    batches: list[Batch], tmp_path: Path
) -> None:
    trainer = made_trainer()
    trainer.train_iteration(batches, 0, 4)
    saved = CheckpointStore(tmp_path).save(0, trainer.weights(), trainer.state())
    loaded = load_network(saved.directory, zermelo.game("connect4"))
    for name, array in trainer.weights().arrays.items():
        np.testing.assert_array_equal(loaded.arrays[name], array, name)


def test_a_state_of_another_network_is_refused() -> None:
    state = made_trainer().state()
    other = Trainer(new_network(zermelo.game("connect4"), NetworkOptions(blocks=1, filters=16)))
    with pytest.raises(UserError, match="another network"):
        other.restore(state)
    deeper = Trainer(new_network(zermelo.game("connect4"), NetworkOptions(blocks=2, filters=8)))
    with pytest.raises(UserError, match="another network"):
        deeper.restore(state)


def test_a_state_of_another_optimiser_is_refused(batches: list[Batch]) -> None:
    trained = made_trainer()
    trained.train_iteration(batches, 0, 4)
    with pytest.raises(UserError, match=r"'block0_conv1.*momentum'.*another network or optimiser"):
        made_trainer(MUON).restore(trained.state())


@pytest.mark.technique("T10")
def test_the_learning_rate_follows_the_schedule_over_all_passes(
    batches: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[float] = []
    options = TrainOptions(threads=1, passes=2, learning_rate=0.004, learning_rate_end=0.5)
    trainer = made_trainer(options)
    step = trainer.optimiser.step

    def recorded(rate: float) -> None:
        rates.append(rate)
        step(rate)

    monkeypatch.setattr(trainer.optimiser, "step", recorded)
    metrics = trainer.train_iteration(batches, 2, 3)
    assert rates == [learning_rate_at(index, 12, 0.002, options) for index in range(12)]
    assert metrics["learning_rate"] == 0.002
    assert metrics["steps"] == 12
    assert metrics["learning_rate_last"] == rates[-1]


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_only_kernels_decay(optimiser: str) -> None:
    trainer = made_trainer(TrainOptions(threads=1, weight_decay=0.5, optimiser=optimiser))
    before = {name: p.detach().clone() for name, p in trainer.network.named_parameters()}
    for parameter in trainer.network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    trainer.optimiser.step(0.002)
    for name, parameter in trainer.network.named_parameters():
        kernel = name.endswith(".weight") and ".norm." not in name
        factor = 1 - 0.5 * 0.002 if kernel else 1.0
        torch.testing.assert_close(parameter.detach(), before[name] * factor, rtol=1e-6, atol=0)


def test_a_long_gradient_is_shortened(
    batches: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[float] = []

    def record(trainer: Trainer) -> None:
        def step(_rate: float) -> None:
            gradients = [
                p.grad.flatten() for p in trainer.network.parameters() if p.grad is not None
            ]
            lengths.append(float(torch.cat(gradients).norm()))

        monkeypatch.setattr(trainer.optimiser, "step", step)

    for clip in (0.01, 0.0):
        trainer = made_trainer(TrainOptions(threads=1, gradient_clip=clip))
        record(trainer)
        metrics = trainer.train_iteration(batches[:1], 0, 1)
        assert metrics["gradient_norm"] > 0.05
        assert metrics["clipped_share"] == (1.0 if clip else 0.0)
    assert lengths[0] == pytest.approx(0.01, rel=1e-3)
    assert lengths[1] == pytest.approx(metrics["gradient_norm"], rel=1e-5)


def test_samples_that_are_not_finite_stop_training_before_they_do_harm(
    batches: list[Batch],
) -> None:
    planes = batches[1].planes.copy()
    planes[3, 0, 0, 0] = np.nan
    trainer = made_trainer()
    parameters = [p.detach().clone() for p in trainer.network.parameters()]
    with pytest.raises(DivergedError, match=r"iteration 7, step 0: .*samples' planes.*checkpoint"):
        trainer.train_iteration([replace(batches[1], observations=planes)], 7, 10)
    for before, after in zip(parameters, trainer.network.parameters(), strict=True):
        assert torch.equal(before, after)
    assert trainer.iterations == 0


def test_a_network_that_diverges_stops_training_and_says_why(batches: list[Batch]) -> None:
    trainer = made_trainer()
    with torch.no_grad():
        dict(trainer.network.named_parameters())["value_out.bias"].fill_(float("inf"))
    with pytest.raises(DivergedError, match="the loss is nan; learning_rate is perhaps too high"):
        trainer.train_iteration(batches, 0, 1)


def test_progress_is_shown_and_may_stop_the_iteration(batches: list[Batch]) -> None:
    seen: list[Any] = []

    def stop_at_four(progress: Any) -> None:
        seen.append(progress)
        if progress.step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_trainer().train_iteration(batches, 0, 1, stop_at_four)
    assert [(p.step, p.steps, p.samples) for p in seen] == [(k, 6, 64 * k) for k in (1, 2, 3, 4)]


def test_an_iteration_without_samples_is_refused() -> None:
    with pytest.raises(UserError, match="no sample"):
        made_trainer().train_iteration([], 0, 1)


def test_evaluating_changes_nothing(batches: list[Batch]) -> None:
    trainer, other = made_trainer(), made_trainer()
    first = trainer.evaluate(batches, 0.3)
    assert first == trainer.evaluate(batches, 0.3)
    assert same(trainer, other)
    assert trainer.network.training


@pytest.mark.technique("T12")
def test_bf16_learns_too_and_keeps_its_parameters_in_f32(batches: list[Batch]) -> None:
    trainer = made_trainer(TrainOptions(threads=1, learning_rate=0.01, precision="bf16"))
    found = [trainer.train_iteration(batches, i, 6)["training"]["policy_kl"] for i in range(6)]
    assert found[-1] < 0.7 * found[0]
    assert {p.dtype for p in trainer.network.parameters()} == {torch.float32}
    plain = made_trainer()
    plain.train_iteration(batches, 0, 6)
    assert trainer.precision == "bf16"


@pytest.mark.technique("T12")
@pytest.mark.parametrize(("precision", "kind"), [("bf16", "bfloat16"), ("f32", "float32")])
def test_products_are_computed_in_the_chosen_precision(precision: str, kind: str) -> None:
    ones = torch.ones(2, 2)
    with arithmetic.autocast(precision, torch.device("cpu")):
        assert (ones @ ones).dtype == getattr(torch, kind)


@pytest.mark.technique("T12")
def test_auto_takes_bf16_only_where_the_hardware_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = torch.device("cpu")
    for answer, precision in ((True, "bf16"), (False, "f32")):
        monkeypatch.setattr(arithmetic, "has_bf16", lambda _, answer=answer: answer)
        assert arithmetic.choose_precision(TrainOptions(), cpu) == precision
        assert arithmetic.choose_precision(TrainOptions(precision="f32"), cpu) == "f32"


def test_a_device_that_is_not_there_is_refused() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(UserError, match="device is 'cuda'"):
        made_trainer(TrainOptions(device="cuda"))


def test_torch_is_left_as_it_was(batches: list[Batch]) -> None:
    threads = torch.get_num_threads()
    made_trainer().train_iteration(batches, 0, 1)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.technique("T3")
def test_the_iterations_value_blend_reaches_the_loss(
    batches: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def spy(heads: Any, batch: Any, blend: float, *rest: Any) -> Any:
        seen.append(blend)
        return batch_losses(heads, batch, blend, *rest)

    monkeypatch.setattr(trainer_module, "batch_losses", spy)
    made_trainer().train_iteration(batches, 1, 20)
    assert seen == pytest.approx([0.15] * 6)
