"""Which instructions of a text hold for good: each as a clause that can stand alone.

An instruction lasts where it says so ("from now on", "always", "never", "we use"), or where it speaks of a kind of
thing and not of one thing ("end all variable names with '_x'"). What is asked for once, here, in this file, does not;
nor does what only mentions that there is a rule. What stands before an instruction ("I want you to", "please") and the
reason after it are left off; "them" and "this decorator" are told with what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from memory_keeper import regex as re
from memory_keeper.capture.payload import COMMANDS, NOTICES
from memory_keeper.extract.own_words import GIVES_UP, spoken
from memory_keeper.extract.prose import sentences
from memory_keeper.model import Event, NamedTuple
from memory_keeper.rules import classifier
from memory_keeper.rules.subjects import (
    LITERAL,
    NAMES,
    NOT,
    OWN,
    PURPOSE,
    SHALL,
    THING,
    THINGS,
    VERB,
    about,
    body,
    has_literal,
    is_general,
)
from memory_keeper.rules.wishes import ALLOW, DROP

SAID, TYPED = 12_000, 1_500  # characters: a longer prompt is a paste; one that was written elsewhere
SHORTEST, LONGEST = 6, 300  # characters of a sentence
LOOKED, MOST, TRIES = 2_000, 30, 4  # characters and sentences at either end; beginnings of an instruction in a sentence


class Instruction(NamedTuple):
    """An instruction, and the sentence that gives it."""

    said: str
    text: str
    wanted: bool = False  # it says who wants it: "I want you to", "make sure"
    takes: str = ""  # how it takes one back: ALLOW ("no need to run it any more") or DROP ("forget the rule: …")


def wanted(prompt: Event) -> Iterator[Instruction]:
    """The instructions of a prompt that hold for good."""
    return lasting(typed(prompt))


def typed(prompt: Event) -> str:
    """What somebody typed; nothing of what nobody did, nor of what a command is given, which is meant for that command,
    and a model can run one too."""
    own = prompt.kind == "prompt" and not prompt.agent and not prompt.extra
    return prompt.text if own and not prompt.text.lstrip().startswith((*NOTICES, *COMMANDS, "/")) else ""


def lasting(text: str) -> Iterator[Instruction]:
    """The instructions of somebody's own words that hold for good."""
    if len(text) > SAID:
        return
    said = [one for one in said_in(text) if SHORTEST <= len(one) <= LONGEST]
    said = [*said[:MOST], *said[MOST:][-MOST:]]
    around = _Around(len(text) < TYPED, any(LASTING.search(one) or RULE.search(one) for one in said))
    for sentence in said:
        if GIVES_UP.match(sentence) and sentence[-1] not in "?:":
            yield Instruction(sentence, sentence.rstrip(".! "), takes=DROP)
            continue
        if leave := _leave(sentence):
            yield Instruction(sentence, leave, takes=ALLOW)
            continue
        if classifier.is_another_s(sentence):
            continue
        instruction = _instruction(sentence)
        for clause in map(around.resolve, _clauses(instruction.text)):
            if _lasts(instruction, clause, around):
                yield instruction._replace(text=clause)
        around = around.after(sentence)


def said_in(text: str) -> list[str]:
    """What somebody says in words of their own, by sentence; a rule that is only part of one by itself."""
    own = spoken(text)
    if len(own) > 2 * LOOKED:
        own = f"{own[:LOOKED].rpartition('.')[0]}.\n\n{own[-LOOKED:].partition('.')[2]}"
    said: list[str] = []
    for one in _own_sentences(own):
        for sentence in BREAK.split(one):
            said = said[:-1] if NO_WAIT.match(sentence) else said
            said += [] if QUOTED.fullmatch(sentence) else classifier.apart(sentence)
    return said


def _own_sentences(text: str) -> list[str]:
    """The sentences of a text, without what a list of work says of what is to be built."""
    found = [one for one in sentences(text) if one.kind in ("prose", "item")]
    headed = re.search(r"[:：]\s*\n", text)  # as rules: what others head is not among one's own words
    work = not headed and any(one.kind == "item" and classifier.WORK.match(one.text) for one in found)
    return [one.text for one in found if not (work and one.kind == "item" and _is_part(one.text))]


