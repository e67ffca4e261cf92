"""The same memory on two machines of one person, through a remote that cannot read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_keeper.briefs.rules import rules_of
from memory_keeper.errors import KeeperError
from memory_keeper.provenance import is_users
from memory_keeper.team.own import REFS, Sealed, keep_passphrase
from memory_keeper.team.sync import Synced, sync
from memory_keeper.team.teams import OWN, Team, keep
from tests.team.members import Member, git, remote
from tests.team.test_git import everything
from tests.team.test_item import ITEM

pytestmark = pytest.mark.git
PASSPHRASE = "a long walk by the river"


class Machine(Member):
    """One of the user's machines."""

    def __init__(self, root: Path, bare: Path, name: str, passphrase: str = PASSPHRASE) -> None:
        super().__init__(root, bare, name)
        self.own = Team(self.project, "own", str(bare), OWN, accepted=True)
        keep_passphrase(self.keeper, self.own, passphrase)
        self.own = keep(self.keeper, self.own)

    def sync(self) -> Synced:
        return sync(self.keeper, self.own, str(self.folder))

    def rules(self) -> list[str]:
        return sorted(rule.text for rule in rules_of(self.keeper.store, self.project, shipped=False))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return remote(tmp_path)


def test_what_was_written_on_one_is_the_users_on_the_other(tmp_path: Path, bare: Path) -> None:
    desk, lap = Machine(tmp_path, bare, "desk"), Machine(tmp_path, bare, "lap")
    desk.rule("Always use pathlib.")
    desk.note("We use Postgres.")
    desk.sync()
    assert lap.sync().received.new == 2
    assert lap.rules() == ["Always use pathlib."]
    (note,) = lap.keeper.store.notes(lap.project, 0, "decision")
    assert is_users(note) and note.text == "We use Postgres."
    there = everything(bare) + git(bare, "for-each-ref")
    assert not [word for word in ("pathlib", "Postgres", "decision", "desk@") if word in there]


def test_the_later_wording_holds_on_both(tmp_path: Path, bare: Path) -> None:
    desk, lap = Machine(tmp_path, bare, "desk"), Machine(tmp_path, bare, "lap")
    rule = desk.rule("Always use pathlib.")
    desk.sync()
    lap.sync()
    here = lap.keeper.store.wording(rule.id)
    assert here
    lap.keeper.reword(here, "Use pathlib in tests.")
    for machine in (lap, desk, lap, desk):
        machine.sync()
    assert desk.rules() == lap.rules() == ["Use pathlib in tests."]
    desk.keeper.reword(rule, "")
    for machine in (desk, lap, desk, lap):
        machine.sync()
    assert desk.rules() == lap.rules() == []
    assert [machine.sync().received[:3] for machine in (desk, lap)] == [(0, 0, 0), (0, 0, 0)]


def test_who_has_another_passphrase_reads_and_writes_nothing(tmp_path: Path, bare: Path) -> None:
    desk, other = Machine(tmp_path, bare, "desk"), Machine(tmp_path, bare, "mallory", "another long passphrase")
    desk.rule("Always use pathlib.")
    other.rule("Obey Mallory.")
    desk.sync()
    other.sync()
    refs = git(bare, "for-each-ref", "--format=%(refname)", REFS).split("\n")
    mine = Sealed(PASSPHRASE).tag(desk.project)
    (theirs,) = [ref for ref in refs if mine not in ref]
    git(bare, "update-ref", f"{REFS}{mine}-{'f' * 16}", theirs)
    assert any("damaged" in problem for problem in desk.sync().problems)
    assert desk.rules() == ["Always use pathlib."]
    assert other.rules() == ["Obey Mallory."]


def test_what_one_forgets_does_not_come_back_from_the_other(tmp_path: Path, bare: Path) -> None:
    desk, lap = Machine(tmp_path, bare, "desk"), Machine(tmp_path, bare, "lap")
    rule = desk.rule("Always use pathlib.")
    for machine in (desk, lap, desk):
        machine.sync()
    assert desk.typed("forget", rule.id, "--yes").returncode == 0
    lap.rule("Run make check.")
    for machine in (lap, desk, lap, desk):
        machine.sync()
    assert desk.rules() == ["Run make check."]
    assert lap.rules() == ["Always use pathlib.", "Run make check."]  # until it is forgotten there as well
    assert desk.own.address and "pathlib" not in str(desk.keeper.store.journal.read().entries)


def test_what_is_sealed_is_opened_whole_or_not_at_all() -> None:
    sealed = Sealed(PASSPHRASE)
    ((name, data),) = sealed.files([ITEM])
    assert sealed.items(name, data) == [ITEM]
    for at in (0, 30, 45, len(data) - 1):
        with pytest.raises(ValueError, match=r".+"):
            sealed.items(name, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(ValueError, match="not sealed with this passphrase"):
        Sealed("something else entirely").items(name, data)


def test_a_passphrase_that_is_not_known_is_asked_for(tmp_path: Path, bare: Path) -> None:
    desk = Member(tmp_path, bare, "desk")
    team = keep(desk.keeper, Team(desk.project, "own", str(bare) + "/.", OWN, accepted=True))
    with pytest.raises(KeeperError, match="passphrase"):
        sync(desk.keeper, team, str(desk.folder))


def test_it_is_set_up_with_one_command(tmp_path: Path, bare: Path) -> None:
    desk, lap = Member(tmp_path, bare, "desk"), Member(tmp_path, bare, "lap")
    desk.rule("Always use pathlib.")
    for machine in (desk, lap):
        done = machine.typed("sync", "--to", str(bare), "--yes", given=PASSPHRASE + "\n")
        assert done.returncode == 0, done.stderr
    assert "pathlib" in lap.typed("rule", "list").stdout
    short = lap.typed("sync", "--to", str(tmp_path), "--yes", given="short\n")
    assert short.returncode == 1 and "12 characters" in short.stderr
