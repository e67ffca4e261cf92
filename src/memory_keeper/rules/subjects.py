"""What an instruction is about: the kinds of things that rules speak of, and what it says of them letter by letter."""

from __future__ import annotations

from memory_keeper import regex as re

_VERBS = (
    "use", "add", "include", "start", "begin", "end", "prefix", "suffix", "preface", "append", "finish", "name", "call",
    "write", "import", "put", "keep", "place", "have", "avoid", "prefer", "follow", "format", "indent", "annotate",
    "document", "decorate", "wrap", "log", "test", "commit", "push", "answer", "reply", "respond", "speak", "work",
    "take", "communicate", "set", "incorporate", "apply", "adopt", "stick", "limit", "leave", "run", "check", "make",
    "create", "store", "handle", "ask", "show", "tell", "explain", "read", "validate", "define", "declare", "separate",
    "group", "sort", "switch", "utilize", "utilise", "integrate", "insert", "comment", "implement",
)  # fmt: skip
VERB = rf"(?:{'|'.join(_VERBS)}|(?:{'|'.join(verb.removesuffix('e') for verb in _VERBS)})[nt]?ing)"
NOT = r"(?:never|do not|don['’]?t|stop|no longer|no|not|avoid|refrain from)"
THING = (  # what rules are about
    r"(?:(?:function|method|keyword) (?:argument|parameter)s?(?: variables?)?|commit messages?|pull requests?|PRs?"
    r"|(?:function|method|class) definitions?|functions?|methods?|class(?:es)?|variables?|attributes?|arguments?"
    r"|parameters?|properties|property|constants?|fields?|modules?|packages?|files?|tests?|components?|hooks?"
    r"|endpoints?|routes?|tables?|columns?|migrations?|commits?|branch(?:es)?|comments?|scripts?|quer(?:y|ies)|errors?"
    r"|exceptions?|types?|interfaces?|structs?|enums?|answers?|replies|responses?|messages?|code|projects?|programs?"
    r"|services?)"
)
OWN = r"(?:(?:of|your|our|the|my|new|python|public|private|a|an|all|every|each|any|both) ){0,4}"
THINGS = rf"({THING}(?:(?: names?)?(?:,| and|, and| or) {OWN}{THING}){{0,4}})"
NAMES = re.compile(  # how things are called
    rf"\b{THINGS} nam(?:es?|ing)\b|\bnam(?:es? of|ing|e) {OWN}{THINGS}\b"
    rf"|\b(?:declar|initiali[sz]|defin)ing {OWN}((?:function )?(?:argument|variable|attribute|constant)s?)\b",
    re.I,
)
ALL = re.compile(rf"\b(?<!before )(?<!after )(?:all|every|each|any|both)(?: of)? {OWN}{THINGS}\b", re.I)
_AT = (
    r"\b(?:in|into|within|inside|to|for|on|of|above|with|(?:writ|creat|defin|mak|add)ing"
    r"|you (?:write|create|define|make)) "
)
IN = re.compile(rf"{_AT}{OWN}{THINGS}\b(?! argument)", re.I)
KINDS = re.compile(  # any of them: not the one at hand
    rf"{_AT}(?:(?:an?|any|every|each|new) (?:new )?{THING}"
    rf"|(?:(?:your|our|my|new|python|public|private) ){{0,2}}(?:{THING}(?<=s)|code))\b(?! argument)",
    re.I,
)
LITERAL = re.compile(r"(?<!\w)['\"`‘“](@?[\w./:+*#@,-]{1,40}?)[.,]?['\"`’”](?!\w)|(?<![\w'\"`‘“])(@\w{2,40})\b")
CASES = re.compile(
    r"\b(?:snake|kebab|camel|pascal|title|upper|lower|screaming[_ ]snake)[-_ ]?case\b|\ball[- ]caps\b", re.I
)
PURPOSE = re.compile(  # use this for that
    r"\b(?:us(?:e|ing)|go with|(?:switch|transition)(?:ing)? to|prefer|stick (?:to|with))"
    r"(?: (?:only|the|a|an|our|your|their))* ([\w.+#/@-]+(?: [\w.+#-]+){0,2}?) (?:as|for)"
    r"(?: (?:the|our|your|all|a|my|any|main|primary|preferred))* ([\w-]+(?: [\w-]+){0,3})",
    re.I,
)


def has_literal(clause: str) -> bool:
    """Whether a clause says letter by letter what it wants."""
    return bool(LITERAL.search(clause) or CASES.search(clause))


def is_general(clause: str) -> bool:
    """Whether a clause speaks of a kind of thing."""
    return bool(NAMES.search(clause) or ALL.search(clause) or KINDS.search(clause))


SHALL = re.compile(  # how things shall be
    rf"(?:{OWN}{THINGS}(?: names?)?|they|(?:their|the|each|every) names?)(?: you (?:write|create|define|make))?"
    rf"(?: (?!{VERB})\w+){{0,3}} (?:should|must|need|ha(?:ve|s)|shall|ends?|starts?|begins?|includes?|are|be"
    r"|to (?:end|start|begin|include|have))\b",
    re.I,
)
AIM = re.compile(  # for what, or when
    r"(?:as )?(?:for|you|regarding|when|whenever|in|to|before|after|while|with|on) [^,]{2,70}[,:] (?:also |please )*",
    re.I,
)


def body(clause: str) -> str:
    """A clause without what it is for."""
    aim = AIM.match(clause)
    return clause[aim.end() :] if aim else clause


def about(clause: str) -> str:
    """The kinds of things that a clause is about, as it says them."""
    found = NAMES.search(clause) or ALL.search(clause) or IN.search(clause) or SHALL.match(clause)
    return next(filter(None, found.groups()), "") if found else ""