def _is_part(item: str) -> bool:
    return bool(classifier.EVER.match(item)) and not classifier.is_habit(item)


NO_WAIT = re.compile(
    r"(?:(?:oh|ah|hmm)\W+)?(?:no\W+wait|wait\W+no|scratch that|on second thoughts?|actually,? no)\b", re.I
)
QUOTED = re.compile(r"[\"“][^\"“”]+[\"”][.!?]?")
BREAK = re.compile(r"(?<=[.!?。！？])(?<!e\.g\.)(?<!i\.e\.)\s+")  # who types may begin sentences small

# --- the instruction in a sentence ------------------------------------------------------------------------------------

INSTRUCTS = re.compile(
    rf"(?:{THINGS}(?: nam(?:es?|ing))?: |naming {OWN}{THINGS}: |only |{NOT} (?:ever )?)*"
    r"(?!mak(?:e|ing) sure|working on|keep \w+ing)"
    rf"(?:{VERB}|(?:(?<=stop )|(?<=avoid )|(?<=from ))\w+ing"
    r"|(?:(?<=never )|(?<=no longer )|(?<=not )|(?<=n['’]t ))(?!forget|(?:in|on|for|at|with|to|by|of|from)\b)\w+)\b"
    r"(?!:| (?:in mind|up|open|it up|me|us|ahead|forth|sure|back)\b)",
    re.I,
)
_ADVERB = r"(?: (?:also|now|really|just|all|strongly|usually|generally))*"
WANTED = re.compile(  # after these comes what is wanted
    r"\b(?<!if )(?<!when )(?<!what )(?<!where )(?:"
    rf"(?:i|we)(?:['’]d| would)?{_ADVERB} (?:want|need|like|love|expect|ask|require)"
    r"(?: (?:that|you|us|everyone|everybody|all|to|the use of))*"
    rf"|(?:i|we)(?:['’]m| am|['’]re| are){_ADVERB} (?:asking|requiring|expecting|standardi[sz]ing(?: on)?)"
    r"(?: (?:you|everyone|that|to))*"
    rf"|(?:i|we)(?:['’]d| would)?{_ADVERB}(?: prefer (?:that(?: you)?|you to|us to)|(?= (?:prefer|rather) ))"
    r"|please|kindly|(?:(?:be|make) sure|ensure)(?: (?:that|to|you['’]re|you are|you|they))*"
    r"|(?:decided|emphasi[sz]e) (?:that|to)|remember(?: (?:to|that|you|should))+|don['’]?t forget(?: (?:to|that))*"
    r"|(?:important|best|crucial|essential|vital|imperative|mandatory|critical)(?: for you)?(?: (?:that|to|you|we))+"
    r"|you(?:['’]ll)? (?:should|must|need to|have to|are to)|let['’]s"
    r"|(?:(?:emphasi[sz]e|stress|highlight|is) (?:the )?)?(?:consistent )?(?:importance|use|inclusion) of(?: always)?"
    r"|(?:rule|convention|standard|practice|polic(?:y|ies)|guideline|instruction|preference|requirement|habit|change"
    r"|update|style|thing)s?(?: (?!is\b|are\b|of\b)\w+(?:['’]\w+)?){0,8} (?:is|are|of|to|by)(?: (?:that|to|we|for))*"
    r"|(?:focus|attention|emphasis)(?: \w+){0,3} (?:on|to)|(?<=\w):|(?:but|and)(?= (?:always|never) )"
    r"|(?:^|(?<=[,:;—] )|(?<=that )|(?<=so ))we(?:['’]ll be)?(?= [a-z]+))(?=[ ,:—])",
    re.I,
)
BEGINS = re.compile(  # what may stand before an instruction and says nothing of it
    r"(?:(?:and|also|so|now|ok(?:ay)?|yes|yeah|no(?! longer)|well|but|plus|then|next|just"
    r"|first(?:ly)?(?: and foremost)?|second(?:ly)?|third(?:ly)?|finally|lastly|additionally|furthermore|moreover"
    r"|similarly|likewise|however|actually"
    r"|specifically|again|hey|hi|that(?:['’]s (?:wrong|incorrect|not (?:right|it|what i \w+)))?"
    r"|in addition|(?:one|another) (?:more |last |other )?thing|listen|we|you)\b"
    r"[,:—–\s-]+"
    r"|(?-i:[A-Z][a-z]+),\s+|even (?:if|when|though) [^,]{3,80}, |(?:want|need|like)(?: you| us)? to "
    rf"|to (?={VERB}\b)|prefer (?:that (?:you |we )?|you (?:to )?)|[\"“*_,:—–-]+\s*"
    r"|(?:start|begin|continue|keep|consider|get into the habit of|make a habit of|be) (?=(?!naming)\w+ing\b))",
    re.I,
)
AIMED = re.compile(
    r"(?:^|[\s,—])((?:for|regarding|when(?:ever)?|in|before|after|while|with|on) [^,;:.]{2,70})[,:—]?\s*$", re.I
)
_WHEN = (
    r"(?:from (?:now|here|this point|today)(?: on\w*| forward)?|(?:going|moving) forward|in (?:the )?future|henceforth"
    r"|as of (?:now|today)|at all times|consistently|always)"
)
ADVERBS = re.compile(rf"\b(?:always,? and i mean always|{_WHEN}|please|as well)\b", re.I)


