"""What announces a secret: names that something is assigned to, programs that take one, the word in other tongues."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Long tables of words are easier to read without their quotes."""
    return tuple(text.split())


# Stems that name a secret when an assignment follows; looked for in lower case.
STEMS = (b"pass", b"secret", b"token", b"key", b"pw", b"credential")

# Words after the stem: what the name holds is about a secret, not the secret.
ABOUT = frozenset(
    words(
        """
        id ids name names type types file files filename path paths dir folder url urls uri endpoint host port
        length len size count counts limit limits index idx field fields column columns label labels title text desc
        description hint prompt placeholder regex pattern patterns policy rule rules error errors err message msg
        status state expiry expires expiration ttl at age version algorithm alg format prefix suffix provider
        manager service store storage usage map list array set ring board frame event handler press down up bind
        binding bindings pair pairs space stone note visible input output validator validation schema model required
        enabled disabled env var variable variables ref refs arn source kind scope scopes class role fn func
        function helper utils util test tests check checks reset change changes changed confirm confirmation
        strength rotation rotate generator gen less mode method mapping lookup link page form dialog modal view
        button toggle icon budget window cost rate bytes json yaml yml md py ts js go rs sh html css lock cache
        exists found missing invalid valid present is has not true false hash hashed hasher digest fingerprint salt
        sum num number position offset order group groups stem stems word words string strings str int bool char
        chars kinds scanner scanning detector detection redacted redaction redactor leak leaks used last updated
        created modified date time day days verifier stored attachment ciphertext signature
        """
    )
)

# Words before `key` and `token` that make it a harmless one.
HARMLESS = frozenset(
    words(
        """
        public primary foreign cache sort partition index object dict map query lookup row column group unique
        translation locale hot shortcut arrow tab react item list parent node child cursor next prev previous page
        continuation continue cancellation cancel sync max min num input output total prompt completion special pad
        eos bos unk syntax lexer parser first last current peek expected unexpected press config option sub field
        meta data label message storage registry idempotency request lock change dedupe dedup event state props any
        some each every the a an this that which is no of for by with on or and enter escape return space ctrl alt
        shift cmd right left bucket s3 issue jira project host known authorized
        """
    )
)

# Words before `key` that say it opens something.
OPENING = frozenset(
    words(
        """
        api app access secret private auth account master shared encryption encrypt signing sign service admin
        license subscription crypto session jwt hmac webhook deploy consumer client vault aes rsa preshared server
        integration ingest write read root token user team org oauth sas connection apim function publish ssh
        decryption validation machine
        """
    )
)

_PASSWORDS = frozenset(("password", "passwd", "passwort", "passphrase", "passcode"))
_PASS = tuple(f"{user}pass" for user in words("user db root admin mysql ssh require key store ldap ftp smtp mail"))
_KEYS = tuple(f"{use}key" for use in words("api access private auth account master shared signing encryption secret"))
_CREDENTIALS = ("credential", "credentials", "auth", "jwt", "psk")

_FIRST = frozenset(
    (b"api", b"access", b"auth", b"bot", b"bearer", b"secret", b"client", b"refresh", b"session", b"personal")
)
NAME = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
_BEYOND = b"\"'`\\])* \t"  # what may close a name before the sign that assigns
_QUOTES = frozenset((b'"', b"'", b"`", b"\\"))
_VERBS = frozenset((b"is ", b"was", b"are", b"to ", b"as ", b"for", b"of ", b"on ", b"in ", b"at "))
PARTICLES = tuple(word.encode() for word in "는은가이를을は是为為")  # between such a word and its value
_kinds: dict[bytes, str] = {}


def kind_of(name: bytes) -> str:
    """What a name says its value is: password, secret, token, key (a weak word), or, mostly, nothing secret."""
    kind = _kinds.get(name)
    if kind is None:
        if len(_kinds) > 5000:
            _kinds.clear()
        kind = _kinds[name] = _read_name(_words(name.decode("ascii", "replace")))
    return kind


