"""Finds the run files that come with the program: `configs/NAME.toml`."""

from __future__ import annotations

from pathlib import Path

import zermelo


def preset_directories() -> list[Path]:
    """Inside the installed package, else beside the source of a checkout."""
    package = Path(zermelo.__file__).resolve().parent
    checkout = package.parents[1]
    found = [package / "configs"]
    if (checkout / "pyproject.toml").is_file():
        found.append(checkout / "configs")
    return [place for place in found if place.is_dir()]


def find_preset(name: str) -> Path | None:
    """The run file of that name, or None."""
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        return None
    for place in preset_directories():
        if (place / f"{name}.toml").is_file():
            return place / f"{name}.toml"
    return None


def preset_names() -> list[str]:
    """All of them, by name."""
    return sorted({file.stem for place in preset_directories() for file in place.glob("*.toml")})