def _instruction(sentence: str) -> Instruction:
    """The first instruction in a sentence, with what it is for; without one, all of it."""
    for wanted in (None, *islice(WANTED.finditer(sentence), TRIES)):
        text = _peeled(sentence[wanted.end() :] if wanted else sentence)
        aim = AIMED.search(_peeled(WANTED.sub(",", sentence[: wanted.start()]))) if wanted else None
        whole = f"{aim[1]}, {text}" if aim else text
        if VAGUE.search(body(text)) or (not wanted and re.match(r"\w+ing\b", text)):
            continue
        noun = wanted and wanted[0].casefold().endswith(" of") and is_general(whole)
        if noun or (_instructs(text) and (wanted or not SHALL.match(body(text)) or MUST.search(text))):
            return Instruction(sentence, whole, wanted is not None)
    return Instruction(sentence, _peeled(sentence))


def _instructs(clause: str) -> bool:
    """Whether a clause begins as an instruction does."""
    return bool(INSTRUCTS.match(body(clause)) or SHALL.match(body(clause)))


def _peeled(text: str) -> str:
    """A text without what says nothing of an instruction."""
    text = " ".join(ADVERBS.sub("", text).split()).replace(" ,", ",").strip(' "”“')
    while (begin := BEGINS.match(text)) and begin.end() < len(text):
        text = text[begin.end() :]
    return text.rstrip(".! ,")


# --- its clauses ------------------------------------------------------------------------------------------------------

AND = re.compile(
    r"[,;]? (?:and|but|while|plus|also)"
    r"(?: (?:also|then|please|always|to|you should|ensure(?: that)?|make sure(?: that)?))* "
    rf"(?=(?:{VERB}|for|all|every|{NOT}|(?:the |your )?{THING} names?)\b)|[;,] (?:we )?(?=(?:{VERB}) )",
    re.I,
)
USED = re.compile(r"us(?:e|ing) [\w.+#/@-]+", re.I)
NOT_USED = re.compile(rf"{NOT} (?:ever )?(?:us(?:e|ing) )?[\w.+#/@-]+", re.I)
REASON = re.compile(
    r",? (?:because|since|so that|so (?:we|it|they|you|i)|in order to|to (?:\w+ly )?(?:ensure|maintain|make|help|keep"
    r"|improve|explain|avoid|enhance|facilitate|provide|allow|enforce|promote|handle|clearly|easily|quickly|better|track"
    r"|identify|indicate|distinguish)|as (?:it|this|they|we|that|in)|which|for (?:better|improved|consistency|clarity"
    r"|easy|easier)|as part of|regardless|whether|especially|particularly|even (?:if|when|though)|wherever"
    r"|whenever (?:possible|applicable)|followed by|like (?:this|so))\b"
    r"| [—–-] |, (?:it|this|that|and (?:it|this|that)|so|as|for example|for instance)\b|;",
    re.I,
)
_SORT = r"(?:decorator|module|prefix|suffix|string)"
NAMED = re.compile(
    rf"((?:['\"`‘“]@?\w+['\"`’”]|@\w+) {_SORT}|['\"`‘“]@\w+['\"`’”])"
    r"|\b(?:importance|use) of (?:the )?((?:\w+ )?\w+s)\b",
    re.I,
)
THIS = re.compile(rf"\b(?:this|that|the) {_SORT}\b|\b(?:it|this|them)\b(?= (?:to|in|with|for) )", re.I)
THIS_ONE = re.compile(rf"\b(?:this|that) {_SORT}\b", re.I)
PRONOUN = re.compile(r"\b(?:them|they|their|(?:the|each|every|these|those) names?|with|it)\b", re.I)


