"""What somebody says in words of their own: not what they quote, paste or show as code.

A rule, a decision or a next step counts only where the one who says it means it. A mail that the user pastes, an issue
that the model reads out, a page between tags: these are somebody else's words, whoever brings them.

What is marked as such is easy to leave off (`own_words`). A paste often is not marked: it comes after a line that
announces it, or shows by what it looks like. For what is told to every later session that is too much to take on
trust, so there only what comes before the first sign of a paste counts (`spoken`).
"""

from __future__ import annotations

from collections import Counter

from memory_keeper import regex as re

FENCED = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.S | re.M)
QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.M)
INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,40})(?: [^<>\n]{0,200})?>")
SPAN = re.compile(r"\"[^\"\n]*(?:\n[^\"\n]+)?\"|“[^“”]{0,2000}”|«[^«»]{0,2000}»")
SHORT = 25  # characters in quotation marks that are a name or a value, and nobody's words
LONGEST = 60_000  # characters that are looked at
SHOWN = "…"  # stands for what is left off


def own_words(text: str) -> str:
    """A text without what it quotes: code, blocks between tags, lines after `>`, and long spans in quotation marks."""
    text = _without_blocks(text, "\n")
    return without_spans(QUOTED_LINE.sub("", text) if ">" in text else text)


def _without_blocks(text: str, instead: str) -> str:
    text = text[:LONGEST]
    if "```" in text or "~~~" in text:
        text = FENCED.sub(instead, text)
    if "</" in text:
        text = _untagged(text, instead)
    if "    " in text or "\t" in text:
        text = INDENTED.sub(f"\n{instead}", text)
    return text


def without_spans(text: str) -> str:
    """A text without what stands in quotation marks, if that is more than a name or a value."""
    if not any(mark in text for mark in '"“«'):
        return text
    return SPAN.sub(lambda span: f" {SHOWN} " if len(span[0]) >= SHORT + 2 else span[0], text)


def _untagged(text: str, instead: str) -> str:
    """A text without what stands between a tag and the end of it; one left open is a sign like others."""
    tags = list(TAG.finditer(text))
    ends = Counter(tag[2] for tag in tags if tag[1])
    kept, at, name, depth = [], 0, "", 0
    for tag in tags:
        ends[tag[2]] -= bool(tag[1])
        if not depth and not tag[1] and ends[tag[2]]:
            kept += [text[at : tag.start()], instead]
            name, depth = tag[2], 1
        elif depth and tag[2] == name:
            depth += -1 if tag[1] else 1
            at = tag.end()
            if depth and not ends[name]:
                depth = 0  # more were opened than closed
    return "".join((*kept, text[at:]))


# --- without any sign that it is a paste ------------------------------------------------------------------------------

