"""Two ends of a channel in one process: messages come whole, and each end notices the other's."""

from __future__ import annotations

import os

from channels import pair


def test_a_channel_carries_messages_whole_and_notices_the_end() -> None:
    a, b = pair()
    b.send({"text": "x" * 50_000})
    b.send({"n": 1})
    assert a.receive(1.0) == {"text": "x" * 50_000}
    os.write(b.write_to, b'{"half":')
    assert a.receive(0.0) == {"n": 1}
    assert (a.receive(0.0), a.closed) == (None, False)
    b.close()
    assert (a.receive(None), a.closed) == (None, True)
    a.send({"to": "nobody"})


def test_who_hung_up_still_hears_the_answer_and_sends_nothing_more() -> None:
    a, b = pair()
    a.hang_up()
    assert b.receive(1.0) is None
    b.closed = False
    b.send({"the": "answer"})
    assert a.receive(1.0) == {"the": "answer"}
    a.send({"too": "late"})
    assert a.closed
    for end in (a, b, a):  # again does no harm
        end.close()


def test_what_was_said_before_the_end_is_heard_also_by_who_sent_too_late() -> None:
    a, b = pair()
    b.send({"error": "I cannot go on"})
    b.close()
    a.send({"do": "go on"})
    assert a.closed
    assert a.receive(0.0) == {"error": "I cannot go on"}
    assert a.receive(None) is None
