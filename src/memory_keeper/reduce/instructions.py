"""What the user wants to hold from now on, in the user's own words, and what of it still does.

A rule is an order that outlives its occasion. It says so ("from now on", "always", "never", "we use"), or it speaks of
a kind of thing and not of one thing ("end all variable names with '_x'"). What is asked for once, here, in this file,
is none. What it says is taken apart into what is constrained (variable names), how (their end) and the value ('_x'):
the next one about the end of variable names then takes the place of this one, and stands beside all others.
"""

from __future__ import annotations

import re

from memory_keeper.model import Event, NamedTuple
from memory_keeper.reduce import claims
from memory_keeper.reduce.extractive import statements, unmarked, words
from memory_keeper.reduce.holds import CHANGED, CHANGES, FORBIDS, MOST, REJECTS, REJECTS_BEFORE, RULES, SAME
from memory_keeper.reduce.own_words import own_words
from memory_keeper.text import NEWEST, clip, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.model import Json

SAID, TYPED = 12_000, 1_500  # characters: a longer prompt is a paste; one that was written elsewhere
SHORTEST, LONGEST = 6, 400  # characters of a sentence
TOLD = 40  # tokens of an instruction's text


class Instruction(NamedTuple):
    """What the user wants to hold from now on, as said in one prompt."""

    text: str  # the order alone, in the user's words
    subject: tuple[str, ...]  # how it constrains, what things, then the other words that say what it is about
    values: tuple[str, ...]  # "do" or "not", then what it wants: literals, names, numbers; after "-", what it rejects
    changes: bool  # it says itself that something changes
    cite: str
    at: float
    session: str


class Standing(NamedTuple):
    """An instruction in force."""

    instruction: Instruction  # its newest wording
    sessions: tuple[str, ...]  # that said the same, oldest first
    first: float
    last: float
    superseded: tuple[Instruction, ...]  # what it took the place of, oldest first


def instructions(prompt: Event) -> list[Instruction]:
    """What one prompt wants for good."""
    if prompt.agent or len(prompt.text) > SAID:
        return []
    said = [one for one in _sentences(prompt.text) if SHORTEST <= len(one) <= LONGEST]
    about_rules = any(LASTING.search(one) or CONVENTION.search(one) for one in said)
    around = _Around(len(prompt.text) < TYPED, about_rules)
    found = []
    for sentence in said:
        order = _order(sentence)
        for clause in map(around.resolve, _clauses(order.text)):
            if _is_standing(order, clause, around):
                found += [_read(one, order, prompt) for one in _apart(clause)]
        around = around.after(sentence)
    return _once(found)


def _sentences(text: str) -> Iterator[str]:
    """The sentences of the user's own words; who types may begin them small."""
    for said in statements(own_words(text)):
        yield from BREAK.split(unmarked(said))


BREAK = re.compile(r"(?<=[.!?。！？])(?<!e\.g\.)(?<!i\.e\.)\s+")


# --- what is an order ------------------------------------------------------------------------------------------------

