"""`completion`: what a shell needs to complete commands, verbs, options and their values; made of the parser."""

from __future__ import annotations

import argparse
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterator
from shlex import quote

from memory_keeper.cli.arguments import argument
from memory_keeper.cli.main import build_parser
from memory_keeper.terminal import print_json

# in the first two: the words typed so far lead to a place such as `note list`, and a place has words that may follow
BASH = """\
_memory_keeper() {{
    local at="" word words=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$at $word" in {places}) at="$at $word" ;; esac
    done
    case "$at ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
    *)
        case "$at" in
{follows}
        esac ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o default -F _memory_keeper memory-keeper
"""
ZSH = """\
#compdef memory-keeper
_memory_keeper() {{
    local at="" word words_=""
    for word in ${{words[2,CURRENT-1]}}; do
        case "$at $word" in {places}) at="$at $word" ;; esac
    done
    case "$at ${{words[CURRENT-1]}}" in
{values}
    *)
        case "$at" in
{follows}
        esac ;;
    esac
    compadd -- ${{=words_}} || _files
}}
if [ "$funcstack[1]" = _memory-keeper ]; then _memory_keeper "$@"; else compdef _memory_keeper memory-keeper; fi
"""


def run(args: Namespace) -> int:
    """Print the script."""
    script = SHELLS[args.shell](build_parser())
    if args.json:
        print_json({"shell": args.shell, "script": script})
    else:
        print(script, end="")
    return 0


def _levels(parser: ArgumentParser, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ArgumentParser]]:
    """Every parser, by the words that lead to it."""
    yield at, parser
    for name, below in _below(parser).items():
        yield from _levels(below, (*at, name))


def _below(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


def _options(parser: ArgumentParser) -> Iterator[tuple[str, list[str], str, bool]]:
    """Each option with the values it is one of, its help, and whether it takes any value."""
    for action in parser._actions:
        for name in action.option_strings:
            if name.startswith("--") and action.help != SUPPRESS:
                yield name, [str(value) for value in action.choices or ()], action.help or "", action.nargs != 0


def _words(parser: ArgumentParser) -> list[str]:
    """What may come first: a verb, or one of several words."""
    if below := _below(parser):
        return [*below]
    return [str(value) for action in parser._actions if not action.option_strings for value in action.choices or ()]


def _cases(parser: ArgumentParser, shape: str, variable: str) -> str:
    levels = dict(_levels(parser))
    values, follows = [], []
    for at, level in levels.items():
        place = "".join(f" {word}" for word in at)
        options = [*_options(level)]
        for name, choices, _, takes in options:
            if takes:
                values.append(f"    {quote(f'{place} {name}')}) {variable}={quote(' '.join(choices))} ;;")
        words = " ".join([*_words(level), *(name for name, *_ in options)])
        follows.append(f"        {quote(place)}) {variable}={quote(words)} ;;")
    places = "|".join(quote("".join(f" {word}" for word in at)) for at in levels if at)
    return shape.format(places=places, values="\n".join(values), follows="\n".join(follows))


def _fish(parser: ArgumentParser) -> str:
    lines = ["complete -c memory-keeper -f"]  # no files, but as the value of an option
    for at, level in _levels(parser):
        seen = " ".join(f"; and __fish_seen_subcommand_from {word}" for word in at).removeprefix("; and ")
        if below := " ".join(_below(level)):
            seen += f"{'; and ' if seen else ''}not __fish_seen_subcommand_from {below}"
        where = f"complete -c memory-keeper -n {quote(seen)}"
        if words := " ".join(_words(level)):
            lines.append(f"{where} -a {quote(words)}")
        for name, choices, help, takes in _options(level):
            given = f" -x -a {quote(' '.join(choices))}" if choices else " -rF" if takes else ""
            lines.append(f"{where} -l {name[2:]}{given} -d {quote(help)}")
    return "\n".join(lines) + "\n"


SHELLS = {
    "bash": lambda parser: _cases(parser, BASH, "words"),
    "zsh": lambda parser: _cases(parser, ZSH, "words_"),
    "fish": _fish,
}
ARGUMENTS = (argument("shell", choices=SHELLS, help="whose words to print"),)
