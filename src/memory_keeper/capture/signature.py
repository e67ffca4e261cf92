"""Which line of an output says what went wrong, and what tells that error from others: its signature.

An output is long and one line of it says what went wrong: an exception, a compiler's `error:`, `fatal:`, a test that
failed. That line is found by how it begins, whatever the language; one that only says that something went wrong is
better than none. Everything that differs from run to run is taken out of it. Names are kept: `No module named 'a'` and
`No module named 'b'` are two errors. Of an assertion the values are all it says, so they stay. Every rule looks at one
line of bounded length, so no input is slow. Nothing of this is kept: whoever asks has it made anew of the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from memory_keeper import regex as re
from memory_keeper.model import NamedTuple
from memory_keeper.text import clean

HEAD, TAIL = 24_000, 12_000  # characters of an output that are looked at
EDGE = 6_000  # of an output of which only is asked whether it went wrong
LINE = 400  # of a line
LONGEST = 240  # of a signature
LINES = 2_000
MOST = 8  # signatures of one output
LEAST = 3  # words of an error by which it may be asked for
FEW = 5  # lines of an output that is so short that its first says it

# --- which line says it ---

LEAD = r"^(?:\[?[\w-]*ERROR\]?:? )?(?:E {2,}|[ \t>|│┃●✗✕×✖•⨯❌-]*)"
THROWN = re.compile(
    LEAD + r"(?:Uncaught |Unhandled |Exception in thread \"[^\"]{0,80}\" |\[|error: )?"
    r"(?:\w+[.$])*(?:[A-Z]\w*(?:Error|Exception|Interrupt|Fault|NotFound|Timeout|Violation)|Errno::\w+)"
    r"(?: ?\[\w+\])?(?: \(\w+\))?: ?\S"
)
CAUSE = re.compile(r"^\s*Caused by: .*[A-Z]\w*(?:Error|Exception)\b")
CODED = re.compile(
    r"\berror\[\w+\]: |\berror (?:TS|CS|C|LNK|MSB|FS|AL)\d+: |\bORA-\d{5}: |\bERROR \d+ \(\w+\)|^\s*\d+:\d+\s+error\s"
    r"|^panic: \S|\bpanicked at "
)
LINTED = re.compile(r"^\S{1,200}:\d+:\d+:? (?:[A-Z]{1,5}\d{2,5}\b|lint/)|^[A-Z]{1,4}\d{3,4} (?:\[\*\] )?\S")
SAID = re.compile(
    r"^(?:[│┃] )?(?:\S{1,200}?:(?:\d+:){0,2} ?|\[)?(?:\w+: )?(?:fatal error|fatal|panic|error|err)"
    r"\]?(?: \w+)?(?:: +|\] )\S"
    r"|^npm (?:ERR!|error) \S|^Error response from daemon: |^(?:ERROR:? )?failed to solve: |^ {0,4}[×✖⨯❌] \S"
    r"|^(?:\S{1,60}: (?:line \d+: )?)?\S{1,200}: command not found|: command not found: "
    r"|^\S{1,60}: (?:\d+: )?\S{1,80}: not found$"
    r"|: No such file or directory|: Permission denied|\bis not recognized as an? |\bundefined reference to "
    r"|^make(?:\[\d+\])?: \*\*\* (?!\[)"
    r"|^<tool_use_error>",
    re.I,
)
PLACED = re.compile(
    r"^(?:\S{0,6} )?[\w./\\@+-]{1,200}\.[A-Za-z]\w{0,8}(?::\d+:\d+: |:\d+: |\(\d+,\d+\): |:\[\d+,\d+\] )\S"
)
TESTED = re.compile(
    r"^\s*--- FAIL: |^(?:FAILED|ERROR) \S+(?: - |$)|^FAIL: \S|^\s*● \S.* › |^not ok \d|^CONFLICT \("
    r"| ! \[(?:remote )?rejected\]|^E {2,}\S|^\s+assert \S|^assert .{1,100} (?:[!=<>]=|in|is|<|>) "
)
BARE = re.compile(r"^(?:\w+[.$])*[A-Z]\w*(?:Error|Exception)$")
WORDS = re.compile(
    r"error|exception|fatal|panic|undefined|cannot|can't|couldn't|could not|unable to|not found|no such|denied|refused"
    r"|invalid|unexpected|unrecogni[sz]ed|unknown|missing|failed|failure|timed? ?out|conflict|rejected|does not exist"
    r"|doesn't exist|already (?:exists|in use|used)|out of memory|illegal|segmentation fault"
    r"|not (?:a|an|been|allowed|supported|permitted|installed)\b|오류|에러|실패|찾을 수 없",
    re.I,
)
# what only says that something went wrong
HOLLOW = re.compile(
    r"^g?make(?:\[\d+\])?: \*\*\* \[|^npm (?:ERR!|error) (?:code (?:ELIFECYCLE|\d)|Exit status|Failed at)"
    r"|^error:? (?:Command failed|could not compile|aborting due|Recipe |script |process didn't|test failed, to rerun)"
    r"|^FAILURE: Build failed|^collect2: |^Automatic merge failed|^FAILED \("
    r"|^Found [1-9]\d* errors?\b(?! \(\d+ fixed, 0 )|(?<![-\w])[1-9]\d* (?:failed|failing)\b",
    re.I | re.M,
)
# what says not even that, or that all is well
EMPTY = re.compile(
    r"^(?:\W*(?:Exit code|exit status|Command failed|Error: Process completed|Process exited|Traceback|hint:|warning"
    r"|warn\b|npm warn|note:|help:|info\b|debug\b|at |During handling|The above exception|Error:?$|Errors?:? \d+|= "
    r"|--- PASS|ERROR task failed)|npm (?:ERR!|error) (?:A complete|path|syscall|errno|This is|command|\W|$)|[├└]"
    r"|(?:\+|\$|>|#|//|/\*|\*|%) |FAIL$|FAILED$|={3,}|-{4,}|_{4,})"
    r"|\b0 (?:errors?|failures?|failed|problems?|issues|warnings)\b|\bno (?:errors?|problems|failures|issues)\b"
    r"|(?<![-\w])\d+ (?:passed|passing)\b|^(?:PASS|ok)\b|^\s*[✓✔√]|\bPASS(?:ED)?(?:\s*\[\s*\d+%\])?\W*$"
    r"|^(?:finished|done|completed|took|duration)\b.{0,30}\b[\d.]+ ?m?s\b|\bexit code:? \d+$|Warning: ",
    re.I,
)
HOST = "<tool_use_error>"  # how the host begins what it says itself
# what no program said
REFUSED = (
    "The user doesn't want to",
    "[Request interrupted",
    "Permission to use",
    "Claude requested permissions",
    f"{HOST}Sibling tool call",
)
LETTERS = re.compile(r"[^\W\d_]{3,}")
INSIDE = re.compile(r"[\s<\[=?]|at ")  # how a line begins that belongs to another
CODE = re.compile(r"[{};(,]\s*$|^\s*(?:func|def|fn|class|if|return|const|let|var|import|go: downloading)\b")
# what every line has that a rule below takes, in lower case: most lines have none of it, and are asked nothing else.
# Words are looked for one by one, which takes a tenth of the time of a pattern that has them all
HINTS = (
    "err", "fail", "fault", "exception", "interrupt", "timeout", "violation", "notfound", "not found", "fatal", "panic",
    "no such", "denied", "rejected", "assert", "conflict", "recogni", "undefined", "cannot", "can't", "could", "unable",
    "refused", "invalid", "unexpected", "unknown", "missing", "timed", "exist", "already", "illegal", "memory", "***",
    "tool_use", "lint/", "caused by", "ora-", "×", "✖", "⨯", "❌", "›", "오류", "에러", "실패", "찾을",
)  # fmt: skip
NUMBERED = re.compile(r"[:(\[]\d")
LABELLED = re.compile(r"e {2,}|[a-z]{1,4}\d{3,4} ")  # how it begins
NEGATED = re.compile(r"not (?:a|an|ok|been|allowed|supported|permitted|installed)\b")
# the rules, the surest first after those that rule a line out, and what a line that follows one is worth; a later rule
# is asked only where none held
RANKS = (
    (1, HOLLOW), (0, EMPTY), (8, CAUSE), (7, THROWN), (7, CODED), (6, LINTED), (5, SAID), (6, PLACED), (4, TESTED),
    (3, BARE), (2, WORDS),
)  # fmt: skip
FILE = re.compile(r"\w\.[A-Za-z]\w{0,8}[:(\[]+\d|/[\w.-]{1,100}\.[A-Za-z]\w{0,8}\b")
HARDLY, BARELY = 1, 2
OF_TESTS = 4
SURE = 5  # from this rank on a line is an error wherever it stands

# --- what differs from run to run ---

SPEAKER = re.compile(r"^(?:\[[\w:./-]{1,40}\] (?=\S)|[\w-]{1,40} +\| )")  # who says it, where programs print together
# what is printed before a line and behind it, and is no part of it
BULLET, RULED = re.compile(r"^(?:E {2,}|[\s>|│┃●✗✕×✖•⨯❌\u2800-\u28ff]*)"), " \t━─═"
LEADING = re.compile(r"^(?:E {2,}|[\s>|│┃●✗✕×✖•⨯❌\u2800-\u28ff\[-]*)")
AT = re.compile(  # where in which file, at the start of a line
    r"^(?:[\w./\\@+~-]{1,200}(?::\[\d+,\d+\] ?|\(\d+,\d+\): ?|:\d+(?::\d+)?(?:-\d+)?(?::| -)? )"
    r"|\d+:\d+\s+|psql:\S+:\d+: )+"
)
LOGGED = re.compile(r"\blevel=(?:error|fatal)\b.*?\bmsg=\"([^\"]{8,})\"", re.I)
STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
)
UUID = re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
DIGEST = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b")
SPAN = re.compile(r"\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|min|mins|minutes?|h|hours?)\b")
URL = re.compile(
    r"\b(https?|wss?|postgres(?:ql)?|mysql|redis|mongodb|ssh|git|file)://([^\s/'\"<>)]{0,100})[^\s'\"<>)]{0,300}"
)
TEMPORARY = re.compile(
    r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[^\s'\"`:,;)\]]{1,200}|[A-Z]:\\[^\s'\"]{0,200}\\Temp\\[^\s'\"]{1,200}"
)
PATH = re.compile(
    r"(?<![\w@./-])(?:[A-Za-z]:\\|~/|\.{1,2}/|/)[^\s'\"`:,;()\[\]<>]{1,300}|(?<![\w@./-])[\w.-]{1,100}(?:/[\w.@+-]{1,100})+\.[A-Za-z]\w{0,8}\b"
)
PLACE = re.compile(r"(?<=\w):\d+(?::\d+)?\b|,? (?:at )?line \d+(?:,? col(?:umn)? \d+)?\b|\(\d+[,:]\d+\)")
COUNT = re.compile(r"(?<![A-Za-z_#\d])\d+(?:[.,]\d+)*")
TAIL_COUNT = re.compile(r"(?<=[_-])\d{3,}\b")
MEANS = re.compile(r"\b(?:status|code|errno|os error|signal|HTTP(?:/[\d.]+)?|SQLSTATE|ERROR)[\s:=\[(]*$", re.I)
QUOTED = re.compile(r"\"[^\"\n]{41,}\"|'[^'\n]{41,}'|`[^`\n]{41,}`")
SECRET = re.compile(r"<REDACTED:[^>\s]{1,40}>")
ASSERTS = re.compile(r"^assert\b|\bAssertionError\b|\bAssertion\b|[!=]==?|\bexpect(?:ed|ation)?\b", re.I)
REASON = re.compile(r"^((?:FAILED|ERROR) \S+::\S+) - .*")
PANICKED = re.compile(r"(?: \(\d+\))? panicked at \S{1,200}:\d+:\d+:(?= \S)")
REFS = re.compile(r"(?<=^make)\[\d+\]|(?<=rejected\] )\s*\S{1,200} -> \S{1,200}| \[recovered.*")
BLANKS = re.compile(r"\s+")
HOLES = re.compile(r"<(?:time|id|addr|hash|span|url|tmp|str|secret)>|#")
WORD = re.compile(r"[^\W_][\w.$@-]*\w|\w")
JOINT = re.compile(r"[.$@-]")
COMMON_WORDS = frozenset((
    "a", "all", "an", "and", "are", "as", "assert", "assertionerror", "at", "be", "been", "by", "can", "cannot",
    "could", "did", "do", "does", "error", "errors", "expected", "failed", "failure", "false", "for", "from", "has",
    "have", "in", "is", "it", "its", "line", "must", "module", "named", "no", "none", "not", "of", "on", "or",
    "please", "such", "that", "the", "this", "to", "true", "try", "type", "use", "was", "when", "where", "with",
    "you", "your",
))  # fmt: skip


class Wrong(NamedTuple):
    """What an output says went wrong."""

    signature: str
    line: str  # as it was printed
    rank: int  # how surely it says so; see RANKS


def find_wrong(text: str, limit: int = MOST) -> list[Wrong]:
    """All that an output says went wrong, the most telling first, each once."""
    told = list(_telling(text)) or list(_only(text))
    tested = any(rank == OF_TESTS for rank, _, _ in told)  # beside a test that failed, what programs log says little
    told.sort(key=lambda pair: (-(OF_TESTS - 0.5 if tested and pair[0] == SURE else pair[0]), pair[1]))
    found: dict[str, Wrong] = {}
    least = 0
    for rank, _, line in told[: 20 * limit]:
        if rank < least:
            break
        said = normal(line)
        if said and said not in found and (rank == HARDLY or not EMPTY.search(said)) and _tells(said):
            found[said] = Wrong(said, _printed(line), rank)
            least = least or min(rank, BARELY + 1)  # a word like `failed` tells where nothing better does
    return sorted(found.values(), key=lambda wrong: not words(wrong.signature))[
        :limit
    ]  # `assert False` may be anything's


def signatures(text: str, limit: int = MOST) -> list[str]:
    """The normalised forms of what an output says went wrong, the most telling first."""
    return [wrong.signature for wrong in find_wrong(text, limit)]


def signature(text: str) -> str:
    """The most telling of them; empty when an output says nothing that tells."""
    return next(iter(signatures(text, 1)), "")


def wrong_line(text: str) -> str:
    """The line of an output that says what went wrong, as it was printed; empty when none does."""
    return next((wrong.line for wrong in find_wrong(text, 1)), "")


def is_wrong(text: str) -> bool:
    """Whether an output surely shows an error, whatever became of the exit status: a pipe hides it."""
    return any(rank >= SURE for rank, _, _ in _telling(edges(text), SURE))


def edges(text: str) -> str:
    """The beginning and the end of an output: there it says whether it went wrong."""
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n{text[-EDGE:]}"


def normal(line: str) -> str:
    """A line without what differs from run to run."""
    line = _untagged(line[:LINE])
    if logged := LOGGED.search(line):
        line = logged[1]
    line = AT.sub("", LEADING.sub("", SECRET.sub("<secret>", line)).strip())
    line = PANICKED.sub(" panicked:", REASON.sub(r"\1", line))
    keeps = bool(ASSERTS.search(line))
    refused = "refused" in line
    for pattern, hole in HOLED:
        line = pattern.sub(hole, line)
    line = URL.sub(lambda url: f"{url[1]}://{url[2] if refused else url[2].rpartition('@')[2].partition(':')[0]}", line)
    line = TEMPORARY.sub("<tmp>", line)
    line = PATH.sub(_base, line)
    line = REFS.sub("", QUOTED.sub("<str>", line))  # before numbers go
    if not keeps:
        line = line if refused else PLACE.sub("", line)
        line = TAIL_COUNT.sub("#", COUNT.sub(lambda match: _number(match, refused), line))
    line = BLANKS.sub(" ", line).replace(":: ", ": ")  # `bash: line 1: make: …` without its place
    return line.removesuffix("(<span>)").strip(" .:━─═" if "[" in line else " .]:━─═")[:LONGEST].strip()


HOLED = ((UUID, "<id>"), (ADDRESS, "<addr>"), (STAMP, "<time>"), (DIGEST, "<hash>"), (SPAN, "<span>"))


def says(text: str, signature: str) -> bool:
    """Whether an output says exactly this error; only the lines with its longest word are read."""
    word = max(words(signature), key=len, default="")
    if not word or "panicked:" in signature:
        return signature in signatures(text, LINES)
    lines = (line for line in text.replace("\r", "\n").split("\n") if word in line)
    return any(normal(one) == signature for line in lines for one in _lines(line))


def places(text: str, signature: str) -> str:
    """The lines of an output that say this error, where they name files; else nothing."""
    said = "\n".join(line for _, _, line in _telling(text) if normal(line) == signature)
    return said if FILE.search(said) else ""


def line_of(text: str, signature: str) -> str:
    """The line of an output that says an error, as it is; the signature where no single line does."""
    word = max(words(signature), key=len, default="")
    found = next((line for line in _lines(text) if word in line and normal(line) == signature), signature)
    return AT.sub("", _printed(found))


def words(signature: str, limit: int = 8) -> list[str]:
    """The words of a signature that tell it from others, in their order: what to search for."""
    found = dict.fromkeys(WORD.findall(HOLES.sub(" ", signature)))
    telling = [word for word in found if len(word) > 2 and word.lower() not in COMMON_WORDS and not word.isdecimal()]
    best = sorted(telling, key=lambda word: (word.islower() and word.isalpha(), -len(word)))[:limit]
    return [word for word in telling if word in best]


def likeness(one: str, other: str) -> float:
    """How many of their words two signatures share: 1 for the same, 0 where they have none in common."""
    if one == other:
        return 1.0
    mine, theirs = (set(map(str.lower, WORD.findall(HOLES.sub(" ", text)))) for text in (one, other))
    return len(mine & theirs) / max(1, len(mine | theirs))


def holds(whole: str, part: str) -> bool:
    """Whether a signature has all the words of what somebody remembers of it, three of them at least."""
    asked = {word.lower() for word in WORD.findall(part)}
    known = {word.lower() for word in WORD.findall(whole)}
    known |= {name for word in known for name in JOINT.split(word)}  # `agent.Kind` is remembered as `Kind`
    return len(asked) >= LEAST and bool(words(part)) and asked <= known


def _telling(text: str, least: int = 0) -> Iterator[tuple[int, int, str]]:
    """The lines that say what went wrong: how surely, where, and the line. Of a chain the last cause says it.
    Rules that only name something less sure than `least` need not be asked."""
    if text.startswith(REFUSED):
        return
    lines = _lines(text)
    chained = any(line.startswith("Traceback (most recent call last)") for line in lines)
    said = text.lower()
    hints = [hint for hint in HINTS if hint in said]
    rules = [(rank, rule) for rank, rule in RANKS if rank >= least or rule in (HOLLOW, EMPTY)]
    for place, line in enumerate(lines):
        if not _may_tell(line, hints) or not LETTERS.search(line):
            continue
        rank = next((rank for rank, rule in rules if rule.search(line)), 0)
        if not rank or (rank == BARELY and CODE.search(line)):
            continue
        if "panicked at" in line and place + 1 < len(lines) and line.rstrip().endswith(":"):
            line = f"{line} {lines[place + 1].strip()}"
        last = rank == 8 or (chained and rank == 7 and not line[:1].isspace() and line[:2] != "E ")
        yield rank, -place if last else place, line


def _may_tell(line: str, hints: list[str]) -> bool:
    """Whether a rule may take a line of an output that has these hints."""
    low = line.lower()
    for hint in hints:
        if hint in low:
            return True
    return bool(NUMBERED.search(low) or LABELLED.match(low) or ("not " in low and NEGATED.search(low)))


def _only(text: str) -> Iterator[tuple[int, int, str]]:
    """The first line of an output that is too short for another to say what went wrong, whatever its words."""
    lines = _lines(text) if not text.startswith(REFUSED) else []
    worded = (line for line in lines if _has_words(line) and not INSIDE.match(line) and not EMPTY.search(line))
    found = list(islice(worded, FEW + 1))
    if 0 < len(found) <= FEW:
        yield HARDLY, 0, found[0]


def _has_words(line: str) -> bool:
    """Whether a line is more than a frame, a bar or a row of numbers."""
    return bool(LETTERS.search(line)) and 2 * sum(map(str.isalnum, line)) > len(line.replace(" ", ""))


def _lines(text: str) -> list[str]:
    if text.startswith(HOST):  # what follows quotes what it was given
        return text[:LINE].splitlines()[:1]
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    lines = [_unspoken(line[:LINE]) for line in clean(text).split("\n")]
    return lines if len(lines) <= LINES else [*lines[: LINES // 2], *lines[-LINES // 2 :]]


def _unspoken(line: str) -> str:
    return SPEAKER.sub("", line, 1) if line[:1] == "[" or "| " in line else line


def _printed(line: str) -> str:
    """A line without what only sets it off from others."""
    return BULLET.sub("", _untagged(line)).rstrip(RULED)


def _untagged(line: str) -> str:
    return line.replace(HOST, "").replace("</tool_use_error>", "")


def _base(path: re.Match[str]) -> str:
    """A path by its last part: the folders before it are another machine's."""
    return path[0].rstrip("/\\.").replace("\\", "/").rpartition("/")[2] or "/"


def _number(found: re.Match[str], refused: bool) -> str:
    before = found.string[max(0, found.start() - 20) : found.start()]
    return found[0] if MEANS.search(before) or (refused and before.endswith(":")) else "#"


def _tells(text: str) -> bool:
    """Whether a signature is more than a type's name or a word or two."""
    left = WORD.findall(HOLES.sub(" ", text))
    return len(left) >= 2 or ("#" not in text and len(left) == 1 and "." in left[0])