_VERBS = (
    "use add include start begin end prefix suffix preface append finish name call write import put keep place have avoid"
    " prefer follow format indent annotate document decorate wrap log test commit push answer reply respond speak work take"
    " communicate set incorporate apply adopt stick limit leave run check make create store handle ask show tell explain"
    " read validate define declare separate group sort switch utilize utilise integrate insert comment implement"
).split()
VERB = rf"(?:{'|'.join(_VERBS)}|(?:{'|'.join(verb.removesuffix('e') for verb in _VERBS)})[nt]?ing)"
THING = (
    r"(?:(?:function|method|keyword) (?:argument|parameter)s?(?: variables?)?|commit messages?|pull requests?|PRs?"
    r"|(?:function|method|class) definitions?"
    r"|functions?|methods?|class(?:es)?|variables?|attributes?|arguments?|parameters?|properties|property|constants?"
    r"|fields?|modules?|packages?|files?|tests?|components?|hooks?|endpoints?|routes?|tables?|columns?|migrations?"
    r"|commits?|branch(?:es)?|comments?|scripts?|quer(?:y|ies)|errors?|exceptions?|types?|interfaces?|structs?|enums?"
    r"|answers?|replies|responses?|messages?|code|projects?|programs?|services?)"
)
OWN = r"(?:(?:of|your|our|the|my|new|python|public|private|a|an|all|every|each|any|both) ){0,4}"
MANY = rf"({THING}(?:(?: names?)?(?:,| and|, and| or) {OWN}{THING})*)"
NAMES = re.compile(  # how things are called
    rf"\b{MANY} nam(?:es?|ing)\b|\bnam(?:es? of|ing|e) {OWN}{MANY}\b"
    rf"|\b(?:declar|initiali[sz]|defin)ing {OWN}((?:function )?(?:argument|variable|attribute|constant)s?)\b",
    re.I,
)
ALL = re.compile(rf"\b(?:all|every|each|any|both)(?: of)? {OWN}{MANY}\b", re.I)
IN = re.compile(
    rf"\b(?:in|into|within|inside|to|for|on|of|above|with|(?:writ|creat|defin|mak|add)\w*|work\w* on) {OWN}{MANY}\b(?! argument)",
    re.I,
)
KINDS = re.compile(  # any of them: not the one at hand
    rf"\b(?:in|into|within|inside|to|for|on|of|above|with|(?:writ|creat|defin|mak|add)\w*|work\w* on)"
    rf" (?:(?:a|an|any|every|each|new) (?:new )?{THING}|(?:(?:your|our|my|new|python|public|private) ){{0,2}}(?:{THING}(?<=s)|(?:your|our|my) code|code))\b"
    r"(?! argument)",
    re.I,
)
NOT = r"(?:never|do not|don['’]?t|stop|no|not|avoid|refrain from)"
ORDERS = re.compile(
    rf"(?:{MANY}(?: nam(?:es?|ing))?: |naming {OWN}{MANY}: |only |{NOT} (?:ever )?)*(?!mak(?:e|ing) sure|working on|keep \w+ing)"
    rf"(?:{VERB}|(?:(?<=stop )|(?<=avoid )|(?<=from ))\w+ing|(?:(?<=never )|(?<=not )|(?<=n't )|(?<=n’t ))(?!forget)\w+)\b(?!:| (?:in mind|up|open|it up|me|us|ahead|forth|sure|back)\b)",
    re.I,
)
SHALL = re.compile(  # how things shall be
    rf"(?:{OWN}{MANY}(?: names?)?|they|(?:their|the|each|every) names?)(?: you (?:write|create|define|make))?"
    rf"(?: (?!{VERB})\w+){{0,3}} (?:should|must|need|ha(?:ve|s)|shall|ends?|starts?|begins?|includes?|are|be"
    r"|to (?:end|start|begin|include|have))\b",
    re.I,
)
WANTED = re.compile(  # after these comes what is wanted
    r"\b(?<!if )(?<!when )(?<!what )(?<!where )(?:(?:i|we)(?:['’]d| would)? (?:(?:also|now|really|just|all) )*(?:want|need|like|love|expect|ask|require)"
    r"(?: (?:that|you|us|everyone|everybody|all|to|the use of))*"
    r"|(?:i|we)(?:['’]m| am|['’]re| are) (?:(?:also|now) )*(?:asking|requiring|expecting|standardi[sz]ing(?: on)?)"
    r"(?: (?:you|everyone|that|to))*"
    r"|(?:i|we)(?:['’]d| would)?(?: (?:also|now|really|strongly|usually|generally))*(?: prefer (?:that|you(?: to)?))?(?= (?:prefer|rather) )"
    r"|(?:i|we)(?:['’]d| would)?(?: also| now)* prefer (?:that(?: you)?|you to|us to)"
    r"|please|kindly|(?:(?:be|make) sure|ensure)(?: (?:that|to|you['’]re|you are|you|they))*|(?:decided|emphasi[sz]e) (?:that|to)"
    r"|remember(?: (?:to|that|you|should))+|don['’]?t forget(?: (?:to|that))*"
    r"|(?:important|best|crucial|essential|vital|imperative|mandatory|critical)(?: for you)?(?: (?:that|to|you|we))+"
    r"|you(?:['’]ll)? (?:should|must|need to|have to|are to)|let['’]s"
    r"|(?:(?:emphasi[sz]e|stress|highlight|is) (?:the )?)?(?:consistent )?(?:importance|use|inclusion) of(?: always)?"
    r"|(?:rule|convention|standard|practice|polic(?:y|ies)|guideline|instruction|preference|requirement|habit|change|update"
    r"|style|thing)s?(?: (?!is\b|are\b|of\b)\w+['’]?\w*){0,8} (?:is|are|of|to|by)(?: (?:that|to|we|for))*"
    r"|(?:focus|attention|emphasis)(?: \w+){0,3} (?:on|to)|(?<=\w):|(?:but|and)(?= (?:always|never) )"
    r"|(?:^|(?<=[,:;—] )|(?<=that )|(?<=so ))we(?:['’]ll be)?(?= [a-z]+))(?=[ ,:—])",
    re.I,
)
BEGINS = re.compile(  # what may stand before an order and says nothing of it
    r"(?:(?:and|also|so|now|ok(?:ay)?|yes|yeah|no|well|but|plus|then|next|just|first(?:ly)?(?: and foremost)?|second(?:ly)?|third(?:ly)?"
    r"|finally|lastly|additionally|furthermore|moreover|similarly|likewise|however|actually|specifically|again|hey|hi"
    r"|that|in addition|(?:one|another) (?:more |last |other )?thing|listen|we|you)\b[,:—–\s-]+"
    r"|(?-i:[A-Z][a-z]+),\s+|even (?:if|when|though) [^,]{3,80}, |(?:want|need|like)(?: you| us)? to |prefer (?:that (?:you |we )?|you (?:to )?)|[\"“*_,:—–-]+\s*"
    r"|(?:start|begin|continue|keep|consider|get into the habit of|make a habit of|be) (?=(?!naming)\w+ing\b))",
    re.I,
)
SAYS_WHEN = (
    r"(?:from (?:now|here|this point|today)(?: on\w*| forward)?|(?:going|moving) forward|in (?:the )?future|henceforth"
    r"|as of (?:now|today)|at all times|consistently|always)"
)
LASTING = re.compile(
    rf"\b(?:{SAYS_WHEN}|by default|as a rule|never|whenever|(?:every|each) time|even (?:if|when) (?:you|it|not|they)"
    r"|stop (?=\w+ing\b)|habit of|no longer|any ?more)\b",
    re.I,
)
WHENEVER = re.compile(
    rf"\b(?:whenever|(?:every|each) time|{SAYS_WHEN}\W*$|no longer|any ?more)\b|\beven (?:if|when) (?:you|it|not|they)\b",
    re.I,
)
ADVERBS = re.compile(rf"\b(?:always,? and i mean always|{SAYS_WHEN}|please|as well)\b", re.I)
AIM = re.compile(
    r"(?:as )?(?:for|you|regarding|when|whenever|in|to|before|after|while|with|on) [^,]{2,70}[,:] (?:also |please )*",
    re.I,
)
AIMED = re.compile(
    rf"(?:^|[\s,—])((?:for|regarding|when(?:ever)?|in|before|after|while|with|on) [^,;:.]{{2,70}})[,:—]?\s*$", re.I
)


