"""The token that every process of a cluster shows to the others, set explicitly on each.

Ray takes commands, and so code, from whoever can connect. Without a token no cluster is joined or
started. Does not import Ray, which reads these settings when it is imported and when it connects.
"""

from __future__ import annotations

import os
import secrets
import sys
from functools import cache
from pathlib import Path

from zermelo.errors import UserError

MODE, TOKEN, TOKEN_FILE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
# That belong to every process of Ray that we start: no statistics go to its makers.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}


def usual_file() -> Path:
    """Where Ray's own commands keep it."""
    return Path(os.environ.get(TOKEN_FILE) or Path.home() / ".ray" / "auth_token")


def new_token() -> str:
    """256 bits."""
    return secrets.token_hex(32)


def known_token() -> str:
    """From the environment or the file; a UserError without either."""
    found = os.environ.get(TOKEN, "").strip()
    if found:
        return found
    place = usual_file()
    try:
        found = place.read_text().strip()
    except OSError:
        found = ""
    if not found:
        raise UserError(
            f"the cluster's token is not known here: set {TOKEN}, or copy '{place}' from the head"
        )
    return found


def known_or_new_token() -> tuple[str, Path | None]:
    """For a head: the one that is there, or a new one and the file that has it now."""
    place = usual_file()
    if os.environ.get(TOKEN, "").strip() or place.exists():
        return known_token(), None
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    token = new_token()
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(token)
    return token, place


@cache
def own_token() -> str:
    """Of clusters that this process starts: Ray reads it once and then keeps it."""
    return new_token()


def show(token: str) -> None:
    """Gives this process the token; Ray must not have been imported without one."""
    if "ray" in sys.modules and os.environ.get(MODE) != "token":
        raise UserError(f"Ray was imported before the cluster's token was set: set {MODE}=token")
    os.environ.update(settings(token))


def settings(token: str) -> dict[str, str]:
    """The environment of a process that shows and asks for the token."""
    return {MODE: "token", TOKEN: token, **QUIET}
