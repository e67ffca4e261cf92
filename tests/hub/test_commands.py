"""A team by its commands alone, as the page about sharing has them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.command import typed
from tests.postgres import Cluster

pytestmark = [pytest.mark.git, pytest.mark.postgres]


class Person:
    """Somebody with a clone of the team's repository and a home of their own."""

    def __init__(self, root: Path, name: str) -> None:
        self.folder, self.home = root / name / "app", root / name / "home"
        self.folder.mkdir(parents=True)
        for words in (
            ("init", "--quiet"),
            ("remote", "add", "origin", "https://git.example/team/app.git"),
            ("config", "user.name", name.title()),
            ("config", "user.email", f"{name}@example.com"),
        ):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def ask(self, *words: str, code: int = 0) -> Any:
        done = typed(self.folder, *words, "--home", str(self.home), "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if not code else done.stderr

    def has(self) -> set[str]:
        return {item["text"] for item in self.ask("team", "shared")}


@pytest.fixture
def address(cluster: Cluster) -> str:
    return cluster.url(cluster.database())


def test_a_team_of_two(tmp_path: Path, address: str, cluster: Cluster) -> None:
    """From an empty database to a shared rule, and out again; no password stands anywhere but in a private file."""
    ann, ben = Person(tmp_path, "ann"), Person(tmp_path, "ben")
    made = ann.ask("team", "init", address, "--yes")
    assert made["project"] == "git.example/team/app" and made["author"] == "Ann <ann@example.com>"
    assert ann.ask("team", "init", address, "--yes") == made, "twice is once"
    invitation = ann.ask("team", "invite", "ben", "--yes")["invitation"]
    joined = ben.ask("team", "join", invitation, "--yes")
    assert joined["author"] == "Ben <ben@example.com>" and joined["project"] == made["project"]
    ann.ask("rule", "add", "Always use pathlib.", "--yes")
    ann.ask("note", "add", "decision", "My private thought.")
    ann.ask("share", "rules", "--yes")
    ann.ask("sync")
    (synced,) = ben.ask("sync")["teams"]
    assert (synced["new"], synced["refused"], synced["problems"]) == (1, {}, [])
    assert ben.has() == {"Always use pathlib."}
    assert ben.ask("sync")["teams"][0]["new"] == 0
    people = ben.ask("team", "members")
    counts = [(one["author"], one["items"]) for one in people]
    assert counts == [("Ann <ann@example.com>", 1), ("Ben <ben@example.com>", 0)]
    rows = cluster.ask("select text from memory_keeper.item", database=made["address"].split("?")[0].rpartition("/")[2])
    assert rows == [("Always use pathlib.",)]
    (hit,) = ben.ask("team", "search", "using", "pathlib")
    assert (hit["text"], hit["author"], hit["project"]) == (
        "Always use pathlib.",
        "Ann <ann@example.com>",
        made["project"],
    )
    assert ben.ask("team", "search", "private") == [] == ben.ask("team", "search", "private", "--all-projects")
    ann.ask("unshare", "rules", "--yes")
    ann.ask("sync")
    ben.ask("sync")
    assert ben.has() == set()
    secret = json.loads((ben.home / "team/logins.json").read_text())
    ((password,),) = secret.values()
    assert (ben.home / "team/logins.json").stat().st_mode & 0o777 == 0o600
    others = [path for path in ben.home.rglob("*") if path.is_file() and path.name != "logins.json"]
    assert all(password.encode() not in path.read_bytes() for path in others)
    assert password not in invitation, "who invited does not know it"
    assert "Only whoever made the hub" in ben.ask("team", "invite", "eve", "--yes", code=1)
    assert "There is no member" in ann.ask("team", "remove", "nobody", "--yes", code=1)
    ann.ask("team", "remove", "ben", "--yes")
    ben.ask("sync", code=1)


def test_passwords_open_a_hub(tmp_path: Path) -> None:
    """An invitation does so once; of a machine that died while it changed its password, either does; who is removed is
    told."""
    cluster = Cluster(passwords=True).start()
    try:
        address = cluster.url(cluster.database())
        ann, ben, eve = (Person(tmp_path, name) for name in ("ann", "ben", "eve"))
        ann.ask("team", "init", address, "--yes")
        invitation = ann.ask("team", "invite", "ben", "--yes")["invitation"]
        ben.ask("team", "join", invitation, "--yes")
        ben.ask("sync")
        assert "lets this login in no more" in eve.ask("team", "join", invitation, "--yes", code=1)
        logins = ben.home / "team/logins.json"
        ((where, (password,)),) = json.loads(logins.read_text()).items()
        for words in (["never set", password], [password, "of before"]):
            logins.write_text(json.dumps({where: words}))
            assert ben.ask("sync")["failed"] == []
        ann.ask("team", "remove", "ben", "--yes")
        said = ben.ask("sync", code=1)
        assert "lets this login in no more" in said and password not in said
    finally:
        cluster.close()


def test_what_goes_wrong_is_said(tmp_path: Path, address: str) -> None:
    """Where there is no hub, no address or nobody to ask; and local work goes on."""
    ann = Person(tmp_path, "ann")
    assert "is no hub" in ann.ask("team", "join", address, "--yes", code=1)
    assert "is no address" in ann.ask("team", "init", "https://host/x", "--yes", code=1)
    assert "cannot be reached" in ann.ask("team", "init", "postgresql://me@/x?host=/nowhere", "--yes", code=1)
    assert "there is no terminal" in ann.ask("team", "init", address, code=1)
    assert "is shared by no hub" in ann.ask("team", "members", code=3)
    assert ann.ask("team", "list") == []
    ann.ask("rule", "add", "Always use pathlib.", "--yes")