class _Order(NamedTuple):
    """A sentence, and the order in it."""

    said: str
    text: str
    wanted: bool  # it says who wants it: "I want you to", "make sure"


def _order(sentence: str) -> _Order:
    """The first order in a sentence, with what it is for; without one, all of it."""
    for wanted in (None, *WANTED.finditer(sentence)):
        text = _peeled(sentence[wanted.end() :] if wanted else sentence)
        aim = AIMED.search(_peeled(WANTED.sub(",", sentence[: wanted.start()]))) if wanted else None
        whole = f"{aim[1]}, {text}" if aim else text
        if VAGUE.search(_body(text)) or (not wanted and re.match(r"\w+ing\b", text)):
            continue
        noun = wanted and wanted[0].casefold().endswith(" of") and _is_general(whole)
        if noun or ORDERS.match(_body(text)) or SHALL.match(_body(text)):
            return _Order(sentence, whole, wanted is not None)
    return _Order(sentence, _peeled(sentence), False)


def _peeled(text: str) -> str:
    """A text without what says nothing of an order."""
    text = " ".join(ADVERBS.sub("", text).split()).replace(" ,", ",").strip(' "”“')
    while (begin := BEGINS.match(text)) and begin.end() < len(text):
        text = text[begin.end() :]
    return text.rstrip(".! ,")


