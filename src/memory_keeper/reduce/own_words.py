"""What somebody says in words of their own: not what they quote, paste or show as code.

A rule, a decision or a next step counts only where the one who says it means it. A mail that the user pastes, an issue
that the model reads out, a page between tags: these are somebody else's words, whoever brings them.
"""

from __future__ import annotations

import re

FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.S | re.M)
QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.M)
INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
TAGGED = re.compile(r"<([A-Za-z][\w-]{0,40})(?: [^<>\n]{0,200})?>.*?</\1>", re.S)
SPAN = re.compile(r"\"[^\"\n]{25,2000}\"|“[^”\n]{25,2000}”|«[^»\n]{25,2000}»")
LONGEST = 60_000  # characters that are looked at


def own_words(text: str) -> str:
    """A text without what it quotes: code, blocks between tags, lines after `>`, and long spans in quotation marks."""
    text = text[:LONGEST]
    if "```" in text or "~~~" in text:
        text = FENCED.sub("\n", text)
    if "</" in text:
        text = TAGGED.sub("\n", text)
    if "    " in text or "\t" in text:
        text = INDENTED.sub("\n\n", text)
    if ">" in text:
        text = QUOTED_LINE.sub("", text)
    return SPAN.sub(" … ", text) if any(mark in text for mark in '"“«') else text
