"""Text under a budget, and text nobody vouches for: count it, cut it, make it safe to keep and to show.

Every character has a fixed price in thousandths of a token, so a price is a sum: a longer text never costs less, and
the longest part that fits is found by halving. Nothing here needs `re`; `unicodedata` is loaded only when a cut falls
next to a character that is not ASCII (both would cost every hook milliseconds).
"""

from __future__ import annotations

from time import gmtime, localtime, strftime

from memory_keeper.request import version_of

# --- tokens ----------------------------------------------------------------------------------------------------------

# No tokenizer of these models is public: the prices were fitted on the usage that real transcripts report. On other
# projects than the fitted ones the sum is 0.9 % low; a single text is off by 9.5 % (claude-4) or 7.3 % (claude-5).
# Hangul is measured on few texts, the other scripts are guesses.
_KINDS = (
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b" \t\r",
    b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    b"0123456789",
    b"\n",
    bytes(range(0xEA, 0xEE)),  # from here on the first byte of a UTF-8 sequence: hangul
    bytes(range(0xE3, 0xEA)),  # kana and han
    b"\xe2",  # arrows, dashes, box drawing
    bytes(range(0xC3, 0xE0)),  # accented latin, greek, cyrillic, hebrew, arabic
    b"\xc2\xe0\xe1\xee\xef" + bytes(range(0xF0, 0xF5)) + bytes({*range(0x20)} - {9, 10, 13}) + b"\x7f",
)
# A blank was fitted at 0. It costs a hundredth of a token here, so that no text, however long, is free.
_PRICES = {
    "claude-4": (233, 10, 883, 750, 2673, 1630, 1200, 500, 1000, 800),
    "claude-5": (355, 10, 1059, 666, 1522, 1900, 1400, 800, 1200, 1000),
}
NEWEST = "claude-5"
CALL = 70  # what a tool call costs beside its text, in tokens (both families)
_CONTINUED = bytes(range(0x80, 0xC0))