def _body(clause: str) -> str:
    """A clause without what it is for."""
    aim = AIM.match(clause)
    return clause[aim.end() :] if aim else clause


# --- and holds for good ----------------------------------------------------------------------------------------------

ONE_OFF = re.compile(  # what is done once, to what is there
    r"(?:fix|update|change|refactor|remove|rename|move|convert|delete|review|list|check|run|show|find|look|revert|merge|go"
    r"|rebase|implement|create|make|build|replace|migrate|investigate|debug|try(?! statement| block|-| except)|test|explain|summari[sz]e|take|set|read)\b",
    re.I,
)
HERE = re.compile(  # one place, one time
    r"\b(?:here|this (?:file|function|class|method|branch|pr|test|time|one|case|line|page|commit|bug|issue|next|feature)"
    r"|these (?:files|functions|tests|lines)|just (?:this )?once|the following|above|below|yet|anything|right now|until)\b"
    r"|\b(?:in|from|of|at) [`'\"]?[\w./-]*[\w-]+\.[a-z]{1,4}\b|\bPR #?\d|\bline \d",
    re.I,
)
TALKS = re.compile(  # about a rule, or about nothing
    r"(?:by|if|while|since|because|although|though|whether|what|how|why|when will|does|do you|did|could|can|would|have you"
    r"|are you|is there|i['’]ve|i have|i noticed|i see|i think|it['’]s|let me|feel free|don['’]?t (?:hesitate|worry"
    r"|be afraid)|never (?:hesitate|mind|be afraid|underestimate|stop)|thank|that['’]s|this|it|these|those|there"
    r"|not exactly|they|he|she|reach out|for (?:example|instance)|consistency|i|you)\b",
    re.I,
)
EXAMPLE = re.compile(r"\b(?:you(?:['’]d| would| could| might)|would be|could be)\b", re.I)
VAGUE = re.compile(
    r"\b(?:hesitate|reach out|in mind|yourself|be afraid|feel free|happy to|let me know)\b"
    rf"|^(?:{NOT} )?\w+ (?:it|this|that|them|these|those)\b(?! (?:to|in|with|for|end|start|decorator|module|prefix|suffix|string))",
    re.I,
)
CONVENTION = re.compile(
    r"\b(?:convention|standard|rule|guideline|practice|polic(?:y|ies)|style|instruction|requirement|format)s?\b", re.I
)
SOME_RULE = re.compile(
    r"\b(?:this|that|these|those|the|our|same|following|(?:a|an|some|any)? ?(?:new|specific|certain|particular|few|couple of|set of)"
    rf"|two|consistent)(?: [\w-]+){{0,3}} {CONVENTION.pattern[2:]}",
    re.I,
)
WE = re.compile(
    r"\bwe(?:['’]ll be| will)? (?:(?:all|also|now|only|usually|typically|generally|primarily|mainly|normally|always) )*"
    r"(?:us(?:e|ing)|prefer|follow|prefix|suffix|start|end|begin|name|write|keep|put|include|require|avoid|indent|format"
    r"|commit|deploy|test|stick|never)\b",
    re.I,
)


def _is_standing(order: _Order, clause: str, around: _Around) -> bool:
    """Whether an order holds for good."""
    said, body = order.said, _body(clause)
    if said[-1] in "?:" or len(clause) < SHORTEST:
        return False
    if any("\uac00" <= char <= "\ud7a3" for char in clause):
        return claims.is_rule(said, around.typed)
    if (
        (TALKS.match(body) and not order.wanted and not SHALL.match(body))
        or EXAMPLE.search(clause)
        or VAGUE.search(body)
        or _is_empty(clause)
    ):
        return False
    lasts, general, literal = _lasts(said, body), _is_general(clause), _has_literal(clause)
    if HERE.search(clause) and not lasts:
        return False
    shall = SHALL.match(body) and (order.wanted or re.search(r"\b(?:should|must|shall)\b", body, re.I))
    if not around.typed or not (ORDERS.match(body) or shall or (order.wanted and general)):
        return bool(lasts or not around.typed) and claims.is_rule(said, around.typed)
    if PREFERS.match(body):
        return bool(COMPARES.search(body) or literal)
    if lasts:
        return not claims.HAPPENS.search(clause)
    if (WE.search(said) and (general or literal or PURPOSE.search(clause))) or claims.is_rule(said, around.typed):
        return True
    if ONE_OFF.match(body) or not general:
        return False
    return bool(literal or NAMES.search(clause) or around.rules or re.search(r"\b(?:your?|our)\b", said))


