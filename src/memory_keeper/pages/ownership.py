"""Whose the pages in a project are: what a purge of one home must not take away."""

from __future__ import annotations

from collections.abc import Iterable

from memory_keeper.briefs.files import EDITED, FOLDER, INDEX, LISTED, ONE_EACH, SEALED, Folder
from memory_keeper.briefs.memory import decode, is_ours, is_sealed, owner, parse
from memory_keeper.briefs.pages import is_our_index
from memory_keeper.capture.payload import safe_name
from memory_keeper.keeper import Keeper

EVERY = 1 << 30
OF_SESSIONS = ("handoffs", "sessions")  # folders with a file for each session


def not_ours_alone(keeper: Keeper, root: str, paths: Iterable[str]) -> list[str]:
    """Of our pages in a project, those with a person's own words and those that another home wrote."""
    project = keeper.project(root)
    sessions = {safe_name(one.id) for one in keeper.store.sessions(project, EVERY)}
    return [path for path in paths if _is_foreign(path, sessions) or _stays(keeper, project, root, path)]


def _is_foreign(path: str, sessions: set[str]) -> bool:
    """Whether a file is of a session that this home does not know."""
    *_, above, name = path.split("/")
    if above not in OF_SESSIONS:
        return False
    stem = name.removeprefix("HANDOFF-").removesuffix(".md").removesuffix(".l1.jsonl")
    return not any(stem == one or stem.endswith("_" + one) for one in sessions)


def _stays(keeper: Keeper, project: str, root: str, path: str) -> bool:
    *_, above, name = path.split("/")
    if above != FOLDER[-1]:
        return False
    with Folder(root) as folder:
        found = folder.read(name)
    if found is None or not found.data.strip():
        return False
    if name == INDEX:
        return not is_our_index(found.data, project, keeper.salt)
    if name in SEALED:
        return not is_sealed(found.data, name, project, keeper.salt)
    if not name.endswith(".md"):
        return False
    kind = name.removesuffix(".md") if name.removesuffix(".md") in ONE_EACH else LISTED.get(name, "note")
    page = parse(decode(found.data), headings=kind not in ONE_EACH)
    foreign = bool(page.mac) and not is_ours(page, owner(project, kind), keeper.salt)
    return foreign or (name in EDITED and any(section.yours for section in page.sections))
