"""The tools that the model has, from what the server lists."""

from __future__ import annotations

from typing import Any

from docs.render import table


def tools(listed: list[dict[str, Any]], arguments: dict[str, Any]) -> str:
    """One section for each tool of the server, with what its arguments may be."""
    lines: list[str] = []
    for tool in listed:
        schema, reads = tool["inputSchema"], tool["annotations"].get("readOnlyHint", False)
        lines += [f"## {tool['name']}", "", tool["description"], "It reads only." if reads else "It writes.", ""]
        needed = dict.fromkeys(schema.get("required", ()), " (needed)")
        rows = [
            (f"`{name}`{needed.get(name, '')}", allowed(name, about, arguments))
            for name, about in schema.get("properties", {}).items()
        ]
        lines += [*table(("argument", "is"), rows), ""] if rows else []
    return "\n".join(lines).rstrip()


def allowed(name: str, about: dict[str, Any], arguments: dict[str, Any]) -> str:
    """What an argument may be."""
    if "enum" in about:
        return f"one of {', '.join(about['enum'])}"
    return str(arguments[name][1]) if name in arguments else f"a number of {about['description']}"
