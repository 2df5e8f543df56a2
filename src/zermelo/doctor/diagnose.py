"""Says what is wrong with a run that does not learn. Reads the run and changes nothing in it.

Each check is a function of the evidence and gives one finding. Causes stand before what follows
from them: the first ill finding is the one to act on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from zermelo.doctor.evidence import Evidence
from zermelo.doctor.finding import HEALTHY, ILL, UNKNOWN, Finding, unknown
from zermelo.errors import UserError

__all__ = ["HEALTHY", "ILL", "UNKNOWN", "Finding", "diagnose", "ill", "known", "one_line"]

Check = Callable[[Evidence], Finding]


def light_checks() -> dict[str, Check]:
    """Those that need metrics and the heads of shards only; quick enough for the live view."""
    from zermelo.doctor import games, held_out, norms, pace

    return {
        "learning rate": pace.learning_rate,
        "norms": norms.norms,
        "simulations": games.simulations,
        "resignation": games.resignation,
        "repetition": pace.repetition,
        "window": pace.window,
        "unique games": games.unique_games,
        "endings": games.endings,
        "draws": games.draws,
        "held-out values": held_out.values,
        "balance": pace.balance,
    }


def deep_checks() -> dict[str, Check]:
    """Those that read samples, evaluate the newest network and search."""
    from zermelo.doctor import games, network, search, targets

    return {
        "learning": network.learning,
        "value sign": targets.value_sign,
        "policy targets": targets.policy_targets,
        "diversity": games.diversity,
        "collapse": targets.collapse,
        "policy": network.policy,
        "value": network.value,
        "overfitting": network.overfitting,
        "search": search.search_helps,
    }


# Causes first.
ORDER = (
    "learning rate", "norms", "learning", "value sign", "policy targets", "simulations",
    "resignation", "repetition", "window", "unique games", "diversity", "endings", "collapse",
    "draws", "held-out values", "overfitting", "policy", "value", "search", "balance",
)  # fmt: skip


def diagnose(
    run: str | os.PathLike[str],
    *,
    deep: bool = True,
    trust: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[Finding]:
    """A finding of every check, causes first; `progress` hears the name of each before it runs.

    Without `deep` only the quick checks run. Without `trust` no Python file that a received run
    names is run: what needs the rules then is unknown.
    """
    evidence = Evidence(Path(run), trust=trust)
    checks = light_checks() | (deep_checks() if deep else {})
    found = []
    for name in ORDER:
        if name not in checks:
            continue
        if progress is not None:
            progress(name)
        found.append(_checked(name, checks[name], evidence))
    return found


def _checked(name: str, check: Check, evidence: Evidence) -> Finding:
    """The check's finding; unknown as long as no iteration is finished.

    What stops one check, such as a missing backend, does not stop the others.
    """
    if not evidence.metrics:
        return unknown(name, evidence.without_metrics)
    try:
        return check(evidence)
    except UserError as error:
        return unknown(name, str(error))


def ill(findings: Iterable[Finding]) -> list[Finding]:
    """Those to act on."""
    return [finding for finding in findings if finding.verdict == ILL]


def known(findings: Iterable[Finding]) -> list[Finding]:
    """Those that could be judged."""
    return [finding for finding in findings if finding.verdict != UNKNOWN]


def one_line(findings: Sequence[Finding]) -> str:
    """For the live view: what is wrong, or that nothing is."""
    wrong = ill(findings)
    if not wrong:
        judged = len(known(findings))
        return f"healthy ({judged} checks)" if judged else "not known yet"
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return f"{wrong[0].check}: {wrong[0].sentence}{more}"


def to_dict(run: Path, findings: Sequence[Finding]) -> dict[str, Any]:
    """For `--json`."""
    return {
        "run": str(run),
        "healthy": not ill(findings) if known(findings) else None,
        "known": len(known(findings)),
        "ill": [finding.check for finding in ill(findings)],
        "findings": [finding.to_dict() for finding in findings],
    }
