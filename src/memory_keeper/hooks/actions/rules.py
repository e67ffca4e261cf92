"""The rules in the hooks: in full once per context, a short line when it is due, and whatever goes wrong, the rules."""

from __future__ import annotations

import posix
from collections.abc import Sequence
from time import time

from memory_keeper import config, wire
from memory_keeper.briefs.rules import Rule, full, of_team, reminder, rules_of
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.hooks.actions import Request
from memory_keeper.hooks.actions.telling import heard, record_told
from memory_keeper.hooks.actions.welcome import welcome_late
from memory_keeper.hooks.problems import complain
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json
from memory_keeper.policy import reminder_is_due
from memory_keeper.request import Brief, Context
from memory_keeper.rules.observations import Observed
from memory_keeper.rules.prompts import in_force
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.rules_cache import keep_ready, read_ready, stamp
from memory_keeper.text import clean, digest_of, letters, one_line, tokens
from memory_keeper.wire import units

SUBAGENT = 300  # tokens
WITHOUT = "memory-keeper config set rules.shipped false"
SHOWN = 100  # characters of a rule on the screen
LATELY = 50  # things that contexts of a project were told last


def tell_or_fail_safe(request: Request) -> Json:
    """The rules, in full or in short; when something is wrong, those that come with us: a prompt never goes without."""
    try:
        return tell_rules(request)
    except Exception as error:  # noqa: BLE001
        complain(request.home, "rules", error)
        return fail_safe(request.call.event, request.home) if not request.call.agent else {}


def tell_rules(request: Request) -> Json:
    """What a context hears of the rules now, as far as there is room; nothing where they are switched off."""
    call, settings = request.call, request.settings
    if call.agent and not settings["rules.subagents"]:
        return {}
    context = read_context(request.home, call.session)
    reply = _tell(request, context, settings) if settings["rules.enabled"] else {}
    if call.event != "UserPromptSubmit" or context.begun or context.prompts > 1:
        return reply
    return welcome_late(request, reply)


def _tell(request: Request, context: Context, settings: Json) -> Json:
    call, home, root = request.call, request.home, config.find_root(request.call.folder)
    if call.event == "SubagentStart":
        return _tell_subagent(request, settings)
    if call.agent:
        return {}
    ready = read_ready(home, root)
    if not context.ruled and context.prompts > 1 and ready.get("count") == 0:
        return {}  # there are none, and what the user said came with the first prompt
    if context.ruled and context.ruled_by != call.id:
        if ready.get("shipped") != settings["rules.shipped"]:
            since = stamp(home)
            rules, _ = find_rules(home, call.folder, request.environ, settings, said=False)
            ready = _make_ready(home, root, settings, rules, since)
        if ready.get("hash") == context.ruled:
            return _remind(request, context, settings, ready)
    return _tell_full(request, settings, root)


def fail_safe(event: str, home: str, environ: dict[str, str] | None = None) -> Json:
    """The rules that come with us: what a prompt brings when nothing else can be found out."""
    settings = config.load(home, "", environ or config.environment())[0]
    if not settings["rules.enabled"] or not settings["rules.shipped"]:
        return {}
    return heard(event, full(rules_of(None, ""), (), settings["rules.budget"], posix.urandom(4).hex()).text)


def _tell_subagent(request: Request, settings: Json) -> Json:
    call, short = request.call, {**settings, "rules.budget": SUBAGENT}
    brief = full_brief(request.home, call.folder, request.environ, short, said=False)
    if brief.text:
        _record(request, brief._replace(name="subagent"), agent=call.agent)
    return heard(call.event, brief.text)


def _record(request: Request, brief: Brief, more: Json | None = None, agent: str = "") -> None:
    call = request.call
    who = request.home, call.session, call.folder, call.id, request.at
    record_told(*who, (brief,), on=call.event, more=more, agent=agent, remember=not agent)


def _remind(request: Request, context: Context, settings: Json, ready: Json) -> Json:
    line = str(ready.get("short") or "")
    due = reminder_is_due(_size(request), context.ruled_tokens, context.prompts, settings["rules.every"])
    if not due or not line or not request.call.text:
        return {}  # what only stands in the place of a prompt needs no reminder
    tokens = ready.get("tokens")
    brief = Brief("reminder", line, tokens if isinstance(tokens, int) else 0)
    _record(request, brief, {"context": _size(request)})
    return heard(request.call.event, brief.text)


