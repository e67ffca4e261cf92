"""Commands and what became of them: a run is a call with its result, and two runs may be of the same command.

The exit status is believed, but for a line that hides it behind a pipe: there, what the output says counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from memory_keeper import regex as re
from memory_keeper.capture.calls import COMMON, SETTING, command_of, steps
from memory_keeper.capture.signature import HOLLOW, REFUSED, edges, is_wrong
from memory_keeper.model import Event, NamedTuple
from memory_keeper.text import clean

# commands that change nothing and prove nothing; of those that say nothing of a project, some may still fail
LOOKING = frozenset(one for one in COMMON if not one.startswith("git ")) - {"rm", "cp", "mv", "mkdir", "chmod", "touch"}
LOOKING |= {
    *("git status", "git diff", "git log", "git branch", "git rev-parse", "git ls-files", "git ls-tree", "git remote"),
    *("git cat-file", "git blame", "git describe", "git config", "less", "tree", "stat", "file", "jq", "diff", "date"),
    *("env", "xxd", "od", "md5", "md5sum", "hexdump", "strings", "do", "done", "then", "else", "fi", "esac", "{", "}"),
    *("wait", "set", "source", ".", "tee", "cut", "tr", "uniq", "type", "command", "basename", "dirname", "read"),
}
# what prepares a command, and is not what failed where there is another
PREPARING = re.compile(
    r"^(?:git (?:add|fetch|stash)|mkdir|rm|cp|mv|chmod|touch|(?:\S+ (?:run )?)?(?:fmt|format|gofmt|prettier))\b"
)
# programs whose next word says what they do, and those whose next but one does too
TWO = frozenset((
    "git", "go", "cargo", "docker", "kubectl", "terraform", "poetry", "uv", "pip", "pip3", "make", "just", "task",
    "mise", "npm", "yarn", "pnpm", "bun", "deno", "dotnet", "gradle", "gradlew", "mvn", "bundle", "rails", "rake",
    "mix", "helm", "brew", "apt", "apt-get", "systemctl", "gh", "aws", "gcloud", "az", "composer", "php", "swift",
    "flutter", "nx", "turbo", "alembic", "prisma", "docker-compose", "biome", "ruff", "pre-commit", "hatch", "pdm",
    "conda", "rustup", "next", "vite",
))  # fmt: skip
THREE = frozenset(("npm run", "yarn run", "pnpm run", "bun run", "docker compose", "mise run", "uv pip", "go tool"))
# words before a command that do not change what it is
BEFORE = re.compile(
    r"^(?:sudo(?: -\S+)* |time |nice |nohup |command |exec |npx(?: --?\S+)* |bunx |pnpm exec |yarn exec |uv run |uvx "
    r"|poetry run |pipenv run |bundle exec |timeout (?:-\S+ )*\S+ |env (?:\w+=\S* )+)+"
)
MODULE = re.compile(r"^(?:\S*/)?python3?(?:\.\d+)? -m ")
SHELL = "Bash"
HERE = re.compile(r"<<-?\s*['\"]?(\w{1,20})['\"]?[^\n]*\n.*?^[ \t]*\1\b", re.S | re.M)  # a text that a command is given
SENT = re.compile(r"(?<![\w=-])[0-9&]?>>?\s*(?:&\d|[^\s;|&]+)")  # where an output goes
MASKED = re.compile(r"\|(?!\|)|\|\||;|\n|&\s*$")
EXIT = re.compile(r"^(?:Error: )?Exit code (\d{1,3})\b|\bexit(?:ed with)?(?: code| status)?:? (\d{1,3})\b", re.I)
# what an output says of a command that failed, beside its errors; a count of none says the opposite
FAILS = re.compile(
    r"\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?|fail$)\b(?! fixed| \(\d+ fixed, 0 )"
    r"|\bFAIL(?:ED|URES?)?\b(?![:=]? ?0\b(?!\.))|^[#ℹ] fail [1-9]|\.{3}Failed$"
    r"|(?i:(?<![-\w])(?:fail(?:ed|ures?)|errors?)(?:=[1-9]|: {0,8}[1-9]\d*(?=[,.;)]|[ \t]*$)))"
    r"|^\[ERROR\] Failed to |^ninja: build stopped|^exit status [1-9]|^curl: \(\d|\bfailed to solve: "
    r"|^ ! \[(?:remote )?rejected\]|^CONFLICT \("
    # the shell: what killed a command; Python: the end of one that raised an exception without a word
    r"|^(?:\S{1,60}: line \d+: +\d+ )?(?:Segmentation fault|Bus error|Aborted|Killed)"
    r"(?:: \d+)?(?: \(core dumped\))?(?: {2,}\S.*)?$"
    r"|^[A-Z]\w{0,60}(?:Error|Exception|Interrupt)\s*\Z",
    re.M,
)
# what each of these, and HOLLOW, has somewhere, in lower case
FAILING = (
    "fail", "error", "npm err!", "***", "build stopped", "exit status", "curl: (", "rejected]", "conflict (",
    "segmentation fault", "bus error", "aborted", "killed", "exception", "interrupt", "collect2: ",
)  # fmt: skip
OF_COMMIT = re.compile(r"^(?:\[[^\]\n]{1,140} [0-9a-f]{7,40}\]|[0-9a-f]{7,40}) .*$", re.M)  # its subject, quoted
PASSES = re.compile(
    r"\b\d+ (?:passed|passing)\b|^ok\s|\bPASS(?:ED)?\b|\bsucce|\b0 (?:errors?|failures|issues)\b|\bdone\b", re.I | re.M
)
ASKS = re.compile(r"[;\n][ \t]*echo\b[^;\n]*\$\?")
TOLD = re.compile(r"^\W*(?:exit|rc|status|ret)[a-z ]*\W{1,3}[1-9]\d{0,2}\W*$", re.I | re.M)
SERIAL = re.compile(r"\d{3,}")
FOLDER = re.compile(r"(?<=^git )-C \S+ |(?<=^make )-C \S+ |(?<=^npm )--prefix \S+ ")
SHORT = 2_000  # characters of an output in which its exit status stands


class Run(NamedTuple):
    """A call and its result."""

    call: Event
    result: Event
    place: int  # of the result among the events it was found in

    @property
    def command(self) -> str:
        """The command line; empty where it was no shell's."""
        return command_of(self.call)


