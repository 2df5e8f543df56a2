"""Builds the documentation site into build/site from the pages that are there, as `mkdocs` does.

Usage: python tools/docs_site.py [OUTPUT]

Copies README, docs/ and the pages at the root into build/site-docs, with links to files of the
source shown as text, writes the pages of the API and the contents, and runs `mkdocs --strict`. Then
looks at every page for anything that a browser would ask of another host, which is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "site-docs"
SITE = ROOT / "build" / "site"
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
ROOT_PAGES |= {"CHANGELOG.md": "changes.md", "SECURITY.md": "security.md"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
# What is documented for programs: page, and the modules on it.
API = {
    "zermelo": ["zermelo.front.loading", "zermelo.front.player", "zermelo.front.training",
                "zermelo.front.run", "zermelo.front.table", "zermelo.front.picture"],
    "games": ["zermelo.games.protocol", "zermelo.games.symmetries", "zermelo.games.registry",
              "zermelo.games.parameters"],
    "search": ["zermelo.search.search", "zermelo.search.result", "zermelo.search.live",
               "zermelo.search.limits", "zermelo.evaluator"],
    "players": ["zermelo.players.protocol", "zermelo.players.registry",
                "zermelo.players.search_player"],
    "networks": ["zermelo.network.open", "zermelo.network.evaluator", "zermelo.network.places"],
    "adapters": ["zermelo.adapters.pettingzoo", "zermelo.adapters.open_spiel"],
    "testing": ["zermelo.testing.check_game"],
}  # fmt: skip
TABS = {"tutorial": "Tutorials", "guide": "Guides", "games": "Games", "formats": "Formats"}
# What makes a browser ask for something: sources, style sheets, imports; links to follow are not.
ASKS = re.compile(
    r"""(?:src|srcset)\s*=\s*["']?(?:https?:)?//"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon))"""
    r"""(?=[^>]*\bhref=["']?(?:https?:)?//)"""
    r"""|url\(\s*["']?(?:https?:)?//|@import\s+["'](?:https?:)?//"""
)


def main(output: Path = SITE) -> int:
    """Exit code 1 if the site cannot be built, or asks others for something."""
    shutil.rmtree(PAGES, ignore_errors=True)
    sources = dict(pages())
    for source, place in sources.items():
        target = PAGES / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(relinked(source, place, sources))
        else:
            shutil.copyfile(source, target)
    for name, modules in API.items():
        body = "\n\n".join(f"::: {module}" for module in modules)
        page = PAGES / "api" / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# {name}\n\n{body}\n")
    settings = ROOT / "build" / "mkdocs.yml"
    text = (ROOT / "mkdocs.yml").read_text()
    for name in ("build/site-docs", "build/site", "src"):
        text = re.sub(rf"(?<=[ \[]){name}(?=[ \]\n])", str(ROOT / name), text)
    settings.write_text(text + navigation())
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--quiet"]
    done = subprocess.run(
        [*command, "-f", str(settings), "-d", str(output)],
        cwd=ROOT,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},  # its advertisement of a successor
    )
    if done.returncode:
        return 1
    asking = list(requests(output))
    print("\n".join(asking) or f"{output}: {len(list(output.rglob('*.html')))} pages")
    return bool(asking)


def pages() -> Iterator[tuple[Path, str]]:
    """Each file of the site, and where it goes."""
    for name, place in ROOT_PAGES.items():
        yield ROOT / name, place
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file():
            yield path, str(path.relative_to(ROOT / "docs"))
    for path in sorted((ROOT / "benchmarks").glob("*.md")):
        yield path, f"benchmarks/{path.name}"
    yield ROOT / "cpp" / "README.md", "core.md"


def relinked(source: Path, place: str, sources: dict[Path, str]) -> str:
    """The page with its links to pages of the site; others, to files of the source, become text."""

    def link(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        found = sources.get((source.parent / target).resolve())
        if found is None:
            return text if text.startswith("`") else f"{text} (`{Path(target).name}`)"
        up = "../" * place.count("/")
        return f"{picture}[{text}]({up}{found}{anchor or ''})"

    return LINK.sub(link, source.read_text())


def navigation() -> str:
    """The contents, in mkdocs' format; each page has its own title."""
    lines = ["nav:", "  - Start: index.md"]
    for folder, title in TABS.items():
        lines.append(f"  - {title}:")
        lines += [f"    - {folder}/{p.name}" for p in sorted((PAGES / folder).glob("*.md"))]
    lines.append("  - API:")
    lines += [f"    - api/{name}.md" for name in API]
    lines.append("  - Inside:")
    inside = ["architecture.md", "core.md", "techniques.md", "evidence.md", "contributing.md"]
    inside += ["changes.md", "security.md", "log.md"]
    inside += [f"benchmarks/{p.name}" for p in sorted((PAGES / "benchmarks").glob("*.md"))]
    lines += [f"    - {name}" for name in inside]
    lines.append("    - Decisions:")
    lines += [f"      - decisions/{p.name}" for p in sorted((PAGES / "decisions").glob("*.md"))]
    return "\n".join(lines) + "\n"


def requests(site: Path) -> Iterator[str]:
    """Places in pages and style sheets where a browser would ask another host for something."""
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for found in ASKS.finditer(path.read_text()):
            text = found[0][:80]
            yield f"{path.relative_to(site)}: asks another host for something: {text}"


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).resolve() for argument in sys.argv[1:2])))