def _words(name: str) -> list[str]:
    """`dbPassword2` and `DB_PASSWORD_2` alike: db, password, 2. Without `re`: the gate asks."""
    found, kind = [""], ""
    for char in name:
        now = "0" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else ""
        if (kind, now) == ("A", "a"):
            if len(found[-1]) > 1:  # of APIKey: the last capital begins the next word
                found[-1:] = [found[-1][:-1], found[-1][-1]]
        elif now != kind:
            found.append("")
        found[-1] += char.lower() if now else ""
        kind = now
    return [word for word in found if word]


def _read_name(parts: list[str]) -> str:
    while parts and parts[-1].isdigit():
        parts.pop()
    stems = [
        at for at, word in enumerate(parts) if word.startswith(("pass", "secret", "token", "key", "pw", "credential"))
    ]
    if not parts or "public" in parts or not ABOUT.isdisjoint(parts[stems[0] + 1 :] if stems else parts[-1:]):
        return ""
    joined = "".join(parts)
    if not _PASSWORDS.isdisjoint(parts) or parts[-1] in ("pass", "pwd", "pw"):
        return "password"
    if joined.endswith(("password", "passwd", "pwd", "passphrase", "bindpw", "rootpw", "userpw", "adminpw", *_PASS)):
        return "password"
    before = parts[parts.index("key") - 1] if "key" in parts[1:] else ""
    if "secret" in parts or joined.endswith(("secret", *_KEYS)) or before in OPENING:
        return "secret"
    if "token" in parts or joined.endswith("token"):
        return "" if "token" in parts[1:] and parts[parts.index("token") - 1] in HARMLESS else "token"
    if parts[-1] in _CREDENTIALS:
        return "token"
    return "key" if before and before not in HARMLESS and parts[-1] == "key" else ""


def named(data: bytes, low: bytes, at: int, stem: bytes) -> tuple[str, int, int]:
    """What the name around the stem at this place promises, and where it begins and ends; nothing without assignment.

    The gate asks this of raw JSON too, so that an escape (\\n, \\t, \\") may stand wherever what it means may stand.
    """
    nothing = ("", at, at)
    after = low[at + len(stem) : at + len(stem) + 60]
    if after[:1] == b"s" and stem == b"token":
        return nothing  # they are counted, not kept
    gap = after.lstrip(NAME)
    end = at + len(stem) + len(after) - len(gap)
    sign = (gap.replace(b"\\t", b" ") if b"\\t" in gap else gap).lstrip(_BEYOND)
    first = sign[:1]
    if not _is_assigned(data, low, at, stem, gap, sign):
        return nothing
    left = data[max(0, at - 48) : at]
    start = at - len(left) + len(left.rstrip(NAME + b"."))
    if data[start - 1 : start] == b"\\" and data[start : start + 1] in (b"n", b"r", b"t"):
        start += 1  # of an escape, not of the name
    name = data[start:end]
    if name.lower() == b"pass" and (first not in (b"=", b":") or name == b"PASS"):
        return nothing  # a verb, or a test that did
    kind = kind_of(name)
    word = data[max(0, start - 16) : start - 1].rpartition(b" ")[2] if data[start - 1 : start] == b" " else b""
    if word and word.isalpha() and stem[:1] != b"p":  # `api key`, `client secret`, `access token`
        joined = kind_of(word + b"_" + name)
        if joined and (not kind or word.lower() in _FIRST):
            return joined, start - 1 - len(word), end
    return kind, start, end


def heads_column(data: bytes, low: bytes, stem: bytes) -> bool:
    """Whether a name with this stem may stand over a column of values: alone between two marks, or in a table."""
    size, at = len(stem), low.find(stem)
    while at >= 0:
        end = at + size
        if low[end : end + 1] in _HEADS or low[end : end + 1] in _GOES_ON:
            rest = data[end : end + 40]
            after = rest.lstrip(NAME).lstrip(b'"')[:1]
            left = data[max(0, at - 48) : at].rstrip(NAME) if after in _HEADS else b"."
            if not left or left[-1:] in b',;\t\n"nt':
                return True
        at = low.find(stem, end)
    return False


_HEADS = frozenset((b",", b";", b"\t", b"\n", b"\r", b"\\"))
_GOES_ON = frozenset((b'"', b"_", b"-", b"w", b"p", b"d"))  # of a name: password, passphrase, passwd, key_2