def _size(request: Request) -> int:
    """The tokens of the context; 0 while nobody knows."""
    return request.fullness.tokens if request.fullness else 0


def _tell_full(request: Request, settings: Json, root: str) -> Json:
    call, home, room = request.call, request.home, request.room
    context, since = read_context(home, call.session), stamp(home)
    rules, observed_before = find_rules(home, call.folder, request.environ, settings)
    heard_before = letters(context.told)  # as in its handoff, or in the messages that stayed
    stays = (spool.newest(home, call.session, "Replaced") or {}).get("heard") or () if context.replaced else ()
    observed_before = [one for one in observed_before if one.id not in stays and letters(one.text) not in heard_before]
    ready = _make_ready(home, root, settings, rules, since)
    brief = full(rules, observed_before, settings["rules.budget"], posix.urandom(4).hex(), room)
    if not brief.text or units(brief.text) + 1 > room:
        return {}  # the next prompt has room
    _record(request, brief, {"hash": ready["hash"], "context": _size(request)})
    known = read_context(home, call.session)
    if known.ruled == ready["hash"] and known.ruled_by != call.id:
        return {}  # another was faster; where not even that can be written down, it is told all the same
    shown = _describe(request, rules, observed_before, brief)
    if context.ruled and ready["newest"]:  # whoever did that: the user is to see it
        shown += f'. Changed last: "{ready["newest"]}"'
    return {"systemMessage": shown, **heard(call.event, brief.text)}


def _describe(request: Request, rules: Sequence[Rule], observed_before: Sequence[Observed], brief: Brief) -> str:
    """What the user sees of the rules that a context was told; the first time in a project also what those are that
    come with us, and how to go without."""
    shown_rules = [rule for rule in rules if rule.id in brief.cites]
    ours = sum(rule.scope == "shipped" for rule in shown_rules)
    heard = " and what you said before" * any(observation.id in brief.cites for observation in observed_before)
    only = " of its own, such as to ask before deleting" * (0 < ours == len(shown_rules) and not _were_told(request))
    counted = f"{len(shown_rules)} rule{'s' * (len(shown_rules) != 1)}{only}" if shown_rules else ""
    shown = f"Memory Keeper gave this context {(counted + heard).removeprefix(' and ')} ({brief.tokens} tokens)"
    return f"{shown}: memory-keeper rule list" + f". Without them: {WITHOUT}" * bool(only)


def _were_told(request: Request) -> bool:
    """Whether an earlier context of the project was told its rules, and so its user of them."""
    try:
        with Keeper(request.home, request.environ) as keeper:
            injections = keeper.store.latest(keeper.project(request.call.folder), "told", LATELY, text=False)
    except KeeperError:  # then it is said once more
        return False
    return any(event.tool == "rules" for event in injections)


def full_brief(
    home: str, folder: str, environ: dict[str, str], settings: Json, said: bool = True, fenced: bool = True
) -> Brief:
    """The rules in full for a folder, and what the user said besides; not `fenced`: for people."""
    rules, besides = find_rules(home, folder, environ, settings, said)
    return full(rules, besides, settings["rules.budget"], posix.urandom(4).hex() if fenced else "")


def find_rules(
    home: str, folder: str, environ: dict[str, str], settings: Json, said: bool = True
) -> tuple[list[Rule], list[Observed]]:
    """The rules in force in a folder, and what the user `said` besides; where nothing was ever kept, those that come
    with us."""
    shipped = settings["rules.shipped"]
    try:
        with Keeper(home, environ) as keeper:
            project = keeper.project(folder)
            rules = [*rules_of(keeper.store, project, shipped), *of_team(keeper.store, project)]
            if not said:
                return rules, []

            return rules, in_force(keeper.store, project, settings, time())
    except NotSetUp:
        return rules_of(None, "", shipped), []


def _make_ready(home: str, root: str, settings: Json, rules: Sequence[Rule], since: int) -> Json:
    """The short line and what tells one set of rules from another, kept for the next prompt; `since` is the store's
    stamp from before they were read."""
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
    written = [(wire.read_object(rule.note.extra).get("written") or 0.0, rule) for rule in rules if rule.note]
    return one_line(clean(max(written, key=lambda pair: float(pair[0]))[1].text), SHOWN) if written else ""
