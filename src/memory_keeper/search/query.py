"""What a query asks for: words, phrases, names and moments, as terms that the index can look up.

Whatever a query contains it is never a syntax error: only letters and digits of it ever reach the index.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper.model import NamedTuple, Phrase
from memory_keeper.store.index import SYMBOLS, composed, pairs, pieces, runs, words_in
from memory_keeper.text import storable

LONGEST, MOST = 4096, 40  # characters and terms of a query
OTHERWISE = 0.6  # what a name counts that is written in another way, beside one as it is in the query
WEAK = 0.35  # what a piece of a name counts
PHRASE = 16  # words of a name or a phrase: a longer one is found by these
PAIRS = 16  # of a long run without blanks
LONG = 6  # words that are a question, whatever they are
LITERALS = 8  # names in a query that are looked for letter by letter
# words that say nothing of what is looked for
IDLE = """
    a about after again all also am an and any are as at be because been before being between both but by came can
    come could d did didn do does doesn don during each ever few for from get got had has have he her here him his
    how i if in into is isn it its just let like ll m made make many may me might more most much must my no nor not
    now of off on once only or other our out over own per please re s said same she should so some such t tell than
    that the their them then there these they thing things this to too under until up upon us use ve very want was
    wasn we went were what when where which while who whom whose why will with would yes yet you your
"""
STOP = frozenset(IDLE.split())
# the same word in other clothes, where taking its ending off does not show it; after `>` only one way: `gone` does not
# mean every `.go`
FORMS = """
    buy bought|find found|see saw seen|go>went gone|leave>left|get>got gotten|run ran|write wrote written|
    take took taken|give gave given|win won|teach taught|sing sang sung|swim swam|think thought|
    begin began begun|break broke broken|bring brought|build built|choose chose chosen|draw drew drawn|
    drive drove driven|eat ate eaten|fall fell fallen|feel felt|fight fought|fly flew flown|
    forget forgot forgotten|grow grew grown|hear heard|hold held|keep kept|know knew known|lose lost|
    meet met|pay paid|ride rode|rise rose|sell sold|send sent|sleep slept|speak spoke spoken|spend spent|
    stand stood|steal stole|throw threw thrown|understand understood|wake woke|wear wore worn|child children|
    person people|man men|woman women|foot feet|mouse mice|life lives|wife wives|index indices indexes|
    freeze froze frozen|hide hid hidden|shrink shrank shrunk|db database|config configuration cfg|
    auth authentication|repo repository|env environment|dir directory|pg postgres postgresql|k8s kubernetes|
    msg message|param parameter|init initialize initialise|colour color|behaviour behavior|normalise normalize|
    serialise serialize|initialise initialize|optimise optimize|licence license|cancelled canceled|
    catalogue catalog|grey gray
