"""Contempt: what a draw is worth goes by the opponent."""

from __future__ import annotations

import pytest
from uci_talk import Fake, Talk, loading

from zermelo.errors import UserError
from zermelo.uci.contempt import advantage, draw_score
from zermelo.uci.options import Settings


def settings(**options: str) -> Settings:
    found = Settings.defaults()
    for name, value in options.items():
        found = found.with_value(name, value)
    return found


@pytest.mark.parametrize(
    ("options", "elo"),
    [
        ({}, 0),
        ({"UCI_RatingAdv": "150"}, 150),
        ({"UCI_RatingAdv": "150", "Contempt": "-20"}, -20),
        ({"Contempt": "30, fish=80", "UCI_Opponent": "none 3500 computer Stockfish 15"}, 80),
        ({"Contempt": "fish=80,30", "UCI_Opponent": "GM 2800 human Somebody"}, 30),
        ({"Contempt": "fish=80", "UCI_RatingAdv": "9", "UCI_Opponent": "GM - human A"}, 9),
    ],
)
def test_the_advantage_is_the_opponents_own_then_the_general_one(
    options: dict[str, str], elo: float
) -> None:
    assert advantage(settings(**options).values) == elo


def test_a_draw_costs_half_of_the_lead_that_the_rating_promises() -> None:
    assert draw_score(settings().values) == 0
    assert draw_score(settings(Contempt="400").values) == pytest.approx(-0.5 * (10 / 11 - 1 / 11))
    assert draw_score(settings(Contempt="-400").values) == pytest.approx(0.5 * 9 / 11)


@pytest.mark.parametrize("text", ["much", "Fish=", "nan", "1=x"])
def test_what_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="Contempt"):
        settings(Contempt=text)


def played(go: str, **options: object) -> str:
    """All but a capture that draws at once is a little bad for us, the network says."""
    with Talk(load=loading(Fake(0.1)), WeightsFile="fake", **options) as talk:
        talk.send("ucinewgame", "position fen 7k/8/8/8/8/8/r7/1K6 w - - 0 1", go)
        return talk.until("bestmove")[-1].split()[1]


def test_a_draw_is_declined_against_a_weaker_opponent_but_not_in_analysis() -> None:
    weaker = {"UCI_Opponent": "none 1200 human Beginner", "Contempt": "beginner=400"}
    assert played("go nodes 200") == "b1a2"
    assert played("go nodes 200", **weaker) == "b1c1"
    assert played("go nodes 200", UCI_RatingAdv=400) == "b1c1"
    assert played("go nodes 200 mate 1", **weaker) == "b1a2"
    assert played("go nodes 200", **weaker, DrawScore=0) == "b1a2"
