"""What a sentence claims to be: a rule of the user's, a decision and its reason, a dead end, something finished.

A few words per language tell, and they tell wrongly where a sentence only looks alike: "it always fails" is no rule,
"returns 5 instead of 0" no decision, "the user reverted it" no dead end. A wrong label misleads whoever reads it, a
missing one costs little. So a sentence counts only where it says who wants, settled or tried what.
"""

from __future__ import annotations

import re

from memory_keeper.extract.own_words import GIVES_UP
from memory_keeper.reduce.words.prose import unmarked
from memory_keeper.reduce.words.subjects import THING, VERB, has_literal, is_general

# --- rules -----------------------------------------------------------------------------------------------------------

CLAUSE = r"(?:^|[,;:.…–—-] ?|\b(?:and|but|so|please|you|we|should|must|then)\s)"  # where an order may begin
ONCE = r"(?!\s+(?:it|this|that|these|those|them|mind|seen|been|had|was|worry)\b)"  # this one time
NOT = r"(?:don['’]?t|do not)"
RULES = re.compile(  # in words that hardly ever mean anything else
    r"\bfrom now on\b|\bgoing forward\b"
    rf"|{CLAUSE}(?:please )?(?:always\s+(?!\w+ed\b)[a-z]|never\s+(?!mind|seen|been|had|was|again\b)[a-z])"
    rf"|(?:^|[,;:.…–—-] ?|\b(?:and|but|please|never)\s)(?:please )?(?:{NOT}|stop)(?: ever)?\s+"
    r"(?:us|do|add|commit|touch|chang|writ|run|creat|edit|push|delet|remov|modif|mock|skip|call|put|log|print|renam"
    rf"|import|ask|amend|mak|break|introduc|duplicat|cop|includ|mov|cach|rewrit|reformat|return|send|stor"
    rf"|install|instal)\w*{ONCE}"
    r"|\byou (?:must|should) (?:not|never|always)\s+[a-z]|\bmust (?:not|never|always)\s+[a-z]"
    r"|지\s?마(?:세요|라|시|요|$|[.!])|금지|면 안 (?:돼|되|됩)",
    re.I,
)
WANTS = re.compile(  # in what was typed, also these
    rf"^no[,.]? (?:please )?(?:{NOT} \w+|use|keep|put|make|call|name|write)\b{ONCE}"
    rf"|{CLAUSE}(?:please )?(?:let['’]?s )?use\s.{{2,80}}\s(?:instead|rather than)\b"
    r"|^(?:i(?:['’]d)?|please|we) prefer\s.{2,80}\s(?:over|to|instead|rather than)\b"
    rf"|\bi (?:said|told you) (?:to|not to|never|always|use|{NOT})\b"
    r"|^(?:please )?make sure\b.*\b(?:before|whenever|every|each|always|never)\b",
    re.I,
)
WANTS_KOREAN = re.compile(r"항상|언제나|절대|앞으로|이제부터|다음부터|말고|반드시")
ASKED_FOR = re.compile(  # how a sentence ends that asks for what these words begin
    r"(?:세요|시오|줘요?|라|자|것|야 (?:해요?|합니다|한다|돼요?|됩니다)|해야 \S+|바랍니다|부탁\S*)[.!~]*$"
)
HAPPENS = re.compile(  # "it always fails", "we don't always know"
    r"\b(?:it|this|that|they|which|we can|somehow|seems? to|is|are|was|were|will|would|causes?|not|also) (?:\w+ )?"
    r"(?:always|never)\b|n['’]t always\b|\bto always\b|^(?:always|never) \w+[^su]s\b",
    re.I,
)
ASKS = re.compile(  # for something now, which is no rule for later
    r"(?:(?:ok|and|so|hmm|also|now|yes|yeah)[,. ]+)*(?:can|could|would) (?:you|we) "
    r"(?!.*\b(?:always|never|from now on)\b)"
    r"|(?:how|what|why|hmm)\b",
    re.I,
)