"""


class Term(NamedTuple):
    """One thing to look for."""

    match: tuple[Phrase, ...]  # any of them
    weight: float = 1.0
    marks: tuple[str, ...] = ()  # the words that show it in a text, in lower case
    must: bool = False  # what lacks it is no answer
    of: tuple[Phrase, ...] = ()  # a piece of this other one, to look for where that is hardly found


def read_query(text: str) -> list[Term]:
    """The terms of a query, each once; words that say nothing only where there is nothing else."""
    text = _readable(text[:LONGEST].replace("\0", " "))
    found: list[Term] = []
    idle: list[Term] = []
    parts = text.split('"')
    for number, part in enumerate(parts):
        if number % 2 and number < len(parts) - 1:
            found += _phrase(part)
            continue
        for chunk in part.split():
            terms = _read_chunk(chunk)
            (idle if terms and all(mark in STOP for mark in terms[0].marks) else found).extend(terms)
    once: dict[tuple[Phrase, ...], Term] = {}
    for term in found or idle:
        if term.match not in once or once[term.match].of:
            once[term.match] = term if not term.of or term.match not in once else once[term.match]
    return list(once.values())[:MOST]


def _readable(text: str) -> str:
    if text.isascii():
        return text

    return composed(storable(text.replace("“", '"').replace("”", '"')))


def says_nothing(terms: Sequence[Term]) -> bool:
    """Whether a query has only words that say nothing of what is looked for."""
    return all(mark in STOP for term in terms for mark in term.marks)


def is_question(text: str, terms: Sequence[Term]) -> bool:
    """Whether somebody asks rather than looks a few words up: then what stands beside a match may be the answer."""
    full = sum(term.weight >= 1 for term in terms)
    return full >= LONG or (full > 1 and any(word in STOP for word in words_in(text[:LONGEST].lower())))


def literals(text: str, terms: Sequence[Term]) -> tuple[tuple[str, ...], str]:
    """The names in a query that are more than words, and the whole query where it is not a question; in lower case."""
    low = " ".join(text[:LONGEST].lower().split())
    chunks = dict.fromkeys(chunk.strip("\"'`“”()[]{},;:.?!") or chunk for chunk in low.split())
    names = tuple(chunk for chunk in chunks if len(chunk) > 2 and not chunk.rstrip("*").isalnum())
    whole = low.strip('"“”?!. ')
    return names[:LITERALS], whole if " " in whole and not is_question(text, terms) else ""


def _phrase(text: str) -> list[Term]:
    """What stands in quotes must stand so in the text, but for endings."""
    if runs(text):
        return [term._replace(must=term.weight == 1) for term in _read_chunk(text)]
    words = words_in(text)
    return [Term((_row(words),), 1.0, _marks(words), must=True)] if words else []


def _read_chunk(chunk: str) -> list[Term]:
    """The terms of what stands between two blanks."""
    found: list[Term] = []
    for run in runs(chunk):
        found += _run(run)
        chunk = chunk.replace(run, " ")
    for part in chunk.split():
        found += _name(_without_short(part))
    return found


def _without_short(chunk: str) -> str:
    """A word without the 's of a name or the 'll of a verb."""
    head, mark, tail = chunk.replace("’", "'").rpartition("'")
    return head if mark and head and len(tail) < 3 and tail.isalpha() else chunk


def _run(run: str) -> list[Term]:
    """Any part of a run without blanks is found; of a long one, its pairs too, as nobody may have said all of it."""
    if len(run) == 1:
        return [Term((Phrase(run, "parts", begins=True),), 1.0, (run,))]
    two = pairs(run)[:-1][:PAIRS]
    whole = Term((Phrase(" ".join(two), "parts"),), 1.0, (run,))
    if len(two) < 2:
        return [whole]
    return [whole, *[Term((Phrase(pair, "parts"),), WEAK, (pair,), of=whole.match) for pair in two]]


def _name(chunk: str) -> list[Term]:
    """A word in all its forms; a name or path as a whole, and more weakly its pieces."""
    if word := SYMBOLS.get(chunk.strip("\"'`()[]{},;:?!").lower()):
        return [Term((Phrase(word, "parts"),), 1.0, (chunk.lower(),))]
    words = words_in(chunk)
    split = [piece for word in words for piece in pieces(word)]
    if not words:
        return []
    if len(split) == 1:
        return [_word(words[0], chunk.endswith("*"))]
    marks = _marks(words)
    as_written = Term((_row(words)._replace(column="text"),), 1.0, marks)
    whole = Term(tuple(dict.fromkeys((_row(words), _row(split)))), OTHERWISE, marks)
    last = words_in(chunk.rstrip("/").rpartition("/")[2]) if "/" in chunk else []
    if last and last != words:  # a path: its folders say little without the file
        return [as_written, whole, Term((_row(last),), OTHERWISE, _marks(last), of=whole.match)]
    pieced = sorted({piece.lower() for piece in split if len(piece) > 1} - STOP)
    return [as_written, whole, *[_word(piece)._replace(weight=WEAK, of=whole.match) for piece in pieced]]


def _word(word: str, begun: bool = False) -> Term:
    low = word.lower()
    if begun:
        return Term((Phrase(word, begins=True),), 1.0, (low,))
    forms = FORMS_OF.get(low, (low,))
    return Term(tuple(map(Phrase, forms)), 1.0, forms)


def _marks(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.lower() for word in words[-PHRASE:]))


def _row(words: list[str]) -> Phrase:
    """Words in a row: of many the last, and none twice, which in a text that repeats it would cost the square."""
    row: list[str] = []
    for word in reversed(words):
        if word.lower() in {known.lower() for known in row} or len(row) == PHRASE:
            break
        row.append(word)
    return Phrase(" ".join(reversed(row)))


def _read_forms() -> dict[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    for group in FORMS.replace("\n    ", "").strip().split("|"):
        forms = tuple(group.replace(">", " ").split())
        for form in forms[:1] if ">" in group else forms:
            known[form] = tuple(dict.fromkeys((form, *known.get(form, ()), *forms)))
    return known


FORMS_OF = _read_forms()


# --- typing errors ----------------------------------------------------------------------------------------------------


def nearly(word: str) -> list[str]:
    """Every word that is one typing error away: a letter too many, too few, wrong, or two swapped."""
    letters = "abcdefghijklmnopqrstuvwxyz" + "0123456789" * any(char.isdigit() for char in word)
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = [head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1]
    found += [head + tail[1:] for head, tail in cuts if tail]
    found += [head + letter + tail for head, tail in cuts for letter in letters]
    found += [head + letter + tail[1:] for head, tail in cuts if tail for letter in letters]
    return [candidate for candidate in dict.fromkeys(found) if candidate and candidate != word]
