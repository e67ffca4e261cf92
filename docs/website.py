"""What mkdocs does not know by itself: decisions, the changelog, and links to files that are no pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
OUTWARDS = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]+)[^)]*\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Each decision is a page of the navigation: a new one needs no line in mkdocs.yml."""
    decisions = sorted(f"decisions/{page.name}" for page in (DOCS / "decisions").glob("[0-9]*.md"))
    config.nav = [
        {"Decisions": ["decisions/README.md", *decisions]} if part == "decisions/" else part
        for part in config.nav or ()
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "changelog.md", content=changelog()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A link to a file that is not among the pages, such as a test, is told by its name: the site does not have it.

    A page that is alone in its tab needs no list of pages beside it.
    """
    if page.parent is None:
        page.meta["hide"] = ["navigation"]
    here = (DOCS / page.file.src_uri).parent
    outside = (link for link in OUTWARDS.finditer(markdown) if not (here / link[2]).resolve().is_relative_to(DOCS))
    for link in outside:
        markdown = markdown.replace(link[0], link[1])
    return markdown.replace("\n```claude\n", "\n```{ .text .claude }\n")  # no language that anybody colours


def changelog() -> str:
    """The changes of each release, and before them those that no release has yet."""
    _, _, releases = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("\n## ")
    fragments = sorted(path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md")
    unreleased = [path.read_text(encoding="utf-8").strip() for path in fragments]
    parts = ["# Changelog", "What you can do now, and what changed under you."]
    parts += ["## Not released yet", "\n".join(unreleased)] if unreleased else []
    text = "\n\n".join([*parts, *([f"## {releases}"] if releases else [])])
    return text.replace("](docs/", "](")  # their links go out from the root
