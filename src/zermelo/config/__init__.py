"""Composes the options of all stages into one run file."""

from zermelo.config.duration import duration_text, parse_duration
from zermelo.config.presets import find_preset
from zermelo.config.run_config import RunConfig, parse_settings, read_run_file

__all__ = [
    "RunConfig",
    "duration_text",
    "find_preset",
    "parse_duration",
    "parse_settings",
    "read_run_file",
]
