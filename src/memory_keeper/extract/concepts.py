"""What a text speaks of: its names, numbers, and words without their endings."""

from __future__ import annotations

from memory_keeper import regex as re

TOKEN = re.compile(r"[A-Za-z_~@#.]?\w+(?:[./:@+-]+\w+)*|[\u2e80-\u9fff\uac00-\ud7a3]+")
WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?$")
ENDING = re.compile(r"(?<=[a-z]{3})(?:ations?|ings?|edly|ed|ies|es|s|ly|e)$")
WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7a3]+")
COMMON = """
the a an and or but if then else of to in on at by for with from as is are was were be been being it its this that these
those there here i we you he she they me my our your their not no so do does did done can could will would should may
might must have has had just also very now all any some into out up than too only about over after before when where
which who what how why let us them his her one more most other such it's i'll i'm let's don't that's there's i've we'll
you're get got make made see use using used need needs want like look good ok okay yes sure perfect great first next new
same still both each between through while because since
"""
STOP = frozenset(COMMON.split())


def concepts(text: str) -> frozenset[str]:
    """The concepts of a text. Names begin with a backtick; a path counts as its last part too."""
    found: set[str] = set()
    for token in TOKEN.findall(text):
        low = token.casefold()
        if token[1:] == low[1:] and WORD.match(low):
            if low not in STOP and len(low) > 2:
                found.add(ENDING.sub("", low))
        elif WIDE.match(token):
            found.update(token[at : at + 2] for at in range(max(1, len(token) - 1)))
        else:
            low = low.strip("./:@+-_~")
            if len(low) > 1 or low.isdigit():
                found.add(f"`{low}")
                if "/" in low:
                    found.add(f"`{low.rpartition('/')[2]}")
    return frozenset(found)


def is_name(concept: str) -> bool:
    """Whether a concept is a name or a number, no word of a language."""
    return concept[0] == "`"