def _lasts(said: str, body: str) -> bool:
    """Whether a sentence says that its order holds for good; what comes later in it says so of something else."""
    begin = re.search(rf"\b{re.escape(body.split()[0])}", said)
    return bool(LASTING.search(said[: begin.end() if begin else None]) or WHENEVER.search(said))


PREFERS = re.compile(r"(?:prefer|rather)\b", re.I)
COMPARES = re.compile(r"\b(?:over|to|than|instead|for|when|in)\b", re.I)


def _is_general(clause: str) -> bool:
    """Whether a clause speaks of a kind of thing."""
    return bool(NAMES.search(clause) or ALL.search(clause) or KINDS.search(clause))


def _has_literal(clause: str) -> bool:
    """Whether a clause says letter by letter what it wants."""
    return bool(LITERAL.search(clause) or CASES.search(clause))


def _is_empty(clause: str) -> bool:
    """Whether a clause says only that there is a rule."""
    body = _body(clause)
    return not _has_literal(clause) and bool(SOME_RULE.search(body) or " " not in body)


# --- what it says ----------------------------------------------------------------------------------------------------

LITERAL = re.compile(r"(?<!\w)['\"`‘“](@?[\w./:+*#@,-]{1,40}?)[.,]?['\"`’”](?!\w)|(?<![\w'\"`‘“])(@\w{2,40})\b")
CASES = re.compile(
    r"\b(?:snake|kebab|camel|pascal|title|upper|lower|screaming[_ ]snake)[-_ ]?case\b|\ball[- ]caps\b", re.I
)
HOW = (
    ("end", re.compile(r"\b(?:end(?:s|ing)?|finish)\b.{0,60}\bwith\b|\b(?:suffix|append|postfix)", re.I)),
    ("start", re.compile(r"\b(?:start|begin)\w*\b.{0,60}\bwith\b|\b(?:prefix|prefac|preced)", re.I)),
)
NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b|\b(?:one|two|three|four|five|six|eight|ten|once|twice|half)\b", re.I)
PURPOSE = re.compile(  # use this for that
    r"\b(?:us(?:e|ing)|go with|(?:switch|transition)(?:ing)? to|prefer|stick (?:to|with))(?: (?:only|the|a|an|our|your|their))* "
    r"([\w.+#/@-]+(?: [\w.+#-]+){0,2}?) (?:as|for)(?: (?:the|our|your|all|a|my|any|main|primary|preferred))* ([\w-]+(?: [\w-]+){0,3})",
    re.I,
)
REASON = re.compile(
    r",? (?:because|since|so that|so (?:we|it|they|you|i)|in order to|to (?:ensure|maintain|make|help|keep|improve|avoid|enhance"
    r"|facilitate|provide|allow|enforce|promote|handle|clearly|easily|quickly|better|track|identify|indicate|distinguish)"
    r"|as (?:it|this|they|we|that|in)|which|for (?:better|improved|consistency|clarity|easy|easier)|as part of|regardless"
    r"|whether|especially|particularly|even (?:if|when|though)|wherever|whenever (?:possible|applicable)|followed by|like (?:this|so))\b"
    r"| [—–-] |, (?:it|this|that|and (?:it|this|that)|so|as|for example|for instance)\b|;",
    re.I,
)
AND = re.compile(
    r"[,;]? (?:and|but|while|plus|also)(?: (?:also|then|please|always|to|you should|ensure(?: that)?|make sure(?: that)?))* "
    rf"(?=(?:{VERB}|for|all|every|{NOT}|(?:the |your )?{THING} names?)\b)|[;,] (?=(?:{VERB}) )",
    re.I,
)
NAMED = re.compile(
    r"((?:['\"`‘“]@?\w+['\"`’”]|@\w+) (?:decorator|module|prefix|suffix|string)|['\"`‘“]@\w+['\"`’”])"
    r"|\b(?:importance|use) of (?:the )?((?:\w+ )?\w+s)\b",
    re.I,
)
THIS = re.compile(
    r"\b(?:this|that|the) (?:decorator|module|prefix|suffix|string)\b|\b(?:it|this|them)\b(?= (?:to|in|with|for) )",
    re.I,
)
THIS_ONE = re.compile(r"\b(?:this|that) (?:decorator|module|prefix|suffix|string)\b", re.I)
PRONOUN = re.compile(r"\b(?:them|they|their|(?:the|each|every|these|those) names?|with|it)\b", re.I)
EITHER = re.compile(rf"(?: names?)?(?:, and|,| and| or) {OWN}", re.I)
AFFIX = re.compile(r"(?<=['\"`’”]) as (?:a|the|its|their) (?:prefix|suffix)\b", re.I)
CUES = RULES | frozenset(
    "nam string singl lower convention rul modul decorator want lik need start begin end includ suffix prefix"
    " add ensur remember new cod writ creat when whenever every tim also somewher within even don thi".split()
)