REPORTS = re.compile(  # what others want
    r"(?<!\bi )(?<!\bwe )(?<!['’]ve )(?<!have )(?<!just )(?<!also )(?<!already )"
    r"\b(?:wrote|says|said|thinks|believes|claims|claimed|insists|argues|argued|suggests|suggested|recommends|recommended"
    r"|['’]s (?:opinion|view|idea|advice|suggestion|recommendation|proposal)(?: is)?|(?:their|his|her) \w+ is)\b"
    r".*\b(?:always|never|from now on|should|must)\b",
    re.I,
)
TELLS_WHY = re.compile(  # something is to be done: "we never use it, delete it"
    r"(?:^always|\b(?:i|we|you) (?:always|never))\b.*[,;:–—-] (?:(?:so|please|can you|then|and|just) )*"
    r"(?:fix|delete|remove|drop|change|repair|solve|do) (?:it|them|that|this)\b",
    re.I,
)
DOUBTS = re.compile(
    r"\b(?:disagree|dislike|hate|doubt|oppose|against|(?:don['’]?t|do not|never) (?:like|agree|want|need|understand))\b"
    r"[^.:]{0,40}\b(?:rule|convention|guideline|standard|policy|practice|instruction)s?\b",
    re.I,
)


def is_rule(sentence: str, typed: bool) -> bool:
    """Whether a sentence of the user's says how things shall be; of a plan, only where it begins with that."""
    return _wants(sentence, typed) and not is_another_s(sentence)


def is_another_s(sentence: str) -> bool:
    """Whether what a sentence wants for good is not for who is asked: it is given up, doubted, reported,
    or to be built."""
    others = (DOUBTS, REPORTS, TELLS_WHY)
    return bool(GIVES_UP.match(sentence) or _is_built(sentence) or any(one.search(sentence) for one in others))


def _wants(sentence: str, typed: bool) -> bool:
    if sentence[-1] in "?:" or HAPPENS.search(sentence) or ASKS.match(sentence):
        return False
    if not typed:  # a plan says "never" of many things; where it means us, it begins with it
        return bool(RULES.match(sentence) or (WANTS_KOREAN.match(sentence) and ASKED_FOR.search(sentence)))
    korean = WANTS_KOREAN.search(sentence) and ASKED_FOR.search(sentence)
    return bool(korean or RULES.search(sentence) or WANTS.search(sentence))