def tokens(text: str, family: str = NEWEST) -> int:
    """About how many tokens this text is, rounded up: parts never seem to cost less than the whole they make."""
    return -(-_price(text, _PRICES[family]) // 1000)


def _price(text: str, prices: tuple[int, ...] = _PRICES[NEWEST]) -> int:
    left = text.encode("utf-8", "surrogatepass")
    if len(left) != len(text):
        left = left.translate(None, _CONTINUED)
    price = 0
    for kind, each in zip(_KINDS, prices, strict=True):
        if not left:
            break
        rest = left.translate(None, kind)
        price += each * (len(left) - len(rest))
        left = rest
    return price


def family(model: str) -> str:
    """Which tokenizer a model has: `claude-4` up to 4.6, `claude-5` from 4.7 on and for names we do not know."""
    version = version_of(model)
    return "claude-4" if version and version[:2] < [4, 7] else NEWEST


# --- ids -------------------------------------------------------------------------------------------------------------


def digest_of(*parts: str) -> str:
    """A short id for some texts together: the same for the same ones."""
    try:
        from _blake2 import blake2s  # `hashlib` would load OpenSSL as well: 2.5 ms of every start
    except ImportError:
        from hashlib import blake2s

    return blake2s("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


# --- cuts ------------------------------------------------------------------------------------------------------------


def clip(text: str, budget: int, mark: str = "…") -> str:
    """The longest beginning that fits, `mark` included; text that fits comes back as it is.

    It ends at a line, else a sentence, else a word when that keeps three fifths of what would fit, and never inside
    what a reader sees as one character. A mark that does not fit is left off.
    """
    room = budget * 1000
    if _fit(text, room) == len(text):
        return text
    room, mark = _after(mark, room)
    return text[: _end(text, _fit(text, room))] + mark


def clip_middle(text: str, budget: int, mark: str = " … ") -> str:
    """Two parts of the beginning and one of the end, with `mark` between them; else the same promises as `clip`."""
    room = budget * 1000
    if _fit(text, room) == len(text):
        return text
    room, mark = _after(mark, room)
    head = _end(text, _fit(text, room * 2 // 3))
    tail = _start(text, len(text) - _fit(text[::-1], room - room * 2 // 3))
    return text[:head] + mark + text[tail:]


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line of at most `limit` characters, every run of white space folded into one blank."""
    if limit < 1:
        return ""
    line = " ".join(text.split(None, limit))  # more words than that never fit: the rest need not be looked at
    if len(line) <= limit:
        return line
    cut = len(line[: limit - 1].rstrip())
    while _inside(line, cut):
        cut -= 1
    return line[:cut] + "…"


def _after(mark: str, room: int) -> tuple[int, str]:
    left = room - _price(mark)
    return (left, mark) if left >= 0 else (room, "")


def _fit(text: str, room: int) -> int:
    """How many characters fit. Growing steps, then halving the first one that does not fit: never reads far past it."""
    done, step = 0, max(64, room // 250)
    while done < len(text):
        price = _price(text[done : done + step])
        if price > room:
            break
        done, room, step = done + step, room - price, step * 2
    else:
        return len(text)
    while step > 1:
        half = step // 2
        price = _price(text[done : done + half])
        if price > room:
            step = half
        else:
            done, room, step = done + half, room - price, step - half
    return done


_SENTENCES = (". ", "! ", "? ", '." ', ".) ", "다.", "요.", "。", "！", "？")
_BLANKS = (" ", "\t", "\u3000")


def _end(text: str, most: int) -> int:
    """Where to stop at or before `most`."""
    least = most * 3 // 5
    cut = text.rfind("\n", least, most + 1)
    if cut < 0:  # the blank after a sentence may be what did not fit, the sentence may not
        cuts = [(text.rfind(end, least, most + (end[-1] == " ")), end) for end in _SENTENCES]
        cut = max(at + len(end.rstrip()) if at >= 0 else -1 for at, end in cuts)
    if cut < 0:
        cut = max(text.rfind(blank, least, most + 1) for blank in _BLANKS)
    cut = len(text[: most if cut < 0 else cut].rstrip())
    while _inside(text, cut):
        cut -= 1
    return cut


def _start(text: str, least: int) -> int:
    """Where to go on at or after `least`."""
    most = len(text) - (len(text) - least) * 3 // 5
    cut = text.find("\n", max(least - 1, 0), most) + 1
    for ends in (_SENTENCES, _BLANKS):
        if not cut:
            cuts = [(text.find(end, max(least - len(end), 0), most), end) for end in ends]
            cut = min((at + len(end) for at, end in cuts if at >= 0), default=0)
            while text[cut : cut + 1] == " " and cut:
                cut += 1
    cut = cut or least
    while _inside(text, cut):
        cut += 1
    return cut


_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of these letters are one flag
_EXTENDS = "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"  # they continue a character though their category is not "mark"
_PREPENDS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3\U000113d1"
    "\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)


def _inside(text: str, cut: int) -> bool:
    """Whether a cut here would split what a reader sees as one character: Unicode's grapheme cluster, at times more."""
    if not 0 < cut < len(text):
        return False
    before, after = text[cut - 1], text[cut]
    if before < "\x80" and after < "\x80":
        return before == "\r" and after == "\n"
    from unicodedata import category, combining

    if category(after) in ("Mn", "Mc", "Me", "Cn") or after in _EXTENDS:  # Cn: may be a mark younger than this Python
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":  # skin tones, flags of regions
        return True
    if before == "\u200d" or before in _PREPENDS:
        return True
    if after in _FLAGS and before in _FLAGS:
        return (cut - len(text[:cut].rstrip(_FLAGS))) % 2 == 1
    if _hangul(before) and _hangul(after):  # whole syllables stand alone, the letters they are made of do not
        waits = before < "\u1160" or "\ua960" <= before <= "\ua97c"
        return waits or "\u1160" <= after <= "\u11ff" or after > "\ud7a3"
    while cut > 1 and (before == "\u200d" or combining(before) not in (0, 9)):  # 9: the virama that joins consonants
        cut -= 1
        before = text[cut - 1]
    return combining(before) == 9 and after.isalpha()


def _hangul(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\ua960" <= char <= "\ua97c" or "\uac00" <= char <= "\ud7fb"


# --- text from outside -----------------------------------------------------------------------------------------------

_CONTROLS = bytes({*range(0x20), 0x7F} - {9, 10})
_UNSEEN = tuple(  # from, to: what shows nothing, or changes how its neighbours show
    zip(
        "\0\x0b\x7f\xad\u034f\u061c\u115f\u17b4\u180b\u200b\u200e\u202a\u2060\u3164\ufe00\ufeff\uffa0\ufff0\U0001bca0\U0001d173\U000e0000",
        "\b\x1f\x9f\xad\u034f\u061c\u1160\u17b5\u180f\u200b\u200f\u202e\u206f\u3164\ufe0d\ufeff\uffa0\ufffb\U0001bca3\U0001d17a\U000e0fff",
        strict=True,
    )
)
_JOINERS = "\ufe0e\ufe0f\u200c\u200d"  # nothing by themselves, but they make one emoji of several, or join letters
_STRINGS = "]PX^_"  # the escape sequences that carry a string: title, clipboard, image, …
_EIGHT_BIT = {"\x9b": "\x1b[", "\x9d": "\x1b]", "\x90": "\x1bP", "\x98": "\x1bX", "\x9e": "\x1b^", "\x9f": "\x1b_"}


def clean(text: str) -> str:
    """Text that shows what it says: no controls but newline and tab, no escape sequences, nothing hidden or reordered.

    A carriage return becomes a newline: on a terminal it would let the rest of a line hide its beginning. An escape
    sequence that never ends goes to the end of its line. Cleaning twice is cleaning once.
    """
    plain = text.isascii()
    if not plain:
        for short, long in _EIGHT_BIT.items():
            text = text.replace(short, long)
    if "\x1b" in text:
        text = _without_escapes(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if plain:
        data = text.encode()
        left = data.translate(None, _CONTROLS)
        return text if len(left) == len(data) else left.decode()
    return _joined(_visible(text))


def _without_escapes(text: str) -> str:
    kept, *pieces = text.split("\x1b")  # each piece begins with what followed an escape character
    out, string = [kept], False
    for piece in pieces:
        ended, string = string and piece[:1] == "\\", False
        if ended:
            piece = piece[1:]
        elif piece[:1] == "[":
            piece = _tail(piece[1:].lstrip("0123456789:;<=>?").lstrip(" !\"#$%&'()*+,-./"), "@")
        elif piece and piece[0] in _STRINGS:
            ends = [at for at in map(piece.find, ("\x07", "\x9c", "\n", "\r")) if at >= 0]
            string = not ends  # it goes on to the next escape character, which should begin its end
            piece = piece[min(ends) :] if ends else ""
        else:
            piece = _tail(piece.lstrip(" !\"#$%&'()*+,-./"), "0")
        out.append(piece)
    return "".join(out)


def _tail(piece: str, first: str) -> str:
    """What is left of a piece after the one character that ends its escape sequence."""
    return piece[1:] if first <= piece[:1] <= "~" else piece


def _visible(text: str) -> str:
    odd = {}
    for char in set(text):  # far fewer than the text has: a table of all that may go would be slow to build and to use
        if " " <= char <= "~" or "\u3165" <= char < "\ud800":  # most of any text: ASCII, Han, Hangul
            continue
        if "\ud800" <= char <= "\udfff":
            odd[ord(char)] = "\ufffd"
        elif char in "\u2028\u2029":
            odd[ord(char)] = "\n"
        elif any(a <= char <= b for a, b in _UNSEEN):
            odd[ord(char)] = ""
    return text.translate(odd) if odd else text


def _joined(text: str) -> str:
    """Drops joiners and variation selectors where they join nothing: a place to hide things in."""
    for joiner in _JOINERS:
        if joiner in text:
            first, *parts = text.split(joiner)
            out, before = [first], first[-1:]
            for part in parts:
                out.append(joiner + part if _joins(before, joiner, part[:1]) else part)
                before = out[-1][-1:] or before
            text = "".join(out)
    return text


def _joins(before: str, joiner: str, after: str) -> bool:
    if joiner >= "\ufe00":
        return _pictures(before) or (before in (*"#*0123456789",) and after == "\u20e3")
    if "\u0600" <= before <= "\u0dff" and "\u0600" <= after <= "\u0dff":  # Persian and the scripts of India need them
        return True
    return joiner == "\u200d" and (_pictures(before) or before == "\ufe0f") and _pictures(after)


def _pictures(char: str) -> bool:
    return "\u203c" <= char <= "\u2bff" or "\U0001f000" <= char <= "\U0001fbff" or char in (*"©®〰〽㊗㊙",)


def showable(at: float) -> float:
    """A moment that every calendar can show: what comes from outside may claim any."""
    return max(0.0, min(at, 2e11))


def utc_day(at: float) -> str:
    """The day of a moment, where nobody's clock is known."""
    return strftime("%Y-%m-%d", gmtime(showable(at)))


def utc_moment(at: float) -> str:
    """A moment to the minute, where nobody's clock is known."""
    return strftime("%Y-%m-%d %H:%M", gmtime(showable(at)))


def local_moment(at: float) -> str:
    """The same by this machine's clock."""
    return strftime("%Y-%m-%d %H:%M", localtime(showable(at)))


_SPANS = (("day", 86_400), ("hour", 3600), ("minute", 60))


def how_long(seconds: float, exact: bool = False) -> str:
    """About how long: `3 days`, of which the last has ended; `exact`: `3.4 days`, rounded, but minutes are whole."""
    for word, length in _SPANS:
        if seconds >= length:
            number = seconds / length if exact else seconds // length
            digits = f"{number:.{0 if word == 'minute' else 1}f}".removesuffix(".0")
            return f"{digits} {word}{'s' * (digits != '1')}"
    return "less than a minute"


def ago(at: float, now: float) -> str:
    """How long ago something was."""
    return f"{how_long(now - at)} ago" if now - at >= 60 else "just now"


def many(number: int, what: str) -> str:
    """`1 request`, `2,000 requests`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def short_number(number: float) -> str:
    """`950`, `3.2K`, `95K`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1000, "K")):
        if number >= size:
            share = number / size
            return f"{share:.0f}{unit}" if share >= 9.95 else f"{share:.1f}{unit}"
    return str(int(number))


def storable(text: str) -> str:
    """What any database takes: half a surrogate pair becomes U+FFFD, NUL its picture; else the very same text."""
    if "\0" in text:
        text = text.replace("\0", "\u2400")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def fence(text: str, nonce: str) -> str:
    """Recorded text as data: cleaned, `| ` before every line, no tag and no nonce left in it.

    The caller writes the lines that open and close the fence, with a nonce made for this one answer. The text cannot
    close it: each of its lines bears the prefix, so none can be the closing line, and the nonce, if it knew it, is
    taken out. Neither can it open a heading or a tag of its own.
    """
    text = clean(text).rstrip("\n")
    if nonce:
        text = text.replace(nonce, "·")
    return "| " + tagless(text).replace("\n", "\n| ")


def letters(text: str) -> str:
    """The letters and digits of a text, by which it is known again however it was quoted."""
    return "".join(filter(str.isalnum, text.lower()))


def tagless(text: str) -> str:
    """A text in which nothing opens or closes a tag."""
    first, *rest = text.split("<")
    return "".join([first, *("‹" + _closed(part) if _opens_tag(part) else "<" + part for part in rest)])


def _opens_tag(part: str) -> bool:
    return part[:1].isalpha() or part[:1] in ("!", "?") or part.lstrip()[:1] == "/"


def _closed(part: str) -> str:
    """What follows a bracket that was bent, with the other one of the pair bent too, where it looks like one."""
    name, closes, rest = part.partition(">")
    pair = closes and "\n" not in name and name[-1:] not in (" ", "-", "=")  # no comparison, no arrow
    return f"{name}›{rest}" if pair else part
