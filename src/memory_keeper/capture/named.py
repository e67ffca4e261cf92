"""What a prompt names: files, identifiers, flags, tickets, and errors that were pasted into it.

It is asked at every prompt, so it looks at each word once and does without `re`. A word of the language is no name; a
name has something that words do not have: an ending, a slash, an underscore, a capital inside, or backticks around it.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory_keeper.model import NamedTuple

LONGEST = 8_000  # characters of a prompt that are looked at
MOST = 8  # names: who lists more asks about none of them
SHORTEST, LARGEST = 3, 120  # characters of one
QUOTED = 80  # and between two backticks
FENCE = "```"
# what may stand around a name without being of it
AROUND = "\"'“”‘’«»()[]{}<>,;:!?*…，。、；：！？（）「」『』"
DIGITS = frozenset("0123456789")
NAMED = frozenset(("Dockerfile", "Makefile", "Gemfile", "Procfile", "Jenkinsfile", "Justfile", "Rakefile"))
# how a word may end that has a dot and is no file
SITES = frozenset(("com", "org", "net", "io", "dev", "ai", "edu", "gov", "co", "de", "kr", "jp", "app"))
# how files end: `.json` alone names none
ENDINGS = frozenset((
    "json", "jsonl", "py", "ts", "tsx", "js", "jsx", "mjs", "md", "txt", "go", "rs", "java", "rb", "php", "css", "html",
    "yml", "yaml", "toml", "xml", "csv", "sql", "sh", "log", "lock", "cpp", "zip", "png", "jpg", "svg", "pdf",
))  # fmt: skip
# what is written like a name and is one of a product, or of everything
COMMON = frozenset((
    "github", "gitlab", "javascript", "typescript", "postgresql", "mysql", "graphql", "node.js", "next.js", "vue.js",
    "react.js", "nuxt.js", "express.js", "three.js", "d3.js", "openai", "chatgpt", "youtube", "linkedin", "macos",
    "ios", "iphone", "devops", "nodejs", "nextjs", "latex", "and/or", "e.g", "i.e", "a.m", "p.m",
    "main", "test", "tests", "true", "false", "null", "none", "self", "this", "name", "type", "value",
    "data", "file", "todo", "error", "string", "index", "init", "import", "class", "return",
    "async", "await", "const", "print", "undefined", "int", "str", "bool", "list", "dict", "object",
))  # fmt: skip
# what a line has that says what went wrong, as programs write it
ERRORS = (
    "Error:", "error:", "error[", "ERROR:", "Exception:", "Exception in", "Traceback (most", "fatal:", "panic:",
    "panicked at", "ERR!", "FAILED ", "--- FAIL", "command not found", "No such file", "Permission denied",
    "undefined reference", "Cannot find", "cannot find", "not recognized", "AssertionError",
)  # fmt: skip


class Name(NamedTuple):
    """Something that has a name."""

    text: str  # as it was written
    kind: str  # file | name | ref | word: a plain word that only its backticks make a name

    @property
    def base(self) -> str:
        """A file without its folders; anything else as it is."""
        return self.text.rstrip("/").rpartition("/")[2] if self.kind == "file" else self.text


def names_in(prompt: str) -> list[Name]:
    """What a prompt names, in its order, each once; not what stands in code that was pasted."""
    found: dict[str, Name] = {}
    for place, text in enumerate(prompt[:LONGEST].split(FENCE)):
        for name in _names(text) if place % 2 == 0 else ():
            found.setdefault(name.text.lower(), name)
    return list(found.values())[:MOST]


def says_error(prompt: str) -> bool:
    """Whether a prompt has something in it that a program said went wrong."""
    return any(mark in prompt for mark in ERRORS)


def is_command(prompt: str) -> bool:
    """Whether a prompt is for the host: `/compact`, `!ls`."""
    first = prompt[:200].split(None, 1)[:1]
    return prompt[:1] == "!" or (prompt[:1] == "/" and first[0].count("/") == 1 and "." not in first[0])


def _names(text: str) -> Iterator[Name]:
    for place, part in enumerate(text.split("`")):
        code = place % 2 == 1 and len(part) <= QUOTED
        words = part.split()
        for word in words:
            if word.isalpha() and word.islower() and not (code and len(words) == 1):
                continue  # most words, and quickly
            if name := _read(word, code and len(words) == 1):
                yield name


def _read(word: str, code: bool) -> Name | None:
    """The name that a word is; None where it is only a word. `code` stands alone between backticks."""
    called, word = _called(word.lstrip(AROUND))
    word = _without_ending(word.strip(AROUND)).strip(AROUND)
    mentioned = word[:1] == "@" and ("/" in word or "." in word[1:-1])  # as the host names files
    word = _without_place(word.lstrip("@").rstrip(".").rstrip(AROUND))
    if not SHORTEST <= len(word) <= LARGEST or "://" in word or word.lower() in COMMON:
        return None
    if word in NAMED:
        return Name(word, "file")
    if _is_ref(word):
        return Name(word, "ref")
    if called:
        return Name(word, "name")
    if mentioned or _is_path(word, code):
        return Name(word.removeprefix("./"), "file")
    if not _is_identifier(word, code):
        return None
    return Name(word, "word" if code and not _is_identifier(word, False) else "name")


def _without_ending(word: str) -> str:
    """A name without the particle that some languages put behind it: `auth.py` of `auth.py를`."""
    if word.isascii():
        return word
    end = len(word)
    while end and not word[end - 1].isascii():
        end -= 1
    return word[:end] or word


def _without_place(word: str) -> str:
    """`a.py` of `a.py:12:3`, and of `a.py#L12`."""
    word = word.partition("#L")[0] if "#L" in word else word
    head, colon, rest = word.partition(":")
    return head if colon and rest and DIGITS.issuperset(rest.replace(":", "").replace("-", "")) else word


def _called(word: str) -> tuple[bool, str]:
    """Whether a word is called like a function, and what is: `greet` of `greet()` or `greet(name`."""
    head, opened, rest = word.partition("(")
    if not opened or rest.rstrip(AROUND) == "s" or not head.replace("_", "a").replace(".", "a").isalnum():
        return False, word
    return len(head) >= SHORTEST and head[0].isidentifier(), head


def _is_ref(word: str) -> bool:
    """A ticket or an issue: `APP-123`, `#4711`."""
    head, dash, number = word.rpartition("-")
    ticket = bool(dash) and head.isalpha() and head.isupper() and 2 <= len(head) <= 6 and number.isdecimal()
    return ticket or (word[0] == "#" and word[1:].isdecimal() and len(word) > 2)


def _is_path(word: str, code: bool) -> bool:
    """Whether a word is the path of a file or a folder, or the name of a file with its ending."""
    last = word.rstrip("/").rpartition("/")[2]
    stem, dot, ending = last.rpartition(".")
    ended = bool(dot) and 0 < len(ending) <= 8 and ending.isalnum() and ending[0].isalpha() and ending.islower()
    if "/" not in word:
        named = len(stem) > 1 or (stem == "" and len(ending) > 2 and ending not in ENDINGS)
        return ended and named and ending not in SITES and not stem.replace(".", "").isdecimal()
    if any(char in word for char in "\\=&|$<>"):
        return False
    sure = (code and word[0] != "/") or word[0] in "~." or word.count("/") > 1 or "_" in word  # else `/review`
    return (ended and bool(stem or ending)) or (sure and len(last) > 2)


def _is_identifier(word: str, code: bool) -> bool:
    """Whether a word is written as people write identifiers and not as they write words."""
    if word[:2] == "--":
        return len(word) > 5 and word[2:].replace("-", "a").isalnum()
    bare = word.replace("::", ".").strip("_.")
    plain = bare.replace("_", "").replace(".", "").replace("-", "")
    if not plain.isalnum() or plain.isdecimal() or not bare.isascii() or bare[:1].isdecimal():
        return False
    if "_" in bare or "::" in word:
        return len(plain) > 3 and "-" not in bare
    if "." in bare:
        parts = bare.split(".")
        return all(len(part) > 1 and part[0].isalpha() for part in parts) and parts[-1].lower() not in SITES
    if code:
        return len(plain) > 3
    inside = any(bare[at - 1].islower() and bare[at].isupper() for at in range(1, len(bare)))
    return inside and len(bare) > 4 and "-" not in bare
