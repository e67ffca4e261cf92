"""The parser of a command line: what is mistyped gets a suggestion, help is in groups, with a section for each verb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import Any, NoReturn

from memory_keeper.cli.guard import LONGEST, guarded, open_streams
from memory_keeper.terminal import as_called, near, remark
from memory_keeper.text import clean, one_line


class Formatter(argparse.HelpFormatter):
    """Wraps a text line by line."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            fill(line, width, initial_indent=indent, subsequent_indent=indent + " " * 4 * line.startswith(" "))
            for line in as_called(text).splitlines()
        )


class Parser(argparse.ArgumentParser):
    """Shows nothing that a terminal would obey, and leaves as every command does."""

    def __init__(self, *, groups: Mapping[str, Iterable[str]] | None = None, **given: Any) -> None:
        super().__init__(formatter_class=Formatter, **given)
        self.groups = groups  # of subcommands, as the help lists them

    def format_help(self) -> str:
        if not self._subparsers:
            return as_called(super().format_help())
        return as_called(self._overview() if self.groups else self._verbs())

    def _print_message(self, message: str, file: Any = None) -> None:
        try:
            super()._print_message(message, file)
        except OSError:
            pass  # nobody can be told; Python 3.11.2 lets it fly

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        open_streams()
        if message:
            remark(message.rstrip("\n"))
        sys.exit(guarded("", lambda _: status))

    def error(self, message: str) -> NoReturn:
        super().error(as_called(one_line(clean(message), LONGEST)))

    def options(self) -> list[str]:
        """The names of the options."""
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(name) for name in action.choices]
            hint = near(str(value), names, f"choose from {', '.join(names)}")
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; {hint}")

    def _overview(self) -> str:
        """The help of the whole: the commands in their groups."""
        formatter = self._begin()
        lines = self._choices()
        for name, line in lines.items():
            line.metavar = name  # without its aliases
        for heading, names in (self.groups or {}).items():
            formatter.start_section(heading)
            formatter.add_arguments([lines[name] for name in names])
            formatter.end_section()
        return self._end(formatter)

    def _verbs(self) -> str:
        """The help of a resource: each verb with what it takes."""
        formatter, parsers = self._begin(), self._parsers()
        formatter.start_section("verbs")
        for name, line in self._choices().items():
            takes = [action for action in parsers[name]._actions if not action.option_strings]
            line.metavar = " ".join([name, *(formatter._format_args(action, action.dest.upper()) for action in takes)])
            formatter.add_argument(line)
        formatter.end_section()
        for name in self._choices():
            formatter.start_section(f"options of {name}")
            own = [action for action in parsers[name]._actions if action.option_strings and action.dest not in COMMON]
            formatter.add_arguments(own)
            formatter.end_section()
        return self._end(formatter)

    def _begin(self) -> argparse.HelpFormatter:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        return formatter

    def _end(self, formatter: argparse.HelpFormatter) -> str:
        formatter.start_section("options")
        formatter.add_arguments([action for action in self._actions if action.option_strings])
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _choices(self) -> dict[str, argparse.Action]:
        """The subcommands that the help lists, by name."""
        assert self._subparsers
        return {action.dest: action for action in self._subparsers._group_actions[0]._get_subactions()}  # type: ignore[attr-defined]

    def _parsers(self) -> Mapping[str, argparse.ArgumentParser]:
        assert self._subparsers
        choices: Any = self._subparsers._group_actions[0].choices
        parsers: Mapping[str, argparse.ArgumentParser] = choices
        return parsers


COMMON = ("help", "json", "project", "home")


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options of every command."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else")
    parser.add_argument("--project", metavar="DIR", default="", help="default: the git root of the working directory")
    parser.add_argument("--home", metavar="DIR", default="", help="where everything is kept")
