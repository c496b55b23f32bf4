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

from docs.hooks import commands, fields, python  # noqa: E402

FETCHED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="?(?:https?:)?//[^">]*')
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")

Pages = dict[str, str]
log = logging.getLogger("mkdocs.plugins.deptree")


@cache
def generated() -> dict[str, Pages]:
    """Return the pages of each generated section, by their place in the site."""
    return {
        "reference/commands": commands.pages(),
        "reference/python": python.pages(),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation."""
    config.nav = list(_filled(config.nav or [], {section: list(pages) for section, pages in generated().items()}))
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


@cache
def outside() -> dict[str, str]:
    """Return the files outside docs/ to which pages lead, and their places in the site, whose first page is README."""
    found = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md"}
    waiting = [*found, *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
    for source in waiting:
        for link in LINK.findall((ROOT / source).read_text(encoding="utf-8")):
            target = _target(source, link)
            if target not in found and not target.startswith("docs/") and (ROOT / target).is_file():
                found[target] = target
                waiting += [target] if target.endswith(".md") else []
    return found


def _target(source: str, link: str) -> str:
    """The file to which a link of a file leads, both by their places in the project."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files that stand outside docs/."""
    for pages in generated().values():
        for place, text in pages.items():
            files.append(File.generated(config, place, content=text))
    for source, place in outside().items():
        path, what = ROOT / source, {}
        if path.suffix == ".md":
            what["content"] = relinked(path.read_text(encoding="utf-8"), source)
        else:
            what["abs_src_path"] = str(path)
        files.append(File.generated(config, place, **what))
    return files


def on_page_read_source(page: Any, config: MkDocsConfig) -> str | None:
    """Read a page of docs/ with its generated tables, and with its links to files outside as they are in the site."""
    path = page.file.abs_src_path
    if page.file.generated_by or not path:
        return None
    return fields.filled(relinked(Path(path).read_text(encoding="utf-8"), f"docs/{page.file.src_uri}"))


def relinked(text: str, source: str) -> str:
    """Return the text of a file, given by its place in the project, with its links as they must be in the site."""
    folder = posixpath.dirname(_place(source))

    def link(match: re.Match[str]) -> str:
        return posixpath.relpath(_place(_target(source, match[1])), folder or ".")

    return LINK.sub(link, text)


def _place(source: str) -> str:
    """Where a file of the project stands in the site."""
    return outside().get(source, source.removeprefix("docs/"))


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """Warn of what a browser would fetch from elsewhere: the manual asks nobody."""
    for found in FETCHED.findall(output):
        log.warning("%s fetches %s", page.file.src_uri, found)
    return output
