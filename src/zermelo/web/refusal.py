"""`Refusal`: why a request is not done, in one sentence, with the number that HTTP has for it."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - a no, not a fault
    """Said to whoever asked, over HTTP or over the socket."""

    def __init__(
        self, code: int, reason: str, *, retry_after: float | None = None, place: int | None = None
    ) -> None:
        """`retry_after` in seconds; `place` in the queue, 1 is next."""
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.retry_after = retry_after
        self.place = place
