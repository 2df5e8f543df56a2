"""What an iteration's shards add up to."""

from __future__ import annotations

from zermelo.loop.tally import SelfPlayTally


def test_a_shard_that_is_written_anew_counts_once_and_as_it_is_now() -> None:
    tally = SelfPlayTally(workers=2)
    tally.add_shard(3, "one", {"samples": 10, "games": 2, "seconds": 1.0})
    tally.add_shard(3, "two", {"samples": 20, "games": 3, "seconds": 1.0})
    tally.add_shard(3, "one", {"samples": 7, "games": 1, "seconds": 0.5})
    assert tally.count(3) == 27
    assert tally.count(3, "games") == 4
    assert tally.rates(3)["samples"] == 27 / 0.75
    assert tally.metrics(3)["shards"] == 2


def test_iterations_are_counted_apart_and_forgotten() -> None:
    tally = SelfPlayTally()
    for iteration in range(4):
        tally.add({"iteration": iteration, "shard": "a", "samples": 5})
    tally.drop_before(2)
    tally.forget(3)
    assert [tally.count(iteration) for iteration in range(4)] == [0, 0, 5, 0]


def test_asking_for_the_count_does_not_look_at_every_shard_again() -> None:
    class Counted(dict[str, int]):
        looks = 0

        def items(self):  # type: ignore[no-untyped-def]
            Counted.looks += 1
            return super().items()

    tally = SelfPlayTally()
    for number in range(50):
        tally.add_shard(0, str(number), Counted(samples=1, seconds=1))
        assert tally.count(0) == number + 1
        tally.rates(0)
    assert Counted.looks == 50