def _is_assigned(data: bytes, low: bytes, at: int, stem: bytes, gap: bytes, sign: bytes) -> bool:
    """Whether what follows a name, the gap and then the sign, gives it a value."""
    first, closed, apart = sign[:1], gap[:1] in _QUOTES, gap[:1] in (b" ", b"\t")
    return (
        first in (b"=", b":", b">", b"|", b"?", b"<")
        or (first == b"," and closed)
        or (first == b"(" and stem[:1] == b"p")
        or (apart and (sign[:3] in _VERBS or gap[1:2] in _QUOTES or data[at - 1 : at] in (b"-", b"/", b"_")))
        or (apart and (stem[:1] == b"p" or (sign[:12].isalnum() and not sign[:12].isalpha())))
        or (closed and gap[1:2] == b" ")
        or sign[:3] in PARTICLES
        or sign[:3] == b"\xe2\x86\x92"
        or b"value" in gap[:30]
        or (stem == b"pass" and low[max(0, at - 10) : at].find(b" as ") + low[max(0, at - 10) : at].find(b" is ") > -2)
    )


_GLUED = rb"(?:\\{0,7}'([^'\\\n]{4,100})\\{0,7}'|\\{0,7}\"([^\"\\\n]{4,100})\\{0,7}\"|([^\s\"'\\$<][^\s\"']{3,100}))"
# Programs that take a password on their command line, and how.
COMMANDS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"curl",
        rb"[^\n;|]{0,400}?\s(?:-[a-zA-Z]{0,4}[uU]|--(?:proxy-)?user)[ =]?[\"']?[^\s:\"'/]{1,80}:([^\s\"']{3,200})",
    ),
    (b"mysql", rb"(?:dump|admin|import|show|check|slap|sh)?\b[^\n;|]{0,300}?\s-p" + _GLUED),
    (b"mariadb", rb"(?:-dump|-admin)?\b[^\n;|]{0,300}?\s-p" + _GLUED),
    (b"sshpass", rb"\s{1,4}-p\s?[\"']?([^\s\"']{4,100})"),
    (b"redis-cli", rb"[^\n;|]{0,200}?\s-a\s{1,3}[\"']?([^\s\"']{4,200})"),
    (b"mongo", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (b"docker login", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,300})"),
    (b"podman login", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,300})"),
    (b"az login", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,300})"),
    (b"psexec", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (b"ldap", rb"(?:search|modify|add|whoami|passwd)\b[^\n;|]{0,300}?\s-w\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (
        b"htpasswd",
        rb"[^\n;|]{0,100}?\s-[a-zA-Z]{0,4}b[a-zA-Z]{0,3}\s{1,3}\S{1,120}\s{1,3}\S{1,80}\s{1,3}[\"']?([^\s\"']{4,100})",
    ),
    (b"smbclient", rb"[^\n;|]{0,200}?\s-U\s{1,3}[\"']?[^\s%\"']{1,80}%([^\s\"']{4,100})"),
    (b"7z", rb"\s[^\n;|]{0,200}?\s-p([^\s\"'$<][^\s\"']{3,100})"),
    (b"zip", rb"\s[^\n;|]{0,200}?\s-P\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (
        b"openssl",
        rb"\s[^\n;|]{0,300}?\s-(?:pass(?:in|out)?\s{1,3}[\"']?pass:|k\s{1,3}[\"']?)([^\s\"'-][^\s\"']{3,100})",
    ),
    (b"nuget push", rb"[^\n;|]{0,300}?\s-k\s{1,3}[\"']?([^\s\"'-][^\s\"']{15,100})"),
    (b"cargo login", rb"\s{1,4}[\"']?([^\s\"'-][^\s\"']{15,100})"),
    (b"convertto-securestring", rb"\s{1,4}(?:-String\s{1,4})?[\"']([^\s\"'$][^\s\"']{4,100})"),
)
# what only random text may follow in other tongues: `key` and `token`
FOREIGN_KEYS = tuple(word.encode() for word in words("토큰 키 トークン キー 令牌 密钥 密鑰 токен ключ"))
# `password` in other tongues
FOREIGN = tuple(
    word.encode() for word in words("비밀번호 암호 패스워드 비번 パスワード 密码 密碼 口令 пароль contraseña")
)
