"""What `show` gives away of a value."""

from __future__ import annotations

from memory_keeper.cli.commands.show import as_json
from memory_keeper.model import Event


def test_as_json_opens_what_is_kept_as_json() -> None:
    event = Event("e:0", 1.0, "todo", "s", "p", "t", extra='{"a":[1]}')
    assert as_json(event)["extra"] == {"a": [1]}
    assert as_json(event._replace(extra=""))["extra"] == ""
