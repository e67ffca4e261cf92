"""Which sentences of the user's are rules: what shall always or never be, and is not said of something else.

A few words per language tell, and they tell wrongly where a sentence only looks alike: "it always fails" is no rule,
nor is what others want, or how something shall work that is to be built.
"""

from __future__ import annotations

from memory_keeper import regex as re
from memory_keeper.extract.own_words import GIVES_UP
from memory_keeper.rules.subjects import THING, VERB, has_literal, is_general

CLAUSE = r"(?:^|[,;:.…–—-] ?|\b(?:and|but|so|please|you|we|should|must|then)\s)"  # where one may begin
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
    rules, or an instruction and what holds for both, stay together."""
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
            continue  # "in tests, always …" is one instruction
        whole = left.strip() and len(CUE.sub("", right).split()) > 1
        if whole and not (both or LEANS.match(left) or LASTING.match(left) or _wants(left, True)):
            return left, right
    return None