_CUE = r"(?:from now on|in (?:the )?future|going forward)"
BESIDE = re.compile(  # between what is asked for, or said in passing, and a rule in the same breath
    r"(?:[,;]?\s+(?P<and>but|and|also|plus|so)\s+(?:please |also )*|[,;]\s+|\s+[–—-]\s+)"
    rf"(?=(?:{_CUE}|(?:always|never)\b(?! \w+(?:ed|ing|[^su]s)\b))"
    r"(?!,? (?:in|on|for|with|when|if|at|to|as)\b)"
    rf"|(?P<order>{VERB}|{NOT}|stop)\b[^,;]*\b{_CUE}\W*$)",
    re.I,
)
LEANS = re.compile(  # on what follows
    r"\W*(?:(?:now|so|and|also|ok(?:ay)?)\W+)*(?:(?:if|when(?:ever)?|before|after|unless|until|while|once|since|because|although)\b"
    r"|(?:for|in|on|with|as|regarding)\b[^,]*$)",
    re.I,
)
ORDERED = re.compile(rf"(?:^\W*|\b(?:to|please|sure|you|we|should|must) ){VERB}\b", re.I)
LASTING = re.compile(r"\W*(?:avoid|prefer|follow|keep|stop)\b", re.I)  # for good, as a rule
CUE = re.compile(_CUE, re.I)
EVER = re.compile(r"(?:always|never)\b", re.I)
ONE_OFF = re.compile(
    r"\W*(?:please )?(?:add|implement|fix|refactor|rename|delete|remove|migrate|build|create|update|change|move)"
    r" (?!all\b|any\b|every\b)",
    re.I,
)
WORK = re.compile(  # what may be built, or done once
    r"\W*(?:(?:ok(?:ay)?|and|so|now|then|also|first|please|can you|could you|let['’]s|i want you to|we need to)\W+)*"
    r"(?:re)?(?:add|build|creat|implement|fix|writ|mak|factor|nam|mov|chang|updat|delet|print|show|convert|migrat|plac"
    r"|extend|improv|support|introduc|expos|turn|render|pars|handl|split|extract|port|upgrad|design|draft|finish|generat"
    r"|stor|sav|validat|set|put|cach|log|clean|check|test|view|merg|debug|document|do|run|deploy)e?(?:ing)?\b",
    re.I,
)
_ONE = r"(?! (?:it|them|this|that|these|those)\b)"
_CHECKS = (
    r"(?:the |all |our |your )?(?:[\w-]+ )?(?:tests?|test suite|suite|linter|lint|checks?|formatter|type checker)\b"
)
HABIT = re.compile(  # what only who does the work can do
    rf"(?:commit|push|force-push|amend|rebase|squash|merge|lint|mock){_ONE}\b"
    rf"|run (?:{_CHECKS}|`?(?:make|npm|pnpm|yarn|pytest|ruff|mypy|cargo|go|tox|pre-commit)\b)"
    rf"|write (?:{_CHECKS}|docs\b|docstrings|comments|commit|code\b)|ask (?:me|first|before)\b"
    r"|(?:answer|reply|respond|speak|talk|explain|comment)\b.*\b(?:in (?-i:[A-Z])|me\b|brief|short)"
    r"|format (?:with|the code|code)\b|follow (?:our|my|the)\b"
    rf"|(?:add|update|include) (?:{_CHECKS}|(?:the )?(?:docs|docstrings|types|changelog)\b)"
    r"|(?:use|prefer|avoid)(?! (?:the|an?|its?|their|this|that|more|less)\b)\b"
    r"|.*\b(?:before|after|when(?:ever)?) (?:you |each |every |an? |the )*"
    r"(?:commit|push|merg|deploy|edit|answer|finish|ask)\w*",
    re.I,
)
MANNER = re.compile(  # where it says "from now on", also these
    r"(?:run|use|write|commit|push|ask|test|format|answer|reply|respond|explain|lint|review|document|comment|merge"
    r"|rebase|deploy|speak|talk|prefer|avoid|follow|mock|log|touch|edit|change|skip|name|call|indent|install|import|work|tell"
    rf"|keep|stop)(?:ing)?\b{_ONE}",
    re.I,
)
BEFORE = re.compile(rf"\W*(?:(?:{_CUE}|please|also|always|never|ever|and|but|you|we|{NOT}|stop)\b\W*)+", re.I)
PRODUCT = re.compile(  # how it shall be
    rf"\W*(?:(?:the|our|this|an?) (?!{THING}\b)\w+(?: \w+)?|users?|admins?|it|they|nobody)"
    r" (?:must|should|shall|ha(?:s|ve) to|needs? to)\b.*\b(?:and|but|or) (?:always|never)\b",
    re.I,
)


def apart(sentence: str) -> list[str]:
    """What a sentence of the user's asks for, and the rule that it adds: "Fix it, and from now on run the tests". Two
    rules, or an order and what holds for both, stay together."""
    beside = _beside(sentence)
    return [*beside] if beside and not _is_built(sentence) else [sentence]


def is_habit(wanted: str) -> bool:
    """Whether what is wanted for good is a way of working, and not how something shall work that is built."""
    rest = BEFORE.sub("", wanted, count=1)
    cue = CUE.search(wanted) or re.search(r"\bagain\W*$", wanted)
    general = has_literal(wanted) or is_general(wanted)
    return bool(HABIT.match(rest) or (cue and (MANNER.match(rest) or general)))


def _is_built(sentence: str) -> bool:
    """Whether a sentence says how something shall work that is to be built: "Add a log and always flush it"."""
    beside = _beside(sentence)
    built = beside and WORK.match(beside[0]) and not is_habit(beside[1])
    return bool(built or PRODUCT.match(sentence))


def _beside(sentence: str) -> tuple[str, str] | None:
    for cut in BESIDE.finditer(sentence):
        left, right = sentence[: cut.start()], sentence[cut.end() :]
        both = cut["order"] and (cut["and"] or "").casefold() != "but" and ORDERED.search(left)
        if cut[0].strip() in (",", ";") and EVER.match(right) and not ONE_OFF.match(left):
            continue  # "in tests, always …" is one order
        whole = left.strip() and len(CUE.sub("", right).split()) > 1
        if whole and not (both or LEANS.match(left) or LASTING.match(left) or _wants(left, True)):
            return left, right
    return None