PASTED = re.compile(  # a line that nobody writes in running words
    r"\s*(?:-{2,}|={3,}|\*{3,}|_{3,}|#{1,6}\s|#\d|\||//|/\*|<[A-Za-z/!?]|[$%❯➜]\s|>>>|Traceback\b"
    r"|\[(?!Image )[^\]\n]{1,60}\](?!\()|\d{4}-\d\d-\d\d|\d{1,2}:\d\d\b|(?:npm|yarn|pnpm) (?:warn|err|notice)"
    r"|(?:error|warn(?:ing)?|info|debug|fatal|panic)\b[\w ]{0,20}[:!\[(]|\w{0,40}(?:Error|Exception|Warning):"
    r"|[\w.-]{1,60}\s?=\s?\S|[\w.-]{1,40}/[\w./-]{1,80}:\d)"
    r"|.{1,60}[\s\[(]\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?[\])]?\s*$|.{0,400}[{};]\s*$",
    re.I,
)
GREETING = re.compile(r"\s*(?:hi|hello|hey|dear)\b[^.!?\n]{0,40},?\s*$", re.I)
SIGNED = re.compile(
    r"^[ \t]*(?:best|kind|warm|many)? ?(?:regards|wishes|best|cheers|sincerely|yours|thanks|thank you)[,.!]?[ \t]*\n"
    r"[ \t]*(?-i:[A-Z])[\w.-]{1,30}(?: (?-i:[A-Z])[\w.-]{1,30}){0,2}[ \t]*$",
    re.I | re.M,
)
COLON = re.compile(r":(?=\s|$)|：")
SOURCE = (
    r"(?:e-?mails?|letter|messages?|issue|ticket|bug|pr|pull request|errors?|warnings?|output|logs?|thread|comments?"
    r"|mails?|review|readme|docs?|documentation|page|article|blog|post|text|sentence|paragraph|snippet|transcript|chat"
    r"|conversation|stack ?trace|traceback|diff|patch|file|config|draft|quote)"
)
ANNOUNCES = re.compile(  # without a colon
    rf"\b(?:this|these|attached|forwarded|following)(?: \w+)? (?:{SOURCE}|code)\b[^.!?]{{0,60}}[.!?]?\s*$"
    r"|\b(?:below|the following|here(?:['’]s| is| are)|pasted?|see this|look at this)\b[^.!?]{0,60}[.!?]?\s*$",
    re.I,
)
RULE = r"(?:rule|convention|guideline|standard|polic(?:y|ie)|preference|requirement|instruction|practice|principle)s?\b"
OTHERS = re.compile(  # who speaks, or what is read
    r"\b(?:says?|said|saying|wrote|writes?|written|told|tells|reads?|states?|stated|claim\w*|suggest\w*|recommend\w*"
    r"|report\w*|complain\w*|replied|answered|posted|quot\w+|prints?|shows?|returns?|throws?|gives?|gave|got|gets?"
    r"|fail(?:s|ed)?|translat\w+|summari[sz]e|rephrase|reword|rewrite|proofread|paste\w*|below)\b"
    rf"|\b(?:this|these)\b(?!(?: \w+){{0,2}} {RULE})"
    r"|\w\.[a-z]{2,4}\b|://",
    re.I,
)
SOURCES = re.compile(rf"\b{SOURCE}\b", re.I)
MINE = re.compile(
    r"\b(?:i|we)(?:['’]ve| have| had| also| already| just)* (?:said|say|told you|mean|meant|mentioned|repeat"
    r"|want(?:ed)?(?=\W*$| is\b| to (?:be clear|emphasi[sz]e|stress|highlight|remind|repeat|impart|discuss|talk|touch"
    rf"|focus|shift|(?:give|introduce|update) you|update (?:\w+ ){{0,2}}{RULE})))\b(?! you)",
    re.I,
)
AIM = re.compile(
    r"\W*(?:(?:and|also|so|but) )*(?:for(?! (?:example|instance)\b)|when|whenever|regarding|as for|before|after)"
    r" [^,]{2,60}$",
    re.I,
)
OWN = re.compile(
    r"\b(?:from now on|(?:going|moving) forward|in (?:the )?future|remember|reminder|in mind)\b"
    r"|\b(?:topic|aspect|matter|update|point|thing)s?\W*$"
    r"|^\W*(?:(?:and|also|so|ok(?:ay)?|no|yes|well|but|now|then|next|plus|btw|fyi|ps|note|important|correction|please"
    r"|naming|style|in (?:short|general|other words)|the (?:point|idea|goal|key|reason) is)\W*)+$",
    re.I,
)

# --- rules before a colon: whose they are, and what is said of them ---------------------------------------------------

