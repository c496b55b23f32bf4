"""What MkDocs is told beyond `mkdocs.yml`: pages made of help and docstrings, and files that stand outside docs/."""

from __future__ import annotations

import logging
import posixpath
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.hooks import commands, python  # noqa: E402

# Where files outside docs/ stand in the site.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "benchmarks/README.md": "benchmarks/README.md",
    "benchmarks/beam.svg": "benchmarks/beam.svg",
    "benchmarks/pruning.svg": "benchmarks/pruning.svg",
    "benchmarks/swor.svg": "benchmarks/swor.svg",
    "sample_data/cosines.py": "sample_data/cosines.py",
}
FETCHED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="?(?:https?:)?//[^">]*')
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")

Pages = dict[str, str]
log = logging.getLogger("mkdocs.plugins.deptree")


@cache
def generated() -> dict[str, Pages]:
    """Return the pages of each generated section, by their place in the site."""
    return {
        "reference/commands": commands.pages(),
        "reference/topics": commands.topics(),
        "reference/python": python.pages(),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation."""
    config.nav = list(_filled(config.nav, {section: list(pages) for section, pages in generated().items()}))
    return config


def _filled(entries: list[Any], sections: dict[str, list[str]]) -> Iterator[Any]:
    """The entries of the navigation, a generated section's pages in the place of its name."""
    for entry in entries:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            if isinstance(below, list):
                yield {title: list(_filled(below, sections))}
            else:
                yield {title: sections.get(below, below)}
        else:
            yield entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files that stand outside docs/."""
    for pages in generated().values():
        for place, text in pages.items():
            files.append(File.generated(config, place, content=text))
    for source, place in OUTSIDE.items():
        if source.endswith(".md"):
            text = relinked((ROOT / source).read_text(encoding="utf-8"), source, place)
            files.append(File.generated(config, place, content=text))
        else:
            files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_read_source(page: Any, config: MkDocsConfig) -> str | None:
    """Read a page of docs/ with its links to files outside as they are in the site."""
    path = page.file.abs_src_path
    if page.file.generated_by or not path:
        return None
    return relinked(Path(path).read_text(encoding="utf-8"), f"docs/{page.file.src_uri}", page.file.src_uri)


def relinked(text: str, source: str, place: str) -> str:
    """Return the text of a file with its links to other files as they must be at its place in the site.

    Args:
        source: where the file stands in the project.
        place: where it stands in the site.
    """
    folder = posixpath.dirname(source)

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return LINK.sub(link, text)


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """Warn of what a browser would fetch from elsewhere: the manual asks nobody."""
    for found in FETCHED.findall(output):
        log.warning("%s fetches %s", page.file.src_uri, found)
    return output
