"""The lists of an outline: themes, what was settled and still holds, what is open or mended, and all in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memory_keeper import wire
from memory_keeper.capture.calls import core
from memory_keeper.extract.concepts import concepts, is_name
from memory_keeper.extract.facts import KINDS, TASKS, Fact, quote, run_on, say, whole
from memory_keeper.extract.head import ORDERS
from memory_keeper.extract.ranker import rarity
from memory_keeper.extract.settled import DEPENDS, holding, states
from memory_keeper.extract.spoken import DECIDES, kind_of
from memory_keeper.extract.work import is_check
from memory_keeper.model import LATEST, Note
from memory_keeper.notes.kept_note import begun
from memory_keeper.notes.note import SAME, cut
from memory_keeper.notes.schema import MOST, Decision, Issue, Outline, Theme, read_body
from memory_keeper.text import clean, many, utc_day

Facts = Mapping[Note, list[Fact]]

NAME, THEME, SUMMARY = 80, 600, 20_000  # characters of a theme's name and summary, and of the summary of all
NAMED = 6  # things that a sentence names
OFTEN = 5  # times that facts speak of something, above which more do not count
ALONE = 0.1  # what a sentence is worth that leans on others
ANSWERS = 3  # of one note
TELLING = 3  # concepts of a request that says what to do
_LEAD = r"\W*(?:(?:no|yes|ok(?:ay)?|also|and|but|so|please|actually|let['’]?s|we|you|should|must|just)\W+)*"
WANTS = re.compile(  # "so that agents don't need to" wants nothing
    rf"{_LEAD}(?:use|prefer|keep|only|make sure|avoid|stop|don['’]?t|do not|must)\b", re.I
)
STANDS = re.compile(  # in an order it says how one thing is to be done
    r"\b(?:always|never|from now on|no longer|instead|rather than)\b"
    r"|항상|절대|반드시|말고|대신|앞으로|지\s?마|必ず|しないで",
    re.I,
)
ASKS = re.compile(r"(?:can|could|would|should|shall|what|why|how|which|is|are|does?|did|i['’]m|i am)\b", re.I)
# what only looks like a decision of the model's: a guess, or a step in how something works
SEEMS = re.compile(
    r"\W*(?:then|however|otherwise|if|when|where|here|this|that|it|they|there|i(?:['’]m| am) seeing)\b"
    r"|.*\b(?:appears?|seems?|looks? like|i(?:['’]m| am) not sure|i['’]ll (?!keep|use|drop|skip|stick|go)\w+)\b",
    re.I,
)
# what leans on a sentence before it, or was how things stood on the way: nothing to be read alone, or later
LEANS = re.compile(
    r"\W*(?:so|but|and|or|still|now|also|because|which|then|first|next|hmm+|wait|i|you|all (?:of )?(?:them|these)"
    r"|the (?:issue|problem|error|failure|bug|real (?:issue|problem)) (?:is|was|persists|comes)|step \d+|task \d+)\b",
    re.I,
)
MISUSED = re.compile(  # a command that was called wrongly
    r"\b(?:unknown|unrecogni[sz]ed|invalid|unexpected) (?:option|flag|argument|switch|subcommand|command)s?\b"
    r"|\bcommand not found\b|failed to spawn|\bno such file or directory\b|\bcannot import name\b|\busage:",
    re.I,
)
CHANGES = re.compile(r"[\d\W]+")  # of what a failure says, what differs from one time to the next
NODDED = re.compile(  # an answer that only lets things go on
    r"\W*(?:yes|yep|ok(?:ay)?|looks? (?:good|right|fine)|sounds? good|proceed|continue|go (?:ahead|on)|approved?"
    r"|correct|confirm(?:ed)?|네|예|はい)\b",
    re.I,
)
ONCE = re.compile(r"\b(?:yet|for now|right now|this time|today)\b|\b(?:like|as|the|an?|to|of|in|with|and|or)$", re.I)
LABEL = re.compile(r"^\W*(?:decision|decided)\W+(?=\w)", re.I)
SUPPORTS = re.compile(r"(?:docs|chore|style|tests?|ci|build|release|wip|bump|update changelog)\b", re.I)
NOTHING = "…"  # the summary of nothing: an outline has to have one


def commits(facts: Facts) -> list[Fact]:
    """The commits, oldest first, but for merges."""
    return [fact for those in facts.values() for fact in those if _is_own_commit(fact)]


def _is_own_commit(fact: Fact) -> bool:
    return fact.kind == "commit" and not fact.text.startswith("Merge ")


def settled(facts: Facts) -> list[Fact]:
    """What was settled and still holds: by the user first, then with a reason, newest first."""
    found = [fact for those in facts.values() for fact in _some_answers([*filter(_settles, those)])]
    order = sorted(holding(found), key=lambda fact: (fact.who != "user", not fact.why, -fact.at))
    return [*{fact.text.casefold(): fact for fact in reversed(order)}.values()][::-1]


def _some_answers(facts: Sequence[Fact]) -> list[Fact]:
    """Of all that was asked while one thing was done the last answers: many questions are about that alone."""
    answers = [fact for fact in facts if fact.kind == "answer"][-ANSWERS:]
    return [fact for fact in facts if fact.kind != "answer" or fact in answers]


def _settles(fact: Fact) -> bool:
    asks = fact.text[-1] in "?？:：" or ASKS.match(fact.text) or ONCE.search(fact.text) or DEPENDS.match(fact.text)
    wants = WANTS.match(fact.text) or (STANDS.search(fact.text) and not ORDERS.match(fact.text))
    wanted = fact.who == "user" and wants and not asks
    decided = DECIDES.search(fact.text) and states(fact.text) and not SEEMS.match(fact.text)
    decided = decided and len(concepts(fact.text)) >= TELLING and "; " not in fact.text  # no list of what there is
    if fact.kind == "written":
        return bool(wanted or (decided and kind_of(fact.text) == "decision"))
    if fact.kind == "answer":
        return not NODDED.match(fact.text)
    return bool(wanted if fact.kind == "rule" else decided if fact.kind == "decision" else False)


def wrong(facts: Facts) -> list[Fact]:
    """What was left to do when a session ended, and checks that failed then, with nothing committed since; of other
    commands, those that failed in several sessions, and not for how they were called. Newest first; `fixed` is what
    works since."""
    last = {fact.of: note for note, those in facts.items() for fact in those}
    committed = {fact.of: fact.at for those in facts.values() for fact in those if fact.kind == "commit"}
    found: dict[str, Fact] = {}
    sessions: dict[str, set[str]] = {}
    for note, those in facts.items():
        for fact in sorted(those, key=lambda fact: fact.at):
            key = core(fact.text) or fact.text
            if fact.kind == "check" and key in found:
                found[key] = found[key]._replace(status="fixed")
            elif fact.kind == "error" and fact.why and not MISUSED.search(fact.why):
                sessions.setdefault(_again(fact), set()).add(fact.of)
                judged = note.level > 1 or (fact.status == "open" and is_check(fact.text))
                if judged or len(sessions[_again(fact)]) > 1:
                    found[key] = fact
            elif fact.kind in TASKS and note is last[fact.of]:
                found[fact.text.casefold()] = fact
    passing = (fact for fact in found.values() if fact.at < committed.get(fact.of, -1.0) and fact.status == "open")
    gone = {fact for fact in passing if is_check(fact.text) and len(sessions[_again(fact)]) < 2}
    return sorted((fact for fact in found.values() if fact not in gone), key=lambda fact: -fact.at)


def _again(fact: Fact) -> str:
    """By what a failure is known again: the command, and what it said but for what differs from run to run."""
    return f"{core(fact.text) or fact.text} {CHANGES.sub('', fact.why)}"


def lists(facts: Facts, notes: Sequence[Note], titles: Mapping[str, str], came: Mapping[str, str]) -> Outline:
    """All that an outline says beside its text, given what that tells of each session."""
    below = {note: made for note in facts if note.who != "user" and (made := _outline_of(note))}
    days = [
        (below[note].first, below[note].last) if note in below else (_day(begun(note)), _day(note.at)) for note in facts
    ]
    first, last = min(filter(None, (day for day, _ in days)), default=""), max((day for _, day in days), default="")
    plain = [made for note, made in below.items() if all(fact.kind == "written" for fact in facts[note])]
    decisions = [Decision(_bounded(_decision(fact), 1000), fact.why, _day(fact.at)) for fact in settled(facts)]
    issues = [Issue(_bounded(_issue(fact), 1000), _status(fact), _day(fact.at)) for fact in wrong(facts)]
    issues = sorted(
        [*issues, *(issue for made in plain for issue in made.issues)], key=lambda issue: issue.status != "open"
    )
    themes = _themes(facts, below, titles, came)
    summary = _summary(facts, first, last, [theme.name for theme in themes], issues)
    decisions += [decision for made in plain for decision in made.decisions]
    return Outline(tuple(themes), tuple(decisions[:MOST]), tuple(issues[:MOST]), summary, first, last, len(notes))


def _outline_of(note: Note) -> Outline | None:
    try:
        return read_body(wire.read_object(note.extra).get("outline"))
    except (ValueError, RecursionError):
        return None


def _decision(fact: Fact) -> str:
    return say(fact) if fact.kind == "answer" else LABEL.sub("", fact.text)


def _issue(fact: Fact) -> str:
    return (fact.text if fact.kind in TASKS else say(fact._replace(status=""))).rstrip(".;")


def _status(fact: Fact) -> str:
    return "resolved" if fact.status == "fixed" else "open"


def _summary(facts: Facts, first: str, last: str, themes: Sequence[str], issues: Sequence[Issue]) -> str:
    """All of it in a sentence, after what the user wrote."""
    everything = [fact for those in facts.values() for fact in those]
    by_hand = dict.fromkeys(fact.text for fact in everything if fact.kind == "written" and fact.who == "user")
    made = list(dict.fromkeys(quote(fact.text) for fact in commits(facts)))
    left = [issue.issue for issue in issues if issue.status == "open"]
    when = f"Between {first} and {last}" if first != last else f"On {first}"
    about = f" ({_few(themes)})" if themes else ""
    said = [f"{when}: {many(len({fact.of for fact in everything}), 'session')}{about}"] if everything else []
    if made:
        more = f" and {len(made) - NAMED} before" if len(made) > NAMED else ""
        said.append(f"committed {', '.join(made[-NAMED:])}{more}")
    said += [f"open: {_few(left)}"] if left else []
    return _bounded("\n".join([*by_hand, *(["; ".join(said) + "."] if said else [])]), SUMMARY) or NOTHING


def _few(names: Sequence[str], most: int = NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _themes(
    facts: Facts, below: Mapping[Note, Outline], titles: Mapping[str, str], came: Mapping[str, str]
) -> list[Theme]:
    """What each session was about, those of one name together; of more than ten the ten of which most was said."""
    found: dict[str, Theme] = {}
    size: Counter[str] = Counter()
    for theme, weight in _all_themes(facts, below, titles, came):
        known = found.get(key := theme.name.casefold(), theme)
        summary = known.summary if theme.summary in known.summary else cut(f"{known.summary} {theme.summary}", THEME)
        sessions = tuple(dict.fromkeys((*known.sessions, *theme.sessions)))[:1000]
        found[key] = Theme(known.name, summary, sessions)
        size[key] += weight
    largest = {key for key, _ in size.most_common(MOST)}
    return [theme for key, theme in found.items() if key in largest]


def _all_themes(
    facts: Facts, below: Mapping[Note, Outline], titles: Mapping[str, str], came: Mapping[str, str]
) -> Iterator[tuple[Theme, int]]:
    sessions: dict[str, list[Fact]] = {}
    for note, those in facts.items():
        made = below[note].themes if note in below else ()
        yield from ((theme, len(theme.sessions)) for theme in made)
        for fact in those if not made else ():
            sessions.setdefault(fact.of, []).append(fact)
    known = {note.session for note in facts}
    for of, those in sessions.items():
        name = _bounded(cut(clean(titles.get(of, "")) or _name(those), NAME), NAME)
        id = _bounded(of, 200) if of in known else NOTHING
        yield Theme(name, _bounded(cut(came.get(of, ""), THEME), THEME), (id,) if id != NOTHING else ()), len(those)


def _name(facts: Sequence[Fact]) -> str:
    """What a session without a title was about: the commit that has most to do with all the others, what was asked
    first, the folder that it worked in."""
    made = _central(list(filter(_is_own_commit, facts)), facts)
    folders = Counter(folder for fact in facts if fact.kind == "edit" and (folder := _folder(fact.text)))
    asked = _asked(facts)
    name = f"Work in {folders.most_common(1)[0][0]}" if folders and not any(map(_tells, asked)) else run_on(asked)
    return (made[0].text if made else name) or next((fact.text for fact in facts if KINDS[fact.kind].outline), "")


def _folder(path: str) -> str:
    """The folder of a file, of a long path its end."""
    folder = path.rpartition("/")[0].strip("/…")
    return folder if len(folder) < NAME // 2 else "/".join(folder.split("/")[-3:])


def _central(some: Sequence[Fact], facts: Iterable[Fact]) -> list[Fact]:
    """Some commits, first those that speak of what all facts speak of; what only supports others comes last."""
    often = Counter(concept for fact in facts for concept in concepts(fact.text))

    def order(fact: Fact) -> tuple[bool, float, int]:
        return bool(SUPPORTS.match(fact.text)), -_mean([often[part] for part in concepts(fact.text)]), fact.turn

    return sorted(some, key=order)


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / (len(numbers) + 2)  # one common word is not what a commit is about


def _asked(facts: Sequence[Fact]) -> list[Fact]:
    """The first request of a session that says what to do; else the first."""
    asked = whole([fact for fact in facts if fact.kind in ("request", "rule") and fact.who == "user"])
    asked.sort(key=lambda fact: (not _tells(fact), fact.turn, fact.place))
    return [fact for fact in asked if fact.turn == asked[0].turn]


def _tells(fact: Fact) -> bool:
    found = concepts(fact.text)
    return len(found) >= TELLING or any(map(is_name, found))


def telling(said: Iterable[Fact], facts: Sequence[Fact], most: int) -> list[Fact]:
    """The sentences that say most of what some facts are about, in their order, none of them twice."""
    often = Counter(concept for fact in facts for concept in concepts(fact.text))
    about = {fact: concepts(fact.text) for fact in said if not LEANS.match(fact.text)}

    def worth(fact: Fact) -> float:
        about_it = sum(min(often[one], OFTEN) * rarity(one) for one in about[fact]) / (len(about[fact]) + TELLING)
        alone = 1.0 if stands_alone(fact) else ALONE
        return KINDS[fact.kind].outline * about_it * alone

    best: list[Fact] = []
    known: set[str] = set()
    for fact in sorted(about, key=lambda fact: (-worth(fact), fact.turn, fact.place)):
        if len(best) < most and len(about[fact] & known) <= SAME * len(about[fact]):
            best.append(fact)
            known |= about[fact]
    short = (fact._replace(text=LABEL.sub("", fact.text)) for fact in best)
    return sorted(short, key=lambda fact: fact.place)


def stands_alone(fact: Fact) -> bool:
    """Whether a sentence says something to who reads it alone, long after."""
    return fact.kind == "written" or not (SEEMS.match(fact.text) or LEANS.match(fact.text) or fact.text[-1] in ":：")


def _bounded(text: str, most: int) -> str:
    """Text that shows and is no longer than allowed."""
    text = clean(text).strip()
    text = text if len(text) <= most else clean(text[:most].rpartition("\n")[0] or text[: most - 1] + "…").strip()
    return text or NOTHING


def _day(at: float) -> str:
    """The day of a moment, in UTC; empty for one that has none."""
    return utc_day(at) if 0 <= at <= LATEST else ""