class _Around(NamedTuple):
    """What a prompt says around a sentence."""

    typed: bool  # it was not pasted
    rules: bool  # it speaks of rules
    things: str = ""  # what "them" may mean
    named: str = ""  # what "this decorator" may mean

    def after(self, sentence: str) -> _Around:
        """With one more sentence."""
        things, named = NAMES.search(sentence), NAMED.search(sentence)
        return self._replace(
            things=things[0] if things else self.things, named=(named[1] or named[2]) if named else self.named
        )

    def resolve(self, clause: str) -> str:
        """A clause that can stand alone."""
        body = _body(clause)
        if not (ORDERS.match(body) or SHALL.match(body)):
            return clause
        if self.named and (not LITERAL.search(clause) or THIS_ONE.search(clause)):
            clause = THIS.sub(lambda _: self.named, clause, count=1)
        if self.things and PRONOUN.search(clause) and not _things(clause):
            return f"{self.things}: {clause}"
        return clause


def _clauses(text: str) -> list[str]:
    """The orders of a sentence that has several; none leans on the one before."""
    cuts: list[re.Match[str]] = []
    for cut in AND.finditer(text):
        if _parts(text[cuts[-1].end() if cuts else 0 : cut.start()], cut[0], text[cut.end() :]):
            cuts.append(cut)
    begins, ends = [0, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(text)]
    found: list[str] = []
    for begin, end in zip(begins, ends, strict=True):
        clause = _without_reason(text[begin:end])
        found.append(_leaning(clause, found[-1]) if found else clause)
    return found


def _parts(left: str, between: str, right: str) -> bool:
    """Whether both sides of an "and" are orders."""
    if not (ORDERS.match(_body(left)) or SHALL.match(_body(left))):
        return False
    right_orders = ORDERS.match(_body(right)) or SHALL.match(_body(right))
    return bool(right_orders or "sure" in between or (_has_literal(left) and _has_literal(right)))


def _leaning(clause: str, before: str) -> str:
    """A clause with what it takes from the one before: "and end them with", "and variable names with"."""
    things, verb = NAMES.search(before), re.search(rf"\b{VERB}\b", before, re.I)
    if things and not _things(clause) and (PRONOUN.search(clause) or _has_literal(clause)):
        return f"{things[0]}: {clause}"
    return clause if not verb or re.search(rf"\b{VERB}\b", clause, re.I) else f"{verb[0]} {clause}"


def _without_reason(clause: str) -> str:
    end = REASON.search(clause, 12)
    kept = clause[: end.start()] if end else clause
    return kept if _has_literal(kept) or not _has_literal(clause) else clause


def _read(clause: str, order: _Order, prompt: Event) -> Instruction:
    literals = tuple(one or other for one, other in LITERAL.findall(clause))
    things = _things(clause)
    how, values, about = _how(clause, literals, things)
    forbids = FORBIDS.search(_body(clause)) or re.search(r"\bno (?:longer|more)\b|^no\b|\brefrain", clause, re.I)
    rejects = sorted({one.casefold() for one in (*REJECTS.findall(order.said), *REJECTS_BEFORE.findall(order.said))})
    skip = CUES | {_stem(part) for value in (*values, *things) for part in words(value)}
    return Instruction(
        _told(clause),
        (how, "+".join(things), *sorted({_stem(word) for word in words(about)} - skip)),
        ("not" if forbids else "do", *values, *(f"-{one}" for one in rejects)),
        bool(CHANGES.search(order.said)),
        prompt.id,
        prompt.at,
        prompt.session,
    )


