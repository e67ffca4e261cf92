"""The commands, from the parser.

It is read rather than its --help printed: argparse lays that out differently from one Python to the next.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from docs.render import table


class Command(NamedTuple):
    """One command as it is typed, with the line its parent says about it."""

    names: tuple[str, ...]  # the name, then its aliases
    path: str
    summary: str
    parser: argparse.ArgumentParser


def cli(parser: argparse.ArgumentParser) -> str:
    """One section per command, and before them the options that every command has."""
    found = list(commands(parser, parser.prog))
    leaves = [command for command in found if not subcommands(command.parser)]
    shared = set.intersection(*({key(action) for action in options(leaf.parser)} for leaf in leaves))
    lines = [
        "## Every command",
        "",
        *arguments([action for action in options(leaves[0].parser) if key(action) in shared]),
    ]
    for command in found:
        lines += section(command, shared)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip()


def commands(parser: argparse.ArgumentParser, path: str) -> Iterator[Command]:
    for group in subcommands(parser):
        said = {choice.dest: choice.help or "" for choice in group._choices_actions}
        names: dict[int, list[str]] = {}  # by parser: an alias is a second name of the same one
        for name, child in group.choices.items():
            names.setdefault(id(child), []).append(name)
        for name, child in group.choices.items():
            if names[id(child)][0] == name and said.get(name) != argparse.SUPPRESS:
                yield Command(tuple(names[id(child)]), f"{path} {name}", said.get(name, ""), child)
                yield from commands(child, f"{path} {name}")


def section(command: Command, shared: set[tuple[str, ...]]) -> list[str]:
    own = [action for action in options(command.parser) if key(action) not in shared]
    what = positionals(command.parser)
    lines = ["", f"{'#' * min(command.path.count(' ') + 1, 4)} {command.path.partition(' ')[2]}", ""]
    lines += [command.parser.description or sentence(command.summary), ""]
    if len(command.names) > 1 and "Also: " not in (command.parser.description or ""):
        lines += [f"Also: {', '.join(f'`{name}`' for name in command.names[1:])}.", ""]
    if not subcommands(command.parser):
        lines += ["```text", *wrapped(command.path, [*map(shape, what), *map(shape, own)]), "```", ""]
    lines += arguments([*what, *own])
    if command.parser.epilog and not subcommands(command.parser):
        lines += ["", "For example:", "", "```sh", *command.parser.epilog.replace("example: ", "").splitlines(), "```"]
    return lines


def arguments(actions: list[argparse.Action]) -> list[str]:
    names = (", ".join(action.option_strings) or label(action) for action in actions)
    return table(
        ("argument", "meaning"), ((f"`{name}`", meaning(action)) for name, action in zip(names, actions, strict=True))
    )


def meaning(action: argparse.Action) -> str:
    text = argparse.HelpFormatter("")._expand_help(action) if action.help else ""
    named = action.choices is not None and all(str(one) in text for one in action.choices)
    if action.choices is not None and "{" not in label(action) and not named:
        text += f" ({', '.join(map(str, action.choices))})"
    return text.strip().replace("|", "\\|").replace("<", "&lt;")


def wrapped(path: str, shapes: list[str]) -> list[str]:
    # a non-breaking space holds an option and its value together until the lines are made
    line = " ".join([path, *(shape.replace(" ", "\N{NO-BREAK SPACE}") for shape in shapes)])
    lines = textwrap.wrap(line, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part.replace("\N{NO-BREAK SPACE}", " ") for part in lines]


def shape(action: argparse.Action) -> str:
    """An argument as a usage line shows it."""
    name = label(action)
    many = {"*": f"[{name} ...]", "+": f"{name} [...]", "?": f"[{name}]", "...": f"{name} ..."}
    value = "" if action.nargs == 0 else many.get(str(action.nargs), name)
    if not action.option_strings:
        return value
    text = f"{action.option_strings[-1]} {value}".strip()
    return text if action.required else f"[{text}]"


def label(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.metavar:
        return " ".join(action.metavar)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def subcommands(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]


def positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    groups = subcommands(parser)
    return [
        action
        for action in parser._actions
        if not action.option_strings and action not in groups and action.help != argparse.SUPPRESS
    ]


def key(action: argparse.Action) -> tuple[str, ...]:
    return (*action.option_strings, action.help or "")


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".") if text else ""