def runs(events: Sequence[Event]) -> Iterator[Run]:
    """The calls that were answered, in the order of their answers; not those that the user refused."""
    calls = {event.ref: event for event in events if event.kind == "call" and event.ref}
    for place, event in enumerate(events):
        call = calls.get(event.ref) if event.kind == "result" else None
        if call and not event.text.startswith(REFUSED):
            yield Run(call, event, place)


def outcome(run: Run) -> tuple[bool, bool]:
    """Whether a call went wrong, and whether that is sure."""
    wrong = went_wrong(run)
    sure = wrong or not hides(run.command) or bool(works(run.command) and PASSES.search(run.result.text[-SHORT:]))
    return wrong, sure


def went_wrong(run: Run) -> bool:
    """Whether a call went wrong: a pipe hides the exit status, and then its output tells."""
    line, text = run.command, run.result.text
    if run.result.failed or not hides(line) or not works(line):
        return run.result.failed  # what only looks around prints others' errors
    text = OF_COMMIT.sub("", clean(edges(text)))
    begin, end = text[:SHORT], text[-SHORT:]
    told = [part for part in {begin, end} if any(word in part.lower() for word in FAILING)]
    found = any(rule.search(part) for rule in (FAILS, HOLLOW) for part in told)
    return found or _status_told(line, end) or is_wrong(text)


def _status_told(line: str, text: str) -> bool:
    """Whether a line asks itself how a command ended, and prints that it failed."""
    asks = ASKS.search(line)
    last = steps(line[: asks.start()])[-1:] if asks else []
    return any(map(works, last)) and bool(TOLD.search(text))


def hides(line: str) -> bool:
    """Whether a command line hides the exit status of a part of it."""
    return bool(line and MASKED.search(_without_cd(line)))


def _without_cd(line: str) -> str:
    """A command line without the folder that it changes to first."""
    return re.sub(r"^\s*cd [^;&|\n]{1,300}(?:&&|;)\s*", "", line, count=1)[:SHORT]


def exit_status(result: Event) -> str:
    """The exit status of a call that failed, where its result says so."""
    found = EXIT.search(result.text[:200]) if result.failed else None
    return (found[1] or found[2]) if found else ""


def works(line: str) -> list[str]:
    """The steps of a command line that do more than look around, each without what stands before the command."""
    return [*_works(line[: 2 * SHORT])]