def _told(clause: str) -> str:
    """A clause as it will be told: without what it is for, where that is too much."""
    said = " ".join(AFFIX.sub("", clause).split())
    return clip(said if tokens(said) <= TOLD else _body(said), TOLD)


def _apart(clause: str) -> list[str]:
    """A clause for each kind of thing that it is about: one of them may get a rule of its own later."""
    found = _about(clause)
    kinds = [one.strip() for one in EITHER.split(found[1])] if found else []
    return [clause.replace(found[1], kind, 1) for kind in kinds] if found and len(kinds) > 1 else [clause]


def _about(clause: str) -> tuple[str, str] | None:
    """Where a clause says what kinds of things it is about: the words around, and the kinds."""
    found = NAMES.search(clause) or ALL.search(clause) or IN.search(clause) or SHALL.match(clause)
    said = next(filter(None, found.groups()), "") if found else ""
    return (found[0], said) if found and said else None


def _things(clause: str) -> tuple[str, ...]:
    """The kinds of things that an order constrains."""
    found = _about(clause)
    return tuple(sorted({_thing(one) for one in EITHER.split(found[1]) if one.strip()})) if found else ()


def _thing(said: str) -> str:
    """A kind of thing by one name: a function's arguments and parameters are the same."""
    kinds = [word for word in said.casefold().split() if word not in ("name", "names", "definition", "definitions")]
    kind = next((word for word in kinds if word.startswith(("argument", "parameter"))), kinds[-1] if kinds else "")
    kind = (
        kind.removesuffix("ies") + "y" if kind.endswith("ies") else re.sub(r"(?<=ss)es$|(?<=ch)es$|(?<!s)s$", "", kind)
    )
    return "argument" if kind == "parameter" else kind


def _stem(word: str) -> str:
    """A word without the ending that grammar gave it."""
    if not word.isascii() or len(word) < 5:
        return word
    for end in ("ing", "es", "ed", "s"):
        if word.endswith(end) and not word.endswith("ss"):
            word = word[: -len(end)]
            break
    return word.rstrip("e") if len(word) > 3 else word


def _how(clause: str, literals: tuple[str, ...], things: tuple[str, ...]) -> tuple[str, tuple[str, ...], str]:
    """In which way an order constrains, with which values, and the words that say the rest."""
    if literals:
        ways = [how for how, pattern in HOW if pattern.search(clause)]
        if not ways and NAMES.search(clause):
            ways = ["start" if literals[0].endswith("_") else "end" if literals[0].startswith("_") else "include"]
        return ways[0] if ways else "use", literals, ""
    if case := CASES.search(clause):
        return "case", (re.sub(r"[-_ ]", "", case[0].casefold()),), ""
    if not things and (match := PURPOSE.search(clause)):
        return "for", (match[1].casefold(),), match[2]
    return "", tuple(NUMBER.findall(clause.casefold())), clause


def _once(found: Iterable[Instruction]) -> list[Instruction]:
    """Of a prompt, each matter once: what names the things that it is about stays."""
    kept: list[Instruction] = []
    for one in found:
        for place, other in enumerate(kept):
            if (
                one.subject[0] == other.subject[0]
                and one.values == other.values
                and one.values[1:]
                and not (one.subject[1] and other.subject[1] and one.subject[1] != other.subject[1])
            ):
                kept[place] = one if len(one.subject[1]) >= len(other.subject[1]) and one.subject[1] else other
                break
            if one.subject == other.subject and one.values == other.values:
                break
        else:
            kept.append(one)
    return kept


# --- what of it holds ------------------------------------------------------------------------------------------------


def standing(found: Iterable[Instruction]) -> list[Standing]:
    """What is in force, newest last; a later word on the same matter takes the place of an earlier one."""
    held: list[Standing] = []
    for one in sorted(found, key=lambda one: (one.at, one.cite, one.text, one.values)):
        new = Standing(one, (one.session,), one.at, one.at, ())
        for old in [old for old in held if _same_matter(one, old.instruction)]:
            held.remove(old)
            if old.instruction.values[0] == one.values[0] and _values(old.instruction) == _values(one):
                sessions = (*old.sessions, *(name for name in new.sessions if name not in old.sessions))
                new = new._replace(
                    sessions=sessions, first=min(old.first, new.first), superseded=(*old.superseded, *new.superseded)
                )
            else:
                new = new._replace(superseded=(*new.superseded, *old.superseded, old.instruction))
        held.append(new)
    return held