# --- decisions -------------------------------------------------------------------------------------------------------

SETTLED = re.compile(
    r"\b(?:i|we|you|the team)(?:['’]ve| have| has)? (?:(?:also|just|now|already|finally|all|both) )?"
    r"(?:decided|chose|opted|agreed|settled|picked|went with)\b"
    r"|\b(?:i['’]?ll|we['’]?ll|let['’]?s|i will|we will|i['’]?m|we['’]?re) (?:just )?(?:go|going|stick"
    r"|sticking) with\b"
    r"|^(?:decided|chose|opted|agreed|settled) (?:on|to|for|that|not|against)\b|\bdecision (?:is|was) to\b"
    r"|결정했|결정하였|결정됐|기로 했|기로 하(?:였|고|겠)|기로 합|기로 결정|선택했|채택했|채택하|확정했|통일했",
    re.I,
)
PICKED = re.compile(  # the user's own
    r"\blet['’]?s (?:not |just )?(?:use|keep|stick|drop|skip|leave)\b|^(?:yes|ok(?:ay)?|yeah)?[,. ]*go with\b", re.I
)
DO = (
    r"(?:us|keep|kept|key|stor|mov|chang|switch|replac|mak|made|add|pass|return|comput|call|read|writ|wrote|put|set"
    r"|leav|left|resolv|skip|drop|remov|renam|split|extract|inlin|updat|convert|compar|deriv|defin|treat|load|run"
    r"|implement|requir|check|build|built|inject|decompos|duplicat|merg|track|pin|buffer|avoid|defer|commit|suppress"
    r"|pars|cach|lock|simplif|refactor|restructur|reus|test|target|separat|restrict|limit|wrap|bump|poll|revert)"
    r"(?:s|d|e|es|ed|ing|t|p)?"
)
ACTED = re.compile(  # who acts: without it, a contrast or a reason only describes how something works
    r"(?:^|[,;:—–-] |\b(?:so|now|also|then|and) )(?:i|we)(?:['’](?:ll|ve)| will| have| now)? "
    rf"(?:(?:\w+ly|also|now|just|then|only|all|both) ){{0,2}}{DO}\b"
    r"|\bthe (?:fix|approach|solution) (?:is|was) to\b"
    r"|(?:했|하였|됐|바꿨|썼)습니다|[\uac00-\ud7a3](?:했|썼|바꿨)다",
    re.I,
)
PROMISES = re.compile(r"(?:so )?(?:i|we)['’](?:ll|ve) (?!be\b|been\b|see|let\b)[a-z]{3,} ", re.I)  # said with a reason
CHANGED = re.compile(  # of what the model says it did; its thoughts are not that far
    r"^(?:[^:]{1,40}: |[^ ]*`[^`]{1,60}`[^a-z]{0,6})?(?:now )?"
    r"(?:us(?:e|es|ed)|chang(?:e|ed)|switch(?:ed)?|replaced?|moved?|keep|kept|stored?|redesigned"
    r"|extract(?:ed)?|compared?|convert(?:ed)?|derived?)\b"
    r"|\bnow (?:uses?|calls?|returns?|stores?|reads?|writes?|computes?|derives?|requires?|goes|takes?|compares?"
    r"|passes)\b",
    re.I,
)
CONTRASTS = re.compile(r"\b(?:instead of|rather than)\b|대신", re.I)
REASONS = re.compile(r"\b(?:because|since|so that|the reason|due to|otherwise)\b|때문|이유|므로|하니까|라서|위해", re.I)
BEST = re.compile(
    r"\bthe (?:best|right|cleanest|simplest|correct|proper|safest) (?:approach|fix|way|solution|option)"
    r"(?: (?!or\b)\w+){0,4} (?:is|was) (?:(?:just|indeed|simply) )*(?:to \w|\w+ing\b)",
    re.I,
)
# a plan for the next minute, a guess, a question, what is wrong now, what may be done so or so: nothing was settled
AIMS = re.compile(
    r"^(?:(?:ok(?:ay)?|so|now|next|then|first|also|and|but|actually|alright|great|good|perfect|right|hmm|wait"
    r"|finally)"
    r"[,.:!—-]*\s+)*(?:let me|i (?:also )?(?:need|want|have) to|we need to|let['’]?s (?:check|see|look|try"
    r"|verify|run)"
    r"|i['’]?ll (?:also |now |just )?(?:need|have|check|look|see|try|verify|run|read|start|begin|take a look|wait)"
    r"|i['’]?m going to|looking|checking)\b"
    r"|(?:보겠습니다|볼게요|할게요|드리겠습니다|살펴보|확인하겠습니다|하겠습니다)[.!]*$",
    re.I,
)
GUESSES = re.compile(
    r"^if\b|^whether\b|[?:]$|\b(?:might|maybe|perhaps|could|would|probably|not sure|wonder|guessing|unless|either)\b"
    r"|\b(?:problem|issue|bug)(?: \w+)? ?(?:is|was|here|:)|\b(?:incorrectly|mistakenly|fail(?:s|ed|ing)? because)\b"
    r"|같습니다|일지도|할까요|을까요",
    re.I,
)
WAVERS = re.compile(
    r"^(?:or|but|and|wait|hmm|actually|alternatively|however|so if|then if|when|option|alternative|also consider)\b"
    r"|\bor (?:to|we|i|just|similar|ensure|use|add|keep|remove|rename|alternatively)\b"
    r"|\bif we (?:want|do|don)|\b(?:i|we) think\b.*\bbut\b",
    re.I,
)


