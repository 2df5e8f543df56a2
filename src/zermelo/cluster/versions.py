"""What must be the same on every node: the versions of zermelo, Ray and Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def make_probe() -> Callable[[], dict[str, str]]:
    """Asks a process for its versions; empty for what is not installed.

    A function inside a function goes to a node by value, so it also runs where there is no zermelo,
    or another one.
    """

    def probe() -> dict[str, str]:
        import platform
        from importlib import metadata

        found = {"python": platform.python_version()}
        for package in ("zermelo", "ray"):
            try:
                found[package] = metadata.version(package)
            except metadata.PackageNotFoundError:
                found[package] = ""
        return found

    return probe


def versions_here() -> dict[str, str]:
    """Of this process."""
    return make_probe()()


def difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Why a node is refused, as the end of a sentence; empty if all is the same."""
    for name in ("zermelo", "ray", "python"):
        mine, theirs = here.get(name, ""), there.get(name, "")
        if mine != theirs:
            return f"it has {name} {theirs}, not {mine}" if theirs else f"it has no {name}"
    return ""