def _values(one: Instruction) -> frozenset[str]:
    return frozenset(value for value in one.values[1:] if value[0] != "-")


def _same_matter(new: Instruction, old: Instruction) -> bool:
    """Whether two instructions cannot both be followed, or are one."""
    how, things, *about = new.subject
    old_how, old_things, *old_about = old.subject
    values, old_values = _values(new), _values(old)
    rejects = {value[1:] for value in new.values[1:] if value[0] == "-"}
    if rejects & {value.casefold() for value in old_values}:
        return True
    if how != old_how:
        return False
    if how in ("start", "end", "case"):
        return things == old_things
    if how in ("include", "use"):
        return things == old_things and values == old_values
    both, either = set(about) & set(old_about), set(about) | set(old_about)
    if things != old_things or not either:
        return False
    alike = len(both) / len(either)
    forbid = new.values[0] == old.values[0] == "not"
    if how == "for":
        return alike >= CHANGED
    return alike >= (CHANGED if new.changes and not forbid else SAME)


# --- as told ---------------------------------------------------------------------------------------------------------

WITHOUT = re.compile(
    rf"(?:(?:in|into|within|inside|to|for|on|of|above) )?(?:all |every |each |any |both )?{OWN}$", re.I
)


def dense(held: Sequence[Standing], budget: int, family: str = NEWEST) -> list[str]:
    """What is in force in few lines, by what it is about: as many as fit, what says most first."""
    chosen: list[Standing] = []
    lines: list[str] = []
    for one in sorted(held, key=lambda one: (not _is_firm(one.instruction), -one.last))[:MOST]:
        more = _grouped([*chosen, one])
        if tokens("\n".join(more) + "\n", family) <= budget:
            chosen.append(one)
            lines = more
    return lines


def _is_firm(one: Instruction) -> bool:
    return bool(one.values[1:] or one.subject[1] or one.values[0] == "not")


def _grouped(held: Sequence[Standing]) -> list[str]:
    """Lines such as `function names: start with 'a_'; end with '_b'`."""
    groups: dict[str, dict[str, list[str]]] = {}
    for one in held:
        about, rest = _told_apart(one.instruction.text)
        literal = LITERAL.search(rest)
        frame = rest[: literal.start()] + "\0" + rest[literal.end() :] if literal else rest
        groups.setdefault(about, {}).setdefault(frame, []).append(literal[0] if literal else "")
    for about, frames in groups.items():
        said = [frame.replace("\0", " ".join(literals)) for frame, literals in frames.items()]
        yield_ = f"{about}: " + "; ".join(said) if about else "\n".join(said)
        groups[about] = {yield_: []}
    return [line for frames in groups.values() for lines in frames for line in lines.split("\n")]


def _told_apart(text: str) -> tuple[str, str]:
    """What an instruction is about, and what it says of that."""
    found = NAMES.search(text) or ALL.search(text) or IN.search(text)
    kind = _things(text)
    if not found or len(kind) != 1:
        return "", text
    about = f"function {kind[0]}" if re.search(r"\bfunction (?:argument|parameter)", text, re.I) else kind[0]
    about += " names" if NAMES.search(text) else ""
    aim = AIM.match(text)
    if aim and aim.end() > found.start():
        return about, text[aim.end() :]
    if text.startswith(found[0] + ": "):
        return about, text[len(found[0]) + 2 :]
    before = WITHOUT.sub("", text[: found.start()])
    return about, re.sub(r"\b(?:the|your|our) ", "", " ".join(f"{before} {text[found.end() :]}".split()))


# --- as kept ---------------------------------------------------------------------------------------------------------


def packed(one: Instruction) -> Json:
    """All of an instruction, for JSON."""
    return one._asdict()


def unpacked(kept: Json) -> Instruction:
    """An instruction as it was packed."""
    return Instruction(**{**kept, "subject": tuple(kept["subject"]), "values": tuple(kept["values"])})
