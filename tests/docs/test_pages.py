"""What the pages say is there: every link leads somewhere, and every command they name exists."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from memory_keeper import errors
from memory_keeper.briefs.files import EDITED, EXPORTS, HANDED_OUT, INDEX, SEALED
from memory_keeper.briefs.rules import full, reminder, rules_of
from memory_keeper.capture.redact import redact
from memory_keeper.cli.aliases import ALIASES as OTHER_NAMES
from memory_keeper.cli.commands.config import MODES
from memory_keeper.cli.main import COMMANDS, _parse, build_parser
from memory_keeper.config import PROJECT_FILES
from memory_keeper.host import own_command
from memory_keeper.host.registration import OURS
from memory_keeper.settings import ALIASES, DEFAULTS, SETTINGS, USERS_ONLY, variable
from memory_keeper.text import tokens
from tests.e2e.cli import OLD, VERSION

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
STAGES = {key.partition(".")[0] for key in SETTINGS}
HOW_TO, REFERENCE = (sorted((ROOT / "docs" / folder).glob("*.md")) for folder in ("how-to", "reference"))

# of Claude Code, git, pip and our own tests and benchmarks, where they are spoken of
OTHERS_OPTIONS = {
    *("--continue", "--data", "--fork-session", "--no-verify", "--quiet", "--realtime", "--resume", "--rg"),
    *("--ci", "--hash", "--model", "--no-deps", "--require-hashes", "--run", "--scope", "--settings", "--speed"),
    "--token",
}
TYPED_KINDS, SEEN_KINDS = (
    {"sh", "claude"},
    {"text", "console", "json", "sql", "python"},
)  # of blocks: the site shows them apart

KIND = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| setting \| default \|[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+?) \|", re.MULTILINE)
BUDGET = re.compile(r"(\d[\d,]*)(?: tokens)?(?:,| \() ?`([\w.]+)`")  # 2,000 tokens, `tell.handoffBudget`
FENCED = re.compile(r"^(```+)[^\n]*\n(.*?)^\1`*\s*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*\n|\n)+")
INLINE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
TYPED = re.compile(r"(?:\$ |! )?(?:[A-Z_]+=\S+ )?(?:\./)?memory-keeper ([a-z].*)")
CALL = re.compile(r"(?:^|[\s/])memory-keeper[ \t]+([a-z][a-z-]*)", re.MULTILINE)


def code(text: str) -> Iterator[str]:
    """The code blocks and the inline code of a page, with the sentence around the latter left out."""
    text = COMMENT.sub("", text)
    yield from (match[2] for match in FENCED.finditer(text))
    rest = FENCED.sub("\n", text)
    yield from (re.sub(r"^(?: {4}|\t)", "", match[0], flags=re.MULTILINE) for match in INDENTED.finditer(rest))
    yield from (match[2] for match in INLINE.finditer(INDENTED.sub("\n", rest)))


def links(text: str) -> list[str]:
    for pattern in (COMMENT, FENCED, INDENTED, INLINE):
        text = pattern.sub("\n", text)
    return [match[1] or match[2] for match in LINK.finditer(text)]


def calls(text: str) -> list[str]:
    """What follows `memory-keeper` where a command would stand; not comments, nor what Claude Code is told."""
    lines = [line.partition(" #")[0] for part in code(text) for line in part.splitlines()]
    return [
        match[1]
        for line in lines
        if not re.match(r"\s*(?:/|claude |pipx? )", line) and not line.lstrip().startswith("|")
        for match in CALL.finditer(line)
    ]


def anchors(text: str) -> set[str]:
    """The headings as GitHub names them in addresses."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", FENCED.sub("\n", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.is_relative_to(ROOT) and target.exists()
        if not inside or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    unknown = sorted({word for word in calls(text) if word not in {*COMMANDS, *OTHER_NAMES}})
    assert not unknown


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "cli.md"], ids=name)
def test_every_line_to_type_is_understood(page: Path) -> None:
    """With its arguments and options, whatever it would then do."""
    text = COMMENT.sub("", page.read_text(encoding="utf-8"))
    for line in "".join(match[2] for match in FENCED.finditer(text)).splitlines():
        typed = TYPED.match(line)
        if typed and not {"…", "..."} & set(line.split()):
            _parse(shlex.split(re.split(r"\s#\s|\s[|<>]\s", typed[1])[0]))  # leaves with 2 where it is not


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_setting_named_exists(page: Path) -> None:
    named = re.findall(
        rf"(?:`|config set )((?:{'|'.join(STAGES)})\.(?!py\b)[a-z][\w.]+)", page.read_text(encoding="utf-8")
    )
    assert not {*named} - SETTINGS.keys() - ALIASES.keys()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_option_and_variable_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    said = [one for one in code(text) if not re.match(r"\s*(?:\./dev|claude|git|demo) ", one)]
    assert {*re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(said))} - {*options(build_parser())} <= OTHERS_OPTIONS
    assert {*re.findall(r"MEMORY_KEEPER_[A-Z_]+", text)} <= {"MEMORY_KEEPER_HOME", *map(variable, SETTINGS)}