@lru_cache(2048)
def _works(line: str) -> tuple[str, ...]:
    line = HERE.sub("", line).partition("<<")[0]  # what is left of one goes on beyond what is read
    found = (bare(step) for step in steps(SENT.sub("", line)))
    return tuple(step for step in found if step and not _looks(step))


def bare(step: str) -> str:
    """A command without settings and wrappers: `FOO=1 sudo npx tsc -b` is `tsc -b`."""
    step = MODULE.sub("", _unwrapped(step))
    return step.rpartition("/")[2] if step.startswith(("./", "/", "~/")) and " " not in step else step


def _unwrapped(step: str) -> str:
    return BEFORE.sub("", SETTING.sub("", step.strip().lstrip("( ")))


def as_run(line: str, step: str) -> str:
    """A step of a command line as it was run: `pytest -q` may have been `python3 -m pytest -q`."""
    typed = (_unwrapped(step) for step in steps(SENT.sub("", line[: 2 * SHORT])))
    return next((one for one in typed if MODULE.match(one) and bare(one) == step), step)


def _looks(step: str) -> bool:
    words = FOLDER.sub("", step).split()[:3]
    first = words[0].rpartition("/")[2]
    return first in LOOKING or " ".join([first, *words[1:2]]) in LOOKING or "=" in first or step.startswith("#")


def program(step: str) -> str:
    """What a command is, without what it is about: `go test`, `npm run build`, `pytest`."""
    words = [word for word in FOLDER.sub("", step).split()[:12] if not word.startswith("-")]
    if not words:
        return ""
    first = words[0].rpartition("/")[2]
    two = " ".join([first, *words[1:2]])
    if two in THREE:
        return " ".join([two, *words[2:3]])
    return two if first in TWO else first


def arguments(step: str) -> set[str]:
    """What a command is about: its words beside the program and options."""
    named = len(program(step).split())
    words = [word.strip("\"'") for word in FOLDER.sub("", step).split()[:40] if not word.startswith("-")]
    return {SERIAL.sub("#", word) for word in words[named:]}


class Match(NamedTuple):
    """Two commands that are the same, of two command lines."""

    one: str = ""
    other: str = ""
    like: int = 0  # 2 the same, 1 the same program about the same, 0 another


def match(failed: Run, other: Run) -> Match:
    """How surely the second is of the command that failed in the first."""
    if failed.call.tool != other.call.tool:
        return Match()
    if failed.call.tool != SHELL:
        same = failed.call.path == other.call.path
        return Match(failed.call.tool, other.call.tool, 2 if same else 0)
    tried, theirs = hearts(failed.command), works(other.command)
    found = [Match(one, two, _alike(one, two, failed)) for one in reversed(tried) for two in theirs]
    best = max(found, key=lambda pair: pair.like, default=Match())
    # which of several failed is not said: most often it is the last, whose success is the line's
    return best if best.like < 2 or best.one == tried[-1] else best._replace(like=1)


def hearts(line: str) -> list[str]:
    """The commands of a line that it is run for."""
    found = works(line)
    return [step for step in found if not PREPARING.match(step)] or found


def _alike(one: str, two: str, failed: Run) -> int:
    if program(one) != program(two):
        return _renamed(one, two)
    mine, theirs = arguments(one), arguments(two)
    if mine == theirs or _plain(one) == _plain(two):
        return 2
    if not theirs or mine & theirs:
        return 1
    return 1 if not mine and any(word in failed.result.text for word in theirs) else 0


def _renamed(one: str, two: str) -> int:
    """`python x.py` and `python3 x.py`: another name for the program, and all else the same."""
    (first, _, rest), (second, _, other) = one.partition(" "), two.partition(" ")
    alike = first.startswith(second) or second.startswith(first)
    return 1 if rest and rest == other and (alike or len(rest) > 12) else 0


def _plain(step: str) -> str:
    return SERIAL.sub("#", " ".join(step.split()))


def in_order(calls: Sequence[tuple[int, Event]]) -> dict[int, tuple[float, int]]:
    """What to sort calls of several sessions by: their time, but in each session as they came; clocks jump."""
    latest: dict[str, float] = {}
    found = {}
    for seq, call in sorted(calls, key=lambda pair: pair[0]):
        latest[call.session] = max(call.at, latest.get(call.session, 0.0))
        found[seq] = latest[call.session], seq
    return found