class _Around(NamedTuple):
    """What a prompt says around a sentence."""

    typed: bool  # it was not pasted
    rules: bool  # it speaks of rules
    things: str = ""  # what "them" may mean
    named: str = ""  # what "this decorator" may mean

    def after(self, sentence: str) -> _Around:
        """With one more sentence."""
        things, named = NAMES.search(sentence), NAMED.search(sentence)
        meant = (named[1] or named[2]) if named else self.named
        return self._replace(things=things[0] if things else self.things, named=meant)

    def resolve(self, clause: str) -> str:
        """A clause that can stand alone."""
        if not _instructs(clause):
            return clause
        if self.named and (not LITERAL.search(clause) or THIS_ONE.search(clause)):
            clause = THIS.sub(lambda _: self.named, clause, count=1)
        leans = self.things and PRONOUN.search(clause) and not about(clause)
        return f"{self.things}: {clause}" if leans else clause


def _clauses(text: str) -> list[str]:
    """The instructions of a sentence that has several; none leans on the one before."""
    found: list[str] = []
    begin = 0
    for cut in AND.finditer(text):
        if _parts(text[begin : cut.start()], cut[0], text[cut.end() :]):
            found.append(_alone(text[begin : cut.start()], found))
            begin = cut.end()
    return [*found, _alone(text[begin:], found)]


def _parts(left: str, between: str, right: str) -> bool:
    """Whether both sides of an "and" are instructions; not where they choose: "use pnpm and not npm"."""
    either = _instructs(right) or "sure" in between or (has_literal(left) and has_literal(right))
    chooses = (NOT_USED.fullmatch(left) and USED.match(right)) or (USED.fullmatch(left) and NOT_USED.fullmatch(right))
    return bool(_instructs(left) and either and not chooses)


def _alone(clause: str, before: list[str]) -> str:
    """A clause without its reason, and with what it takes from the one before: "and end them with"."""
    end = REASON.search(clause, 12)
    kept = clause[: end.start()] if end else clause
    clause = kept if has_literal(kept) or not has_literal(clause) else clause
    if not before:
        return clause
    things, verb = NAMES.search(before[-1]), re.search(rf"\b{VERB}\b", before[-1], re.I)
    if things and not about(clause) and (PRONOUN.search(clause) or has_literal(clause)):
        return f"{things[0]}: {clause}"
    return clause if not verb or re.search(rf"\b{VERB}\b", clause, re.I) else f"{verb[0]} {clause}"


# --- what takes an instruction back -----------------------------------------------------------------------------------

LEAVE = re.compile(
    r"it(?:['’]s| is) (?:fine|ok(?:ay)?|all right) to (?!.*\b(?:it|this|that|them|these)\b)[^?]*$"
    r"|(?!.*\b(?:it|this|that|them|these)\b)(?:(?:there(?:['’]s| is) )?no (?:more )?need to \w"
    r"|you (?:don['’]?t|do not) (?:have|need) to \w|you (?:can|may) (?!also\b)\w"
    r"|[^:]{3,80} (?:is|are) (?:fine|ok(?:ay)?|allowed|all right)\b.{0,20}$"
    r"|[^:]{3,80} (?:(?:is|are)(?:n['’]t| not)|(?:is|are) no longer) (?:needed|necessary|required)\b.{0,20}$)[^?]*$",
    re.I,
)
AGAIN = re.compile(r"\b(?:again|any ?more|no longer|from now on|never ?mind)\b", re.I)
BESIDE = re.compile(
    r"^(?:(?:never ?mind|forget (?:it|that)|actually|ok(?:ay)?|well|no(?=,)|and|so)\b\W*)+|\bfrom now on\b,?", re.I
)