@pytest.mark.parametrize("page", PAGES[1:], ids=name)
def test_every_block_says_whether_it_is_to_be_typed_or_seen(page: Path) -> None:
    for kind, body in KIND.findall(COMMENT.sub("", page.read_text(encoding="utf-8"))):
        assert kind in TYPED_KINDS | SEEN_KINDS, body
        is_typed = bool(re.match(r"(?:\./)?(?:memory-keeper|dev) [a-z-]+(?! \[)", body)) and page.name != "cli.md"
        assert (kind in TYPED_KINDS) or not is_typed, body


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "settings.md"], ids=name)
def test_the_defaults_that_pages_tell_are_those_of_the_program(page: Path) -> None:
    for key, said in told_defaults(page.read_text(encoding="utf-8")):
        if DEFAULTS.get(key, "") != "":
            assert said.strip("`").replace(",", "") == str(DEFAULTS[key]).lower(), key


def told_defaults(text: str) -> Iterator[tuple[str, str]]:
    """In tables of settings, and where a setting stands behind a number of tokens."""
    yield from ((key, number) for number, key in BUDGET.findall(text))
    for keys, values in (row for table in TABLE.findall(text) for row in ROW.findall(table)):
        yield from zip(re.findall(r"[\w.]+", keys), values.split(", "), strict=False)


def test_what_pages_say_of_rules_and_stand_ins_is_so() -> None:
    shipped = rules_of(None, "")
    in_full, line = full(shipped, (), DEFAULTS["rules.budget"], "5da784d9").tokens, tokens(reminder(shipped))
    for page in ("docs/how-to/rules.md", "docs/explanation/what-is-told-when.md", "README.md"):
        said = (ROOT / page).read_text(encoding="utf-8")
        assert re.search(rf"\b{in_full}\b", said) and re.search(rf"\b{line}\b", said), page
    secrets = (ROOT / "docs/explanation/secrets.md").read_text(encoding="utf-8")
    for word in ("changeme", "your-key-here", "AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"):
        assert f"`{word}`" in secrets
        assert redact(f"API_TOKEN={word}", b"salt" * 4) == f"API_TOKEN={word}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_only_versions_of_claude_code_that_were_tried_are_named(page: Path) -> None:
    """Besides the one from which on the program itself says that it can compact."""
    modules = re.findall(r"2\.1\.\d+", MODES["replace"])
    assert {*re.findall(r"\b2\.1\.\d+\b", page.read_text(encoding="utf-8"))} <= {OLD, VERSION, *modules}