_FIRST = (  # what may stand before anything
    r"^\W*(?:(?:and|also|so|ok(?:ay)?|alright|no|yes|well|but|now|then|next|plus|btw|fyi|ps|oh|please|let['’]s"
    r"|first(?:ly)?|second(?:ly)?|finally|lastly|(?:moving )?on ?to|regarding|as for|for|note|important)\b\W*)*"
)
_PLAIN = (  # what a rule of one's own is called
    r"(?:(?:my|our|an?|one|two|some|more|few|another|other|new|first|last|following|these|general|important|specific"
    r"|simple|basic|strict|standing|key|main|small|quick|golden|house|(?:team|project|company)(?:['’]s)?|coding|code|naming"
    r"|style|commit|testing|formatting|python(?:-specific)?|updates? (?:to|on)"
    r"|the(?= (?:coding|naming|style|testing|formatting|(?:team|project|company)['’]s) ))\s+)"
)
_FOR = (  # what it is for, that is no program
    r"(?:\s+for (?:(?:all|new|our|your|my|the) )*(?:you|us|project|repo\w*|code(?:base)?|team|tests?|commits|branches"
    r"|naming|names|variables|functions|classes|modules))?"
)
_YOU = r"(?:i|we)(?:['’]d like| would like| want| need) (?:you|us) to\b"
OWN_RULE = re.compile(
    rf"{_FIRST}(?:always|never)\b"
    rf"|{_FIRST}(?:{_PLAIN}*(?:rule|convention|preference)s?|{_PLAIN}+{RULE}(?: and {RULE})?){_FOR}(?: (?:is|are))?\W*$"
    rf"|{_FIRST}the {_PLAIN}*{RULE}{_FOR} (?:is|are)\W*$"
    rf"|{_FIRST}(?:here|these) are (?:my|our) {_PLAIN}*{RULE}{_FOR}\W*$"
    rf"|{_FIRST}(?:stick to|follow|adopt|use|respect|don['’]t forget) (?:the )?{_PLAIN}*{RULE}\W*$"
    rf"|\b{RULE} (?:{_YOU} \w+|(?:i|we) prefer)\W*$|\b{_YOU} .*{RULE}\W*$"
    rf"|\b(?:i['’]m|i am|we['’]re|we are) updating .*{RULE}\W*$"
    rf"|{_FIRST}(?:(?:all|new|our|my|naming) )*(?:variable|function|method|class|constant|attribute|argument|module"
    r"|test)(?:s|es)?(?: nam(?:es?|ing))?\W*$",
    re.I,
)
HERE = re.compile(rf"{_FIRST}here are the {RULE}\W*$", re.I)
WISH = re.compile(rf"(?:first(?:ly)?\W+)?{_YOU}", re.I)
GIVES_UP = re.compile(  # a rule that held
    rf"{_FIRST}(?:(?:you can|can you|we can|we should|i want(?: you)? to)\W+)?"
    r"(?:delete|remove|drop|forget(?: about)?|cancel|scrap|lift|revoke|retract|ditch|discard|disregard|ignore"
    rf"|stop following|get rid of) (?:(?:the|my|our|that|this|old|previous|earlier|first|last|standing) )+{RULE}",
    re.I,
)
REFUSES = re.compile(
    r"\b(?:(?:delet|remov|cancel|revok|retract|repeal|ignor|disregard|abandon|discard|reject|oppos|disagree|doubt|dislik"
    r"|violat)\w*|drop|scrap|ditch|undo|hate|against|wrong|outdated|obsolete|old|former)\b"
    r"|(?<!n['’]t )(?<!not )(?<!never )\bforget\b|\b(?:i|we|you) never\b",
    re.I,
)
ASKS = re.compile(  # or speaks of somebody else's
    r"^\W*(?:is|are|was|were|do|does|did|should|can|could|would|what|which|where|why|how|who|whose)\b"
    r"|\b(?:why|whose|whether|their|his|her|its|they|he|she|someone|somebody)\b"
    r"|\b(?!(?:here|that|it|there|what|let|today|team|project|company)['’]s)\w+['’]s\b",
    re.I,
)

# --- where they begin and end -----------------------------------------------------------------------------------------


def spoken(text: str) -> str:
    """A text up to the first sign that somebody else speaks; after what is marked as shown, its author speaks again."""
    signed = SIGNED.search(text)
    kept: list[str] = []
    announced = quoted = False
    for line in without_spans(_without_blocks(text, f"\n{SHOWN}\n")).splitlines():
        said = line.strip()
        if not said or said == SHOWN or said[0] == ">":
            quoted = said[:1] == ">"
            announced &= not said
            kept.append("")
        elif announced or PASTED.match(line) or (bool(GREETING.match(line)) + any(kept) + bool(signed) > 1):
            break
        elif not quoted and not line.startswith(("    ", "\t")):
            own = _up_to_others(said)
            kept.append(own)
            if len(own) < len(said):
                break
            announced = not _is_own(own[:-1]) if own[-1] in ":：" else bool(ANNOUNCES.search(own[-200:]))
    return "\n".join(kept)


def _up_to_others(line: str) -> str:
    """A line up to the colon after which somebody else speaks; what is left off in quotation marks has been said."""
    for colon in COLON.finditer(line):
        rest = line[colon.end() :].lstrip()
        if rest and not rest.startswith(SHOWN) and not _goes_on(line[: colon.start()], rest):
            return line[: colon.end()]
    return line


def _goes_on(head: str, rest: str) -> bool:
    """Whether who says this, and then a colon, says the rest, too: in words of their own, or of a rule of theirs."""
    last = _last_sentence(head)
    return _is_own(head) or bool(GIVES_UP.match(last) or (HERE.match(last) and WISH.match(rest)))


def _last_sentence(text: str) -> str:
    return re.split(r"[.!?:…] ", text[-300:])[-1]


def _is_own(head: str) -> bool:
    """Whether who says this, and then a colon, goes on in words of their own."""
    head = _last_sentence(head)
    if REFUSES.search(head) or SOURCES.search(head):
        return False
    if MINE.search(head):
        return True
    if OTHERS.search(head) or ASKS.search(head):
        return False
    return bool(AIM.match(head) or OWN.search(head) or OWN_RULE.search(head))