def _leave(sentence: str) -> str:
    """What a sentence allows again, or no longer asks for; empty when it does neither."""
    text = " ".join(BESIDE.sub("", sentence).split()).rstrip(".! ")
    return text if AGAIN.search(sentence) and LEAVE.match(text) else ""


# --- whether it lasts -------------------------------------------------------------------------------------------------

LASTING = re.compile(
    rf"\b(?:{_WHEN}|by default|as a rule|never|whenever|(?:every|each) time|even (?:if|when) (?:you|it|not|they)"
    r"|stop (?=\w+ing\b)|habit of|no longer|any ?more"
    r"|(?:our|team|project) (?:\w+ ){0,2}(?:convention|rule|standard|polic(?:y|ies)|practice)s? (?:is|are))\b",
    re.I,
)
WHENEVER = re.compile(  # wherever it stands
    rf"^(?:please )?stop \w+ing\b"
    rf"|\b(?:whenever|(?:every|each) time|{_WHEN}\W*$|no longer|any ?more|even (?:if|when) (?:you|it|not|they))\b",
    re.I,
)
WE = re.compile(
    r"\bwe(?:['’]ll be| will)? (?:(?:all|also|now|only|usually|typically|generally|primarily|mainly|normally|always) )*"
    r"(?:us(?:e|ing)|prefer|follow|prefix|suffix|start|end|begin|name|write|keep|put|include|require|avoid|indent|format"
    r"|commit|deploy|test|stick|never)\b",
    re.I,
)
ONE_OFF = re.compile(  # what is done once, to what is there
    r"(?:fix|update|change|refactor|remove|rename|move|convert|delete|review|list|check|run|show|find|look|revert|merge"
    r"|go|rebase|implement|create|make|build|replace|migrate|investigate|debug|try(?! statement| block|-| except)|test"
    r"|explain|summari[sz]e|take|set|read)\b",
    re.I,
)
HERE = re.compile(  # one place, one time
    r"\b(?:here|this (?:file|function|class|method|branch|pr|test|time|one|case|line|page|commit|bug|issue|next"
    r"|feature)|these (?:files|functions|tests|lines)|just (?:this )?once|the following|above|below|yet|anything"
    r"|right now|until|the other)\b"
    r"|\b(?:in|from|of|at) [`'\"]?[\w./-]*[\w-]+\.[a-z]{1,4}\b|\bPR #?\d|\bline \d",
    re.I,
)
ONCE = re.compile(  # one time, also where it says "always" or "never"
    r"\b(?:today|tonight|for (?:now|the moment|once)|at the moment|this (?:time|once|week|sprint|session))\b"
    r"|^(?:do not|don['’]?t|stop) \w+$|^the (?!code)\w+(?<!s) (?:should|must|shall)\b",
    re.I,
)
NOW = re.compile(r"(?<=\S )(?<!of )(?<!from )now\W*$|[\"'`’”] now, ", re.I)
TALKS = re.compile(  # about a rule, or about nothing
    r"(?:by|if|while|since|because|although|though|whether|what|how|why|when will|does|do you|did|could|can|would"
    r"|have you|are you|is there|it['’]s|let me|don['’]?t (?:hesitate|worry|be afraid)"
    r"|never (?:hesitate|mind|be afraid|underestimate|stop)|thank|that['’]s|this|it|these|those|there|they|he|she"
    r"|reach out|for (?:example|instance)|i|you)\b",
    re.I,
)
VAGUE = re.compile(
    r"\b(?:hesitate|reach out|in mind|yourself|be afraid|feel free|happy to|let me know)\b|^(?:do not|don['’]?t) have\b"
    r"|^never (?:have )?(?!need|feed|embed|exceed|proceed|shed)\w+ed\b|^never have \w+en\b|^never \w+[^su]s\b"
    rf"|^(?:{NOT} )?\w+ (?:it|this|that|them|these|those)\b(?! (?:to|in|with|for|end|start|{_SORT}))",
    re.I,
)
_RULE = r"(?:convention|standard|rule|guideline|practice|polic(?:y|ies)|style|instruction|requirement|format)s?\b"
RULE = re.compile(rf"\b{_RULE}", re.I)
SOME_RULE = re.compile(  # that there is one, not what it says
    r"\b(?:this|that|these|those|the|our|same|following|(?:a|an|some|any)? ?(?:new|specific|certain|particular|few"
    rf"|couple of|set of)|two|consistent)(?: [\w-]+){{0,3}} {_RULE}",
    re.I,
)
PREFERS = re.compile(r"(?:prefer|rather)\b", re.I)
COMPARES = re.compile(r"\b(?:over|to|than|instead|for|when|in)\b", re.I)
SEVERAL = re.compile(rf"\b{THING}(?<=s)$", re.I)
MUST = re.compile(r"\b(?:should|must|shall)\b", re.I)
YOURS = re.compile(r"\b(?:your?|our)\b", re.I)
PROJECT = re.compile(
    r"(?:^|\bwe )use (?!an? |the |this |it\b)[^,]{2,60} here$", re.I
)  # with "we": what is used in all of it
NOT_THAT = re.compile(r"use [\w.+#/@-]+(?: [\w.+#/@-]+)?, (?:not|never) [\w.+#/@-]+\b", re.I)