def is_decision(sentence: str, said: bool = True) -> bool:
    """Whether a sentence of the model's says what was settled; thoughts, not `said`, go back and forth."""
    if sentence[-1] in "?:" or WAVERS.search(sentence) or sentence.count(" ") < 2:
        return False
    if SETTLED.search(sentence):
        return True
    if AIMS.search(sentence) or GUESSES.search(sentence):
        return False
    if CONTRASTS.search(sentence):
        return bool(ACTED.search(sentence) or (said and CHANGED.search(sentence)))
    reason = reason_of(sentence) if REASONS.search(sentence) else ""
    settled = sentence.replace(reason, "")  # who acts only in the reason has settled nothing
    return bool(
        (reason and (ACTED.search(settled) or (said and PROMISES.match(settled))))
        or ((said or reason) and BEST.search(settled))
    )


def is_users_decision(sentence: str) -> bool:
    """Whether a sentence of the user's settles something; which of the choices given, is seen elsewhere."""
    if chosen(sentence):
        return False
    asks = sentence[-1] in "?:" or ASKS.match(sentence)
    return not asks and bool(SETTLED.search(sentence) or PICKED.search(sentence))


CHOSEN = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|yep|sure|hmm+)?[\s,.!–—-]*(?:i(?:['’]d)? (?:like|prefer|think|say)\s+"
    r"|let['’]?s (?:just )?"
    r"(?:try|do|go (?:with|for)|use|take|pick)\s+|go (?:with|for)\s+|do\s+|use\s+|take\s+|pick\s+)?"
    r"(?:the )?(?:option|approach|variant|choice|number|solution|plan)?\s*#?\(?([A-Ea-e]|[1-9])\)?"
    r"(?:[\s,.!=]*(?:please|then|it is|sounds good|is (?:good|fine|right|better|the right approach))?)?[\s.!=,]*$",
    re.I,
)


def chosen(sentence: str) -> str:
    """The mark of the choice that a sentence makes and says nothing else: "let's go with A"; else nothing."""
    found = CHOSEN.match(sentence) if len(sentence) < 60 else None
    return found[1] if found else ""


def choice(text: str, mark: str) -> str:
    """What an answer offered under a mark, the last time it did: empty when it did not."""
    offered = re.findall(
        rf"^[\s>*#_-]*(?:option |approach |variant |choice |solution "
        rf"|plan )?\(?{re.escape(mark)}[.):][\s*_:.–—-]*(\S.{{8,}})$",
        text,
        re.I | re.M,
    )
    return unmarked(offered[-1]).strip().rstrip("*:").strip() if offered else ""


BECAUSE = re.compile(
    r"^(?:since|because) ([^,]{3,}(?:, [^,]{3,})??), (?=(?:i|we|the|let|it|this|that|you|they|so|there)\b)"
    r"|^(?!if\b|when\b)(.{12,}?), so (?:i|we|let['’]?s)(?:['’]|\b)"
    r"|\b(?:because|so that|due to|the reason (?:is|being)(?: that)?"
    r"|since(?! (?:the |our |my |we )?(?:last|previous|first|start|beginning|then|yesterday|\d)))\b(?! of )(.*)$"
    r"|, so (?!that\b)((?:the|it|they|this|users?|callers?|no|nothing|each|every|all)\b.*)$"
    r"|\b(to (?:avoid|prevent|preserve|ensure) .*)$"
    r"|([^,.]*?(?:때문에|때문이|때문입|므로|라서|니까|위해서?|이유로))|이유는 ([^.]+)",
    re.I,
)
# where a reason in the middle of a sentence ends, and what was settled goes on
MAIN = re.compile(
    r", (?:so )?(?:i|we|let['’]?s|i['’]?ll|we['’]?ll|the (?:best|right|cleanest|simplest|correct|fix))\b.*$", re.I
)
WHY = re.compile(  # a sentence that is the reason of the one before
    r"^(?:this|that|it)(?:['’]s| is| was) because (.{5,})|^(?:the )?(?:reason|rationale|why)(?: is(?: that)?"
    r"|:) (.{5,})"
    r"|^because ([^,]{5,})$|^(?:왜냐하면 )?(.{3,}때문(?:입니다|이다|이에요|이었습니다|임)[.!]*)$|^이유[는:] ?(.{3,})",
    re.I,
)


def reason_of(sentence: str, after: str = "") -> str:
    """The part of a sentence that says why, else the one after it where it does; empty when none does."""
    reason = MAIN.sub("", _part(BECAUSE, sentence))
    return reason if reason and len(reason) < 0.9 * len(sentence) else _part(WHY, after)


def _part(pattern: re.Pattern[str], sentence: str) -> str:
    found = pattern.search(sentence)
    return next((part.strip() for part in found.groups() if part), "") if found else ""


# --- what came of it -------------------------------------------------------------------------------------------------

ENDS = re.compile(
    r"\bturn(?:s|ed) out\b|\b(?:i|we) (?:was|were) (?:wrong|mistaken) (?:about|that|to|in|when|before)\b"
    r"|\bmy (?:assumption|(?:earlier|first|previous|initial) \w+) was (?:wrong|mistaken|not)\b"
    r"|\b(?:didn['’]?t|did not) (?:actually )?(?:work|help)\b"
    r"|\b(?:that|this)(?: \w+)? (?:won['’]?t|doesn['’]?t|does not|will not) work\b.{0,20}(?:because|since|—|–| - )"
    r"|\b(?:wasn['’]?t|was not|is not|isn['’]?t|not) the (?:actual |real |root )?(?:issue|cause|problem|culprit)\b"
    r"|\bwrong (?:approach|assumption|direction)\b|\bdead end\b|\bfalse alarm\b"
    r"|\b(?:approach|idea|attempt|fix) (?:failed|broke|backfired)\b"
    r"|^(?:\w+,? ){0,2}(?:i|i['’]ve|we|we['’]ve) (?:have |just )?reverted\b"
    r"|\b(?:let me|i['’]?ll|i should) (?:revert|undo|back out)\b.*\b(?:instead|keep)\b"
    r"|알고 보니|틀렸|잘못 (?:알|생각|봤|이해)|(?:작동|동작|해결)(?:하|되)지 않았|안 됐|되돌렸|롤백했"
    r"|원인[이은] 아니|문제가 아니|소용이? ?없|잘못 짚",
    re.I,
)
# what only points at something, what may be, what another did
POINTS = re.compile(
    r"^(?:\w+,? )?(?:that|this|it|which)(?:['’]s| is| was| wasn['’]?t| isn['’]?t) (?:\w+ )?(?:not )?the\b"
    r"|\bso (?:that|this|it)['’]s\b|\b(?:may|don['’]?t think|e\.g)\b|\bif (?:it|that|this) turns\b"
    r"|\bscenario|\bfirst, then\b|\bfailing test\b|\bunrelated\b|\breverted (?:files|content|those changes)\b"
    r"|\bin my earlier reply\b",
    re.I,
)
FINISHED = re.compile(
    r"^(?:(?:i|we|i['’]ve|we['’]ve) )?(?:(?:now|just|also) )?(?:fixed|added|implemented|removed|renamed|moved|created"
    r"|updated|replaced|committed|merged|released|deployed|resolved|refactored|extracted|introduced|rewrote)\b"
    r"|\b(?:is|are) now (?:done|fixed|in place|complete|working)\b"
    r"|(?:완료|수정|추가|구현|변경|삭제|해결|반영|적용|작성|배포)(?:했|됐|되었|하였)|고쳤|끝냈|마쳤",
    re.I,
)
PASSES = re.compile(  # that tests pass, the tests tell themselves
    r"\b(?:tests?|checks?|lint\w*)\b.{0,40}\b(?:pass\w*|clean|green)\b|테스트.{0,20}통과", re.I
)


def is_dead_end(sentence: str) -> bool:
    """Whether a sentence of the model's names something that was tried or believed, and was wrong."""
    if sentence[-1] in "?:" or not ENDS.search(sentence) or GUESSES.search(sentence) or POINTS.search(sentence):
        return False
    return sentence.count(" ") > 3 or any("\uac00" <= char <= "\ud7a3" for char in sentence)


def is_done(sentence: str) -> bool:
    """Whether a sentence of the model's says that something was finished."""
    return sentence[-1] not in "?:" and bool(FINISHED.search(sentence)) and not PASSES.search(sentence)


FEW = 8  # words of a sentence that announces something wherever it does so
NAMES = re.compile(r"`[^`]+`|\b\w+[./]\w*[A-Za-z]\w*\b|\b[a-z]+(?:[A-Z]|_)\w+|\d")
WORDS = re.compile(r"[^\W_]+")
SAYS_NOTHING = re.compile(  # by itself
    r"^(?:perfect|great|good|excellent|done|fixed|ok(?:ay)?|sure|right|yes|no|you['’]re (?:absolutely )?right|got it"
    r"|good (?:catch|question|point|idea)|makes sense|i (?:can )?see(?: (?:the|an) (?:issue|problem|pattern)"
    r"| what \w+)?(?: clearly)?(?: now)?|i think i found it"
    r"|(?:there['’]?s|there is|found) (?:an|the) (?:issue|problem)|good \w+ results|all done"
    r"|now i (?:see|understand)(?: the \w+)?|pushed|committed"
    r"|커밋했습니다|고쳤습니다|완료했습니다|네|알겠습니다)[\s.!:—-]*$",
    re.I,
)
BEGINS = re.compile(  # to do something, and has not done it
    r"^(?:(?:ok(?:ay)?|so|now|next|then|first|also|and|but|actually|alright|great|good|perfect|right|hmm|wait|finally"
    r"|yes|sure|excellent)[,.:!—-]*\s+)*(?:let me|let['’]?s|i['’]?ll|i will|i['’]?m going to|i(?: also| still"
    r"| now)? (?:need|have|want) to|need to"
    r"|now (?:add|update|fix|run|let|create|write|check|build|apply|commit|for|the)|time to|looking at"
    r"|checking|running"
    r"|add(?:ing)?|updat(?:e|ing)|replying)\b"
    r"|^now (?!(?:it|they|all|both|this|that|there|everything|each|every|you)\b)"
    r"(?!.*\b(?:is|are|was|were|has|have|can|works?|pass(?:es)?|uses?|returns?|builds?|compiles?)\b)"
    r"|(?:보겠습니다|볼게요|할게요|드리겠습니다|하겠습니다)[.!:]*$",
    re.I,
)


def states(sentence: str) -> bool:
    """Whether a sentence of the model's tells a reader something: no question, nothing that it only begins to do."""
    if not sentence or sentence[-1] in ":?？" or SAYS_NOTHING.match(sentence) or announces(sentence):
        return False
    return len(WORDS.findall(sentence)) > 2 or len(sentence) > 20 or bool(NAMES.search(sentence))


def announces(sentence: str) -> bool:
    """Whether a sentence of the model's says what it does next."""
    begins = BEGINS.search(sentence) or (len(sentence.split()) < FEW and "let me" in sentence.casefold())
    return bool(begins) and not (REASONS.search(sentence) and CONTRASTS.search(sentence))
