"""The names in a text that nobody had to mark: files, identifiers, references."""

from __future__ import annotations

import re

from memory_keeper.capture.calls import fields
from memory_keeper.model import Event
from memory_keeper.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD, TAIL = 20_000, 4_000  # of a text, in characters: what is looked at
MARK = re.compile(r"<REDACTED:[^>\s]{1,40}>")
WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
# camelCase, PascalCase of two words or more, snake_case, CAPITALS_WITH_LINES
NAME = re.compile(
    r"_*(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
)
PRODUCTS = frozenset(
    (
        "DevOps",
        "GitHub",
        "GitLab",
        "JavaScript",
        "LinkedIn",
        "MacOS",
        "OpenAI",
        "PostgreSQL",
        "TypeScript",
        "WebSocket",
        "YouTube",
    )
)
LONGEST = 60
BLANK = "\ue000"  # stands for a blank that belongs to a path
PIECE = re.compile(rf"[\w./@+~{BLANK}-]+")
# the end of a line, in a string: no part of the word after it; of a path with such strokes, all
ESCAPED = re.compile(r"[A-Za-z]:\\[^\s\"']*|\\[nrt](?=[\w~./-])")
KEY = re.compile(r'^[A-Za-z_][\w-]{0,40}: |"[A-Za-z_]\w{0,40}": ', re.M)  # what a call's text names its parts
SIDE = re.compile(r"^(?:\./|[ab]/(?=.*/))")  # this folder; the sides of a diff
ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,8}$")
ENDINGS = frozenset((
    "bash", "c", "cc", "cfg", "cjs", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "env", "ex", "exs", "go",
    "gradle", "graphql", "h", "hpp", "hs", "html", "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt",
    "kts", "less", "lock", "lua", "m", "md", "mdx", "mjs", "mod", "mm", "php", "pl", "prisma", "properties",
    "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql", "svelte", "swift",
    "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
))  # fmt: skip
URL = re.compile(r"https?://[^\s<>\"'`)\]}”’…\\]{1,300}")
# of a longer id in parts its beginning only
HASH = re.compile(r"(?<![\w-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")
MADE_UP = re.compile(
    r"(?:[a-f]\d){3}|(?:\d[a-f]){3}|abc(?:def|123)|dead(?:bee|c0d)|(.)\1{4}"
)  # to show what one is like
EXAMPLE = re.compile(r"https?://(?:[\w-]+\.)*example\.(?:com|org|net)\b")
# numbers are looked for by the mark before them, which is quick, and what stands before the mark then tells what it is
ISSUE = re.compile(r"#\d{1,6}\b")
CITED = re.compile(  # a small number alone counts tasks, options, steps
    r"(?:\b(?i:prs?|mrs?|issues?|pull|requests?|fix(?:es|ed)?|closed?|closes|resolved?|resolves|refs?|see)[ :]+|\()$"
)
TICKET = re.compile(r"-\d{1,5}\b")
PROJECT = re.compile(r"\b(?!(?:SHA|UTF|ISO|RFC|AES|RSA|MD|CP|GPT|TLS|HTTP|IEEE|UTC|GMT|ES|PEP|ANSI|BASE)$)[A-Z]{2,6}$")


def looked_at(event: Event) -> str:
    """As much of a text as names are looked for in: no keys of a call, no redaction marks."""
    given = fields(event) if event.kind == "call" else {}
    text = bounded("\n".join(given.values()) if given else event.text)
    if event.kind in ("call", "todo") and not given:
        text = KEY.sub(" ", text)
    text = unescaped(text)
    return MARK.sub(" ", text) if "<REDACTED:" in text else text


def unescaped(text: str) -> str:
    """A text whose strings have blanks for the ends of their lines."""
    return ESCAPED.sub(lambda found: found[0] if found[0][0] != "\\" else " ", text) if "\\" in text else text


def bounded(text: str) -> str:
    """The beginning and the end of a long text, without colours, which would run into names."""
    text = text.strip() if len(text) > HEAD + TAIL else text  # else all that is looked at may be blank
    if len(text) > HEAD + TAIL:  # half a name would be another: the words that are cut go
        text = text[:HEAD].rsplit(None, 1)[0] + "\n" + text[-TAIL:].split(None, 1)[-1]
    return clean(text) if "\x1b" in text else text


def names(text: str) -> set[str]:
    """The identifiers of a text that are more than one plain word."""
    words = {word for word in WORD.findall(text) if 5 < len(word) <= LONGEST}
    return {word for word in words if NAME.fullmatch(word)} - PRODUCTS


def paths(text: str) -> set[str]:
    """The files of a text, as written there."""
    found = set()
    text = unescaped(text)
    for piece in set(PIECE.findall(text)):
        if 3 < len(piece) <= 200 and "." in piece:
            path = SIDE.sub("", piece.rstrip("/.:,;-" + BLANK).replace(BLANK, " "))
            base = path.rpartition("/")[2]
            ending = ENDING.search(base)
            if ending and not path.startswith(("/dev/", "//", "-", "@")) and not base.startswith(("*", "+")):
                known = ending[0][1:].lower() in ENDINGS and (ending[0].islower() or ending[0].isupper())
                if known and (len(base) > len(ending[0]) or base.startswith(".env")):
                    found.add(path)
    return found


def refs(text: str) -> set[str]:
    """Addresses, commit hashes, numbers of issues."""
    found = {url.rstrip(".,;:*") for url in URL.findall(text) if not EXAMPLE.match(url)}
    hashes = {one[:7] for one in HASH.findall(text)}
    return found | {one for one in hashes if not one.isdecimal()} | {*_issues(text)} | {*_tickets(text)}


def _issues(text: str) -> Iterator[str]:
    """Numbers of issues: large ones, and small ones that somebody calls that."""
    for one in ISSUE.finditer(text):
        before = text[max(0, one.start() - 12) : one.start()]
        if CITED.search(before) if len(one[0]) < 4 else not (before[-1:].isalnum() or before[-1:] in ("_", "&")):
            yield one[0]


def _tickets(text: str) -> Iterator[str]:
    for one in TICKET.finditer(text):
        if project := PROJECT.search(text[max(0, one.start() - 8) : one.start()]):
            yield project[0] + one[0]