def test_the_command_lies_where_install_says() -> None:
    place = f"~{own_command.place().removeprefix(str(Path.home()))}"
    said = (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8")
    assert f"is {place}." in said and f"`{place.removesuffix('/memory-keeper')}`" in said


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        for child in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
            yield from options(child)


def test_the_exit_codes_are_those_of_the_program() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    raised = {kind.code for kind in (errors.KeeperError, errors.NotSetUp, errors.Busy, errors.PartlyDone)}
    assert told == {0, 2, 130} | raised


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "README.md"], ids=name)
def test_no_page_hints_at_what_is_not_built(page: Path) -> None:
    """The README's roadmap is the place for that."""
    said = FENCED.sub("\n", page.read_text(encoding="utf-8"))
    assert not re.findall(
        r"\b(?:is|are|be) planned\b|\bplanned:|\bnot yet built\b|\bcoming soon\b", said, re.IGNORECASE
    )


def test_every_setting_is_in_the_reference() -> None:
    """With its default, the predecessor's name for it, and the mark of those that a project may not set."""
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+\.[\w.]+)`( †)? \| (.*?) \| (.*) \|$", page, re.MULTILINE)
    told = {key: (default, meaning, bool(mark)) for key, mark, default, meaning in rows}
    assert told.keys() == SETTINGS.keys()
    assert {key for key, (_, _, marked) in told.items() if marked} == USERS_ONLY
    for key, setting in SETTINGS.items():
        shown = str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default)
        assert shown in (page if len(shown) > 30 else told[key][0]), key
    for name, (ours, _) in ALIASES.items():
        assert f"`{name}`" in told[ours][1]
    for path in PROJECT_FILES:
        assert f"`{path[1:]}`" in page


def test_every_file_of_ours_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/files.md").read_text(encoding="utf-8")
    listed = "\n".join(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE))
    names = {pattern.partition("[")[0].rstrip(".-*") for pattern in OURS}
    names = {name.removesuffix(".memory-keeper") for name in names} - {"changed-settings"}
    names |= {"changed-settings.json", *EDITED, *EXPORTS, INDEX, HANDED_OUT, *SEALED}
    assert not [name for name in sorted(names) if f"`{name.partition('*')[0]}" not in listed]
    in_the_home, _, _ = page.partition("## In a project")
    rows = " ".join(re.findall(r"^\| (`[^|]+) \|", in_the_home, re.MULTILINE))
    named = [name.replace("DATE-TIME", "2026").partition("/")[0] for name in re.findall(r"`([^`]+)`", rows)]
    known = [*OURS, "-*"]  # an ending alone is of the name before it
    assert not [name for name in named if not any(fnmatchcase(name, pattern) for pattern in known)]


def test_the_patterns_see_what_they_should() -> None:
    page = (
        "# A page\n\nRun `memory-keeper search x`, and memory-keeper remembers.\n\n"
        "    ./memory-keeper install     # memory-keeper does it\n\n"
        "```\n$ memory-keeper show ID\n/plugin disable memory-keeper\n[no](link.md)\n```\n\n"
        "[one](a.md), [two](b/c.md#d) and `[three](x.md)`\n\n[four]: d.md\n"
    )
    assert sorted(calls(page)) == ["install", "search", "show"]
    assert links(page) == ["a.md", "b/c.md#d", "d.md"]
    assert anchors(page) == {"a-page"}


@pytest.mark.parametrize("page", HOW_TO, ids=name)
def test_a_how_to_says_first_what_you_get_and_then_what_to_do(page: Path) -> None:
    title, _, rest = page.read_text(encoding="utf-8").partition("\n\n")
    assert title.startswith("# ") and "\n" not in title
    assert rest.startswith("You get ")
    assert "```" in rest
    assert re.search(r"^## (?:If |When |What it cannot |What it does not |What is not )", rest, re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in REFERENCE if page.stem != "features"], ids=name)
def test_a_reference_begins_with_a_sentence_and_an_example(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    title, sentence = text.split("\n\n")[:2]
    assert title.startswith("# ") and re.fullmatch(r"[A-Z`][^|]+[.:]", sentence.splitlines()[0])
    assert text.find("\n```") < (text.find("\n## ") if "\n## " in text else len(text))
