"""Which files a prompt will lead to, by what earlier sessions of the project touched.

Four kinds of evidence, each alone too weak: the prompt names the file; words of the prompt are in its path; sessions
that spoke of the same touched it; it was touched lately. Each is a number that says how much likelier a file becomes;
as they are nearly independent they are multiplied, which is to say that their logarithms are added. A file that was
written counts in full and one that was only read a little, since reading is how one finds out what is to be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log

from memory_keeper import regex as re
from memory_keeper.capture.project import short_path
from memory_keeper.model import WRITES, Filter, NamedTuple, Scope
from memory_keeper.search.query import STOP, read_query
from memory_keeper.search.ranking import rarity
from memory_keeper.store.calls import Touch, files_touched
from memory_keeper.store.store import Store

READS = ("Read", "NotebookRead")
CALLS = 5_000  # newest calls about files that are looked at: a hundred sessions or more
CAP = 1500  # rows of one term: one that more rows have says nothing
TERMS = 12  # rarest terms that sessions are compared by
LONGEST = 8000  # characters of a prompt
SHOWN = 3  # events that are given as evidence

READ = 0.2  # what a file that was only read counts beside one that was written
HALF_LIFE = 40.0  # sessions after which what was alike counts half
SATURATION, LENGTH = 1.2, 0.75  # as in BM25
BEGINNING, WITHIN = 4, 0.3  # letters that two forms of a word share; what a folder's name counts beside a file's
SURE = 40.0  # how much likelier a file becomes by being named, and no other file of that name
# for each kind of evidence, how much it weighs and how much of it is noise
RECENT, ALIKE, FITS = (1.0, 0.05), (0.6, 0.005), (1.2, 1.0)

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
MENTION = re.compile(r"[\w.~@/-]+")
NAMELIKE = re.compile(r"[._/-]|[a-z0-9][A-Z]")

Session = dict[str, Touch]  # by path


class Likely(NamedTuple):
    """A file that will probably be touched."""

    path: str  # from the project's root, where it lies below that
    score: float
    why: str  # named | worked on with this | recent
    events: tuple[str, ...]  # the calls that show it, the best evidence first


def likely(store: Store, text: str, project: str, limit: int = 10, before: float = 0.0) -> list[Likely]:
    """The files that a prompt will lead to, by what is kept of a project up to a moment, the likeliest first."""
    sessions = _sessions(store, project, before)
    files: dict[str, list[int]] = {}  # the sessions that touched each, the newest first
    for place, session in enumerate(sessions):
        for path in session:
            files.setdefault(path, []).append(place)
    text = text[:LONGEST]
    alike = _alike(store, text, project, before, sessions)
    named, fits = _named(text, files), _fits(text, files)
    lately = [1 / (place + 1) for place in range(len(sessions))]
    found: list[tuple[float, str, str, list[int]]] = []
    for path, places in files.items():
        shares = {place: 1.0 if sessions[place][path].wrote else READ for place in places}
        recent = _weigh(RECENT, sum(share * lately[place] for place, share in shares.items()))
        votes = {place: share * alike[place] for place, share in shares.items()}
        worked, fit = _weigh(ALIKE, sum(votes.values())), _weigh(FITS, fits.get(path, 0.0))
        known = log(1 + SURE * named.get(path, 0.0))
        why = "named" if known or fit > max(worked, recent) else "worked on with this" if worked > recent else "recent"
        best = sorted(places, key=lambda place: -votes[place]) if why == "worked on with this" else places
        found.append((recent + worked + fit + known, path, why, best[:SHOWN]))
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return _told(store, sessions, found[: max(0, limit)])


def _sessions(store: Store, project: str, before: float) -> list[Session]:
    """What each session touched, the newest session first, by paths from the project's root."""
    roots = store.roots(project)
    found: dict[str, Session] = {}
    for touch in files_touched(store, project, sorted(WRITES), sorted(READS), before, CALLS):
        path = short_path(touch.path, roots)
        session = found.setdefault(touch.session, {})
        if path and (path not in session or touch.wrote > session[path].wrote):
            session[path] = touch
    return list(found.values())


def _weigh(kind: tuple[float, float], evidence: float) -> float:
    weight, noise = kind
    return weight * log(1 + evidence / noise)


def _told(
    store: Store, sessions: Sequence[Session], found: Iterable[tuple[float, str, str, list[int]]]
) -> list[Likely]:
    numbers = [(score, path, why, [sessions[place][path].last for place in best]) for score, path, why, best in found]
    shown = Filter(keys=[number for row in numbers for number in row[3]], bare=True)
    ids = {key: event.id for key, event in store.find(shown)}
    return [
        Likely(path, round(score, 4), why, tuple(ids[number] for number in shown))
        for score, path, why, shown in numbers
    ]


# --- sessions that spoke of the same --------------------------------------------------------------------------------


