"""Does the next context understand what is going on? Questions at real compactions that a text answers or does not.

./dev bench probes --data DIR [--probes FILE...] [--kit DIR] [--budgets 1000,2000,4000] [--family claude-4] [--each]
                   [--weights DIR] [--json]
./dev bench probes --probes FILE... --kit DIR --pack METHOD OUT       the texts of a method, with their questions
./dev bench probes --probes FILE... --sheet OUT ANSWERS...            the answers of all readers, for a blind grader
./dev bench probes --probes FILE... --tally KEY GRADES NAMES...       what each reader got

A FILE (without --probes: every probes*.jsonl below DIR) has one question per line: what somebody who takes over the
session at that compaction has to know, with a reference answer and groups of key strings. Every .jsonl and .jsonl.gz
below DIR is one session; only the compactions that are asked about are measured. The columns are

    answerable  the share of questions all of whose key groups are in a text: cheap, and a ceiling, not the truth
    bare        the share of its tokens that are bare names, which a reader has no use for (bench/tools/bare.py)
    repos       the mean over the repositories, so that one with many questions is no more than another

Measured are Claude's own summary, the last 2,000 tokens as they stand, the handoff at several budgets, all level-1
notes, and the outline above these notes. A repository is named as the folder that its transcripts are in. The ranker's
weights were fitted on transcripts too: with --weights DIR (of `bench.train_ranker --folds`) each repository is measured
with weights that have not seen it.

The truth is what a reader finds who sees only the text: --kit writes DIR/<boundary>/<method>.txt, --pack makes of it
what one reader gets, --sheet what one grader gets, and --tally says which method's reader was right how often.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.tools import measure, transcripts
from bench.tools.bare import bare_share
from bench.tools.cuts import TAIL, Cut, noted, outlined, sessions, tail, told
from bench.tools.figures import Figure, Figures, LeftOutError
from bench.tools.reading import Graded, Probe, read_grades, read_probes, write_pack, write_sheet
from memory_keeper.extract import ranker
from memory_keeper.text import tokens

KINDS = ("goal", "state", "next", "cause", "decision", "constraint", "artifact", "history")
REPOSITORIES = {"slim": "entireio/cli"}  # folders that are not named as theirs
MOST_BARE = 0.15
CAVEAT = """answerable tests that words are there, not that they are understood: ask readers, with --kit."""


class Asked(NamedTuple):
    """A compaction with its questions."""

    cut: Cut
    repository: str
    probes: list[Probe]


class Text(NamedTuple):
    """What a method made at a compaction."""

    asked: Asked
    text: str

    def answered(self) -> list[tuple[str, bool]]:
        """The kinds of its questions, and whether they can be answered."""
        return [(probe.kind, probe.answerable(self.text)) for probe in self.asked.probes]


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    transcripts.argument(parser, required=False)
    parser.add_argument("--probes", type=Path, nargs="+", metavar="FILE", help="questions")
    parser.add_argument("--kit", type=Path, metavar="DIR", help="keep the texts there, for readers")
    parser.add_argument("--budgets", default="1000,2000,4000")
    parser.add_argument("--family", default="claude-4", help="whose tokens")
    parser.add_argument("--each", action="store_true", help="a line for every text too: what it does not answer")
    parser.add_argument("--weights", type=Path, metavar="DIR", help="of the ranker, by repository that they left out")
    parser.add_argument("--pack", nargs=2, metavar=("METHOD", "OUT"))
    parser.add_argument("--sheet", nargs="+", metavar=("OUT", "ANSWERS"))
    parser.add_argument("--tally", nargs="+", metavar=("KEY", "GRADES"))


def run(args: argparse.Namespace) -> Figures:
    """The tables, or one of the steps between them and what readers found."""
    probes = read_probes(args.probes or probes_below(args.data))
    if args.pack and not args.kit:
        raise SystemExit("--pack takes its texts from --kit DIR")
    if args.pack:
        write_pack(args.kit, args.pack[0], Path(args.pack[1]), probes)
    elif args.sheet:
        write_sheet(Path(args.sheet[0]), [Path(file) for file in args.sheet[1:]], probes)
    elif args.tally:
        key, grades, *names = args.tally
        tally(read_grades(Path(key), Path(grades), names, probes))
    else:
        return measured(args, probes)
    return {}


def probes_below(folder: Path | None) -> list[Path]:
    """The questions that lie with the transcripts."""
    found = sorted(folder.rglob("probes*.jsonl")) if folder else []
    if not found:
        raise LeftOutError(f"no questions: neither --probes nor a probes*.jsonl below {folder}")
    return found


# --- texts ------------------------------------------------------------------------------------------------------------


def measured(args: argparse.Namespace, probes: list[Probe]) -> Figures:
    """Every method at every compaction that is asked about."""
    made: dict[str, list[Text]] = {}
    found = list(asked(args.data, probes)) if args.data else []
    if not found:
        raise LeftOutError(f"none of the compactions that are asked about is below {args.data}")
    missing = {probe.boundary for probe in probes} - {name_of(one.cut) for one in found}
    print(f"{len(found)} boundaries, {sum(len(one.probes) for one in found)} questions; tokens of {args.family}")
    print(f"not below {args.data}: {', '.join(sorted(missing))}" if missing else "all boundaries found")
    ways = methods([int(budget) for budget in args.budgets.split(",")], args.family)
    for name, (_, make) in ways.items():
        made[name] = [Text(one, made_with(args.weights, one, make)) for one in found]
        for text in made[name]:
            if args.each:
                show_each(name, text)
            if args.kit:
                write_text(args.kit, name, text)
    by_kind(made, args.family)
    print()
    by_repository(made)
    print(CAVEAT)
    said = {"boundaries": Figure(len(found)), "questions": Figure(sum(len(one.probes) for one in found))}
    for name, (key, _) in ways.items():
        said |= figures_of(key, made[name], args.family)
    return said


def made_with(weights: Path | None, one: Asked, make: Callable[[Cut], str]) -> str:
    """A text, by weights that were fitted without its repository where there are some."""
    if weights:
        folders = {name: folder for folder, name in REPOSITORIES.items()}
        name = folders.get(one.repository, one.repository.replace("/", "+"))
        ranker.WEIGHTS = str(weights / f"{name}.json")
        ranker.weights.cache_clear()
    return make(one.cut)


def asked(folder: Path, probes: list[Probe]) -> Iterator[Asked]:
    """The compactions that are asked about; no other is made, since one takes seconds."""
    wanted: dict[str, list[Probe]] = {}
    for probe in probes:
        wanted.setdefault(probe.boundary, []).append(probe)
    begins = tuple({boundary.partition("-")[0] for boundary in wanted})
    for session in sessions([path for path in transcripts.paths(folder) if path.name.startswith(begins)]):
        for one in session.compactions():
            if own := wanted.pop(one.name.replace(":", "-"), []):
                yield Asked(session.cut(one.name, one.place, one.summary), repository(session.path), own)


def name_of(cut: Cut) -> str:
    """As questions name it, and a folder can be named."""
    return cut.name.replace(":", "-")


def repository(path: Path) -> str:
    """That a transcript is of: its folder is named owner+name."""
    name = path.parent.name
    return REPOSITORIES.get(name, name.replace("+", "/"))


def methods(budgets: list[int], family: str) -> dict[str, tuple[str, Callable[[Cut], str]]]:
    """What is compared, by its name in a kit: its key among the figures, and how its text is made."""
    return {
        "claude": ("summary", lambda cut: cut.summary),
        "tail": ("tail", lambda cut: tail(cut.before, TAIL, family)),
        **{f"ours{size}": (f"handoff_{size}", partial(told, budget=size, family=family)) for size in budgets},
        "notes": ("notes", noted),
        "outline": ("outline", outlined),
    }


def write_text(kit: Path, method: str, text: Text) -> None:
    """For readers."""
    place = kit / name_of(text.asked.cut) / f"{method}.txt"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.text, encoding="utf-8")


# --- tables -----------------------------------------------------------------------------------------------------------


def share(answered: Sequence[tuple[str, bool]], kind: str = "") -> float | None:
    """Of the questions of a kind, those that can be answered."""
    some = [yes for own, yes in answered if kind in ("", own)]
    return sum(some) / len(some) if some else None


def all_answered(texts: list[Text]) -> list[tuple[str, bool]]:
    return [one for text in texts for one in text.answered()]


def by_repository_of(texts: list[Text]) -> dict[str, float]:
    """The share of each repository."""
    parts: dict[str, list[Text]] = {}
    for text in texts:
        parts.setdefault(text.asked.repository, []).append(text)
    return {name: share(all_answered(part)) or 0.0 for name, part in parts.items()}


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def sizes(texts: list[Text], family: str) -> tuple[float, float]:
    """Mean tokens, and the mean share of them that is bare names."""
    return mean([tokens(one.text, family) for one in texts]), mean([bare_share(one.text, family) for one in texts])


def figures_of(key: str, texts: list[Text], family: str) -> Figures:
    """What a page may quote of a method."""
    size, bare = sizes(texts, family)
    return {
        key: Figure(share(all_answered(texts)) or 0.0),
        f"{key}_tokens": Figure(round(size), "tokens"),
        f"{key}_bare": Figure(bare, target=f"<= {MOST_BARE}" if key.startswith("handoff") else ""),
        f"{key}_repositories": Figure(mean(list(by_repository_of(texts).values()))),
    }


def by_kind(made: dict[str, list[Text]], family: str) -> None:
    """A line for each method."""
    rows = []
    for name, texts in made.items():
        (size, bare), answered = sizes(texts, family), all_answered(texts)
        repos = mean(list(by_repository_of(texts).values()))
        shares = [share(answered), repos, *(share(answered, kind) for kind in KINDS), bare]
        rows.append((name, f"{size:.0f}", *map(shown, shares)))
    measure.table(("", "tokens", "answerable", "repos", *KINDS, "bare"), rows)


def by_repository(made: dict[str, list[Text]]) -> None:
    """A line for each repository, a column for each method."""
    of = {name: by_repository_of(texts) for name, texts in made.items()}
    first = next(iter(made.values()))
    counts = {
        repo: sum(len(one.asked.probes) for one in first if one.asked.repository == repo) for repo in of["claude"]
    }
    rows = [(repo, str(count), *(shown(part[repo]) for part in of.values())) for repo, count in counts.items()]
    means = [shown(mean(list(part.values()))) for part in of.values()]
    measure.table(("", "questions", *made), [*rows, ("mean over repositories", "", *means)])


def show_each(name: str, text: Text) -> None:
    """Which questions a text does not answer."""
    lost = [f"{probe.n} {probe.kind}" for probe in text.asked.probes if not probe.answerable(text.text)]
    print(f"{name} {name_of(text.asked.cut)} {shown(share(text.answered()))} lacks: {', '.join(lost) or 'nothing'}")


def shown(value: float | None) -> str:
    """A share with its digits."""
    return "-" if value is None else f"{value:.3f}"


def tally(grades: dict[str, list[Graded]]) -> None:
    """What readers got by kind, and how often they were misled."""
    rows = []
    for name, got in grades.items():
        kinds = [[grade for own, grade in got if kind in ("", own)] for kind in ("", *KINDS)]
        misled = sum(grade < 0 for _, grade in got)
        rows.append((name, str(len(got)), *(shown(mean(some) if some else None) for some in kinds), str(misled)))
    measure.table(("", "graded", "all", *KINDS, "misled"), rows)
