"""The rules in the hooks: in full once per context, one short line otherwise, and whatever goes wrong, the rules."""

from __future__ import annotations

import posix

from memory_keeper import config
from memory_keeper.app.actions.telling import AFTER
from memory_keeper.keep.context import read_context
from memory_keeper.keep.ready import keep_ready, read_ready, stamp
from memory_keeper.model import Brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Call, Context, Json
    from memory_keeper.tell.rules import Rule

SUBAGENT = 300  # tokens
SHOWN = 100  # characters of a rule on the screen


def tell_rules(call: Call, home: str, environ: dict[str, str], at: float, room: int) -> Json:
    """What a context hears of the rules now, in at most so many characters; nothing where they are switched off."""
    root = config.find_root(call.project_dir)
    settings = config.load(home, root, environ)[0]
    if not settings["rules.enabled"] or (call.agent and not settings["rules.subagents"]):
        return {}
    context, at = read_context(home, call.session), at + AFTER["rules"]
    if call.event == "SubagentStart":
        return _tell_subagent(call, home, environ, at, settings)
    if call.agent:
        return {}
    ready = read_ready(home, root)
    if not context.ruled and context.prompts > 1 and ready.get("count") == 0:
        return {}  # there are none, and what the user said came with the first prompt
    if context.ruled and context.ruled_at != at:
        if ready.get("shipped") != settings["rules.shipped"]:
            ready = _make_ready(home, call.project_dir, root, environ, settings)
        if ready.get("hash") == context.ruled:
            return _remind(call, home, at, context, settings, ready)
    return _tell_full(call, home, environ, at, room, settings, root)


def fail_safe(event: str, home: str) -> Json:
    """The rules that come with us: what a prompt brings when nothing else can be found out."""
    from memory_keeper.tell.rules import full, rules_of

    settings = config.load(home, "", config.environment())[0]
    if not settings["rules.enabled"] or not settings["rules.shipped"]:
        return {}
    return _heard(event, full(rules_of(None, ""), (), settings["rules.budget"], posix.urandom(4).hex()))


def _tell_subagent(call: Call, home: str, environ: dict[str, str], at: float, settings: Json) -> Json:
    from memory_keeper.app.actions.telling import record_told

    brief = full_brief(home, call.project_dir, environ, {**settings, "rules.budget": SUBAGENT}, said=False)
    if brief.text:
        record_told(
            home,
            call.session,
            call.project_dir,
            at,
            (brief._replace(name="subagent"),),
            on=call.event,
            agent=call.agent,
        )
    return _heard(call.event, brief)


def _remind(call: Call, home: str, at: float, context: Context, settings: Json, ready: Json) -> Json:
    line = str(ready.get("short") or "")
    if not line or not call.text or context.prompts % settings["rules.every"]:
        return {}  # what only stands in the place of a prompt needs no reminder
    from memory_keeper.app.actions.telling import record_told

    tokens = ready.get("tokens")
    brief = Brief("reminder", line, tokens if isinstance(tokens, int) else 0)
    record_told(home, call.session, call.project_dir, at, (brief,), on=call.event)
    return _heard(call.event, brief)


def _tell_full(call: Call, home: str, environ: dict[str, str], at: float, room: int, settings: Json, root: str) -> Json:
    from memory_keeper.app.actions.telling import record_told
    from memory_keeper.tell import units

    changed = bool(read_context(home, call.session).ruled)
    ready = _make_ready(home, call.project_dir, root, environ, settings)
    brief = full_brief(home, call.project_dir, environ, settings, room=room)
    if not brief.text or units(brief.text) + 1 > room:
        return {}  # the next prompt has room
    record_told(home, call.session, call.project_dir, at, (brief,), on=call.event, more={"hash": ready["hash"]})
    known = read_context(home, call.session)
    if known.ruled == ready["hash"] and known.ruled_at != at:
        return {}  # another was faster; where not even that can be written down, it is told all the same
    said = f"[rules injected] {ready['count']} rules, {brief.tokens} tokens; memory-keeper rule list shows them"
    if changed and ready["newest"]:  # whoever did that: the user is to see it
        said += f'. Changed last: "{ready["newest"]}"'
    return {"systemMessage": said, **_heard(call.event, brief)}


def full_brief(
    home: str,
    folder: str,
    environ: dict[str, str],
    settings: Json,
    said: bool = True,
    fenced: bool = True,
    room: int = 1 << 30,
) -> Brief:
    """The rules in full for a folder, and what the user said besides; not `fenced`: for people."""
    from time import time

    from memory_keeper.app.notes.said import in_force
    from memory_keeper.errors import NotSetUp
    from memory_keeper.keeper import Keeper
    from memory_keeper.tell.rules import full

    nonce = posix.urandom(4).hex() if fenced else ""
    try:
        with Keeper(home, environ) as keeper:
            project = keeper.project(folder)
            heard = in_force(keeper.store, project, settings, time()) if said else []
            return full(_rules(keeper, project, settings), heard, settings["rules.budget"], nonce, room)
    except NotSetUp:
        from memory_keeper.tell.rules import rules_of

        return full(rules_of(None, "", settings["rules.shipped"]), (), settings["rules.budget"], nonce, room)


def _rules(keeper: Keeper, project: str, settings: Json) -> list[Rule]:
    from memory_keeper.tell.rules import rules_of

    return rules_of(keeper.store, project, settings["rules.shipped"])


def _make_ready(home: str, folder: str, root: str, environ: dict[str, str], settings: Json) -> Json:
    """The short line and what tells one set of rules from another, made from the store and kept for the next prompt."""
    from memory_keeper.errors import NotSetUp
    from memory_keeper.keeper import Keeper
    from memory_keeper.tell.rules import reminder, rules_of
    from memory_keeper.text import digest_of, tokens

    since = stamp(home)
    try:
        with Keeper(home, environ) as keeper:
            rules = _rules(keeper, keeper.project(folder), settings)
    except NotSetUp:
        rules = rules_of(None, "", settings["rules.shipped"])
    line = reminder(rules)
    ready = {
        "hash": digest_of(*(rule.text for rule in rules)),
        "short": line,
        "tokens": tokens(line),
        "count": len(rules),
        "shipped": settings["rules.shipped"],
        "newest": _newest(rules),
    }
    keep_ready(home, root, ready, since)
    return ready


def _newest(rules: Sequence[Rule]) -> str:
    """How the rule begins that was written or changed last; empty when none was."""
    from memory_keeper import wire
    from memory_keeper.text import clean, one_line

    written = [(wire.read_object(rule.note.extra).get("written") or 0.0, rule) for rule in rules if rule.note]
    return one_line(clean(max(written, key=lambda one: float(one[0]))[1].text), SHOWN) if written else ""


def _heard(event: str, brief: Brief) -> Json:
    if not brief.text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": brief.text}}