def _lasts(instruction: Instruction, clause: str, around: _Around) -> bool:
    """Whether an instruction holds for good."""
    said, rest = instruction.said, body(clause)
    if said[-1] in "?:" or len(clause) < SHORTEST:
        return False
    if any("\uac00" <= char <= "\ud7a3" for char in clause):
        return classifier.is_rule(said, around.typed)
    ever, general, literal = _says_so(said, rest), is_general(clause), has_literal(clause)
    ours = bool(WE.search(said))
    if _says_nothing(instruction, clause) or (ONCE.search(rest) and not literal) or (NOW.search(said) and not ours):
        return False
    if NOT_THAT.match(rest) or (ours and PROJECT.search(rest)):
        return around.typed
    if HERE.search(clause) and not ever:
        return False
    shall = SHALL.match(rest) and (instruction.wanted or MUST.search(rest))
    if not around.typed or not (INSTRUCTS.match(rest) or shall or (instruction.wanted and general)):
        return bool(ever or not around.typed) and classifier.is_rule(said, around.typed)
    if PREFERS.match(rest):
        return bool(COMPARES.search(rest) or literal or SEVERAL.search(rest))
    if ever:
        return not classifier.HAPPENS.search(clause)
    if ours and (general or literal or PURPOSE.search(clause)):
        return True
    corrects = re.match(r"no\b", said, re.I)
    if classifier.is_rule(f"No, {clause}" if corrects else said, around.typed):
        return not (corrects and (ONE_OFF.match(rest) or re.match(r"\w+ the \w+$", rest)))
    if ONE_OFF.match(rest) or not general:
        return False
    return bool(literal or NAMES.search(clause) or around.rules or YOURS.search(said))


def _says_so(said: str, rest: str) -> bool:
    """Whether a sentence says that its instruction holds for good; what comes later in it says so of something else."""
    begin = re.search(rf"\b{re.escape(rest.split()[0])}", said)
    return bool(LASTING.search(said[: begin.end() if begin else None]) or WHENEVER.search(said))


def _says_nothing(instruction: Instruction, clause: str) -> bool:
    """Whether a clause talks, or says only that there is a rule."""
    rest = body(clause)
    talks = TALKS.match(rest) and not instruction.wanted and not SHALL.match(rest)
    empty = not has_literal(clause) and (SOME_RULE.search(rest) or " " not in rest)
    return bool(talks or empty or VAGUE.search(rest))