def _alike(store: Store, text: str, project: str, before: float, sessions: Sequence[Session]) -> list[float]:
    """How much each session says about what a prompt is about, shared among the files that it wrote."""
    places = {touch.session: place for place, session in enumerate(sessions) for touch in list(session.values())[:1]}
    counts = _counts(store, text, project, before, places)
    sizes = [len(session) for session in sessions]
    usual = sum(sizes) / len(sizes) if sizes else 1.0
    rare = [weight * rarity(len(having), len(sessions)) for weight, having in counts]
    total = sum(rare) or 1.0
    found = [0.0] * len(sessions)
    for (_, having), weight in zip(counts, rare, strict=True):
        for place, count in having.items():
            longer = SATURATION * (1 - LENGTH + LENGTH * sizes[place] / usual)
            found[place] += weight / total * count / (count + longer)
    return [
        score * score * 0.5 ** (place / HALF_LIFE) / max(1, sum(touch.wrote for touch in sessions[place].values()))
        for place, score in enumerate(found)
    ]


def _counts(
    store: Store, text: str, project: str, before: float, places: Mapping[str, int]
) -> list[tuple[float, dict[int, int]]]:
    """For each of the rarest terms of a prompt its weight, and in how many messages each session has it."""
    if not places or not store.indexed:
        return []
    rows: list[tuple[float, list[int]]] = []
    for term in read_query(text.replace('"', " ")):
        keys = store.matching([term.match], Scope(project), CAP, kinds=("prompt", "reply"))
        if 0 < len(keys) < CAP:
            rows.append((term.weight, keys))
    rows.sort(key=lambda pair: len(pair[1]))
    rows = rows[:TERMS]
    found_in = Filter(project, keys={key for _, keys in rows for key in keys}, until=before or None, bare=True)
    session_of = {key: event.session for key, event in store.find(found_in)}
    found: list[tuple[float, dict[int, int]]] = []
    for weight, keys in rows:
        having: dict[int, int] = {}
        for key in keys:
            place = places.get(session_of.get(key, ""), -1)
            if place >= 0:
                having[place] = having.get(place, 0) + 1
        if having:
            found.append((weight, having))
    return found


# --- names ----------------------------------------------------------------------------------------------------------


def _named(text: str, files: Iterable[str]) -> dict[str, float]:
    """The files that a prompt names, by path, name or stem; each shares with the others that are named so."""
    by_name: dict[str, list[tuple[str, str]]] = {}
    for path in files:
        low = path.lower()
        for whole in dict.fromkeys((low, _stem(low))):
            by_name.setdefault(whole.rpartition("/")[2], []).append((whole, path))
    found: dict[str, float] = {}
    mentioned = {mention.rstrip("./-").lstrip("@~-") for mention in MENTION.findall(text)}
    for name in {mention.removeprefix("./").lower() for mention in mentioned if NAMELIKE.search(mention)}:
        here = {path for whole, path in by_name.get(name.rpartition("/")[2], ()) if _ends(whole, name)}
        for path in here:
            found[path] = max(found.get(path, 0.0), 1 / len(here))
    return found


def _ends(path: str, name: str) -> bool:
    """Whether a name is a path or the end of it, folder by folder; or is longer, as where it is told from the root."""
    return path == name or path.endswith("/" + name.lstrip("/")) or ("/" in path and name.endswith("/" + path))


def _stem(path: str) -> str:
    """A path without the ending of its file's name; a name that begins with its only dot keeps it."""
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name[:1] + name[1:].rpartition(".")[0] if "." in name[1:] else name)


def _fits(text: str, files: Iterable[str]) -> dict[str, float]:
    """How well paths go with the words of a prompt: rare words count more, a file's name more than its folders'."""
    asked = _pieces(text) - STOP
    begun: dict[str, list[str]] = {}
    for word in asked:
        if len(word) >= BEGINNING:
            begun.setdefault(word[:BEGINNING], []).append(word)
    split = {path: (_pieces(_stem(path).rpartition("/")[2]), _pieces(_stem(path))) for path in files}
    counts: dict[str, int] = {}
    for _, words in split.values():
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    rare = {word: log(1 + len(split) / count) for word, count in counts.items()}
    hit = {word: share for word in counts if (share := _share(word, asked, begun))}
    found: dict[str, float] = {}
    for path, (name, words) in split.items():
        own = sum(rare[word] * hit[word] for word in name if word in hit)
        around = sum(rare[word] * hit[word] for word in words if word in hit and word not in name)
        if own or around:
            all_of_it = sum(rare[word] for word in name) or 1.0
            found[path] = own * own / all_of_it + WITHIN * around
    return found


def _pieces(text: str) -> set[str]:
    return {word.lower() for word in PIECE.findall(text) if len(word) > 1}


def _share(word: str, asked: set[str], begun: Mapping[str, Sequence[str]]) -> float:
    """How much of a word stands in a prompt: all of it, or the beginning that it shares with another form of it."""
    if word in asked:
        return 1.0
    near = [other for other in begun.get(word[:BEGINNING], ()) if other.startswith(word) or word.startswith(other)]
    return max((min(len(other), len(word)) / max(len(other), len(word)) for other in near), default=0.0)
