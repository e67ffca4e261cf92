"""The status line: one line that fits and says what is so, beside the user's own, and never a failure."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import memory_keeper
from memory_keeper.capture.gauge import LARGE, SMALL
from memory_keeper.hooks import statusline
from memory_keeper.hooks.statusline import Answer, bar, compose, join, measure, read, short
from memory_keeper.host.claude_settings import is_ours
from memory_keeper.request import Limits
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.text import clean
from memory_keeper.width import columns
from tests.command import run
from tests.machine import START
from tests.rows import rows
from tests.test_hot_path import NEVER, loaded
from tests.transcripts import Transcript

PLUGIN = START.parents[3] / "plugin/launch"


def payload(tokens: int | None = 144_000, window: int | None = SMALL, **more: Any) -> dict[str, Any]:
    """What Claude Code gives a status line."""
    usage = {"input_tokens": 4, "cache_creation_input_tokens": 40, "cache_read_input_tokens": (tokens or 0) - 44}
    return {
        "session_id": "5e55104e-0000-4000-8000-000000000001",
        "transcript_path": "/none.jsonl",
        "model": {"id": "claude-sonnet-4-6", "display_name": "Sonnet 4.6"},
        "workspace": {"project_dir": "/"},
        "version": "2.1.325",
        "context_window": {
            "context_window_size": window,
            "current_usage": {**usage, "output_tokens": 900} if tokens else None,
        },
        **more,
    }


def show(
    given: object, *args: str, environ: dict[str, str] | None = None, code: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Call it as the host does; whatever happens, it must not fail."""
    command = ["-c", code] if code else [str(START)]
    done = subprocess.run(
        [sys.executable, "-I", "-S", *command, "statusline", *args],
        input=given if isinstance(given, bytes) else json.dumps(given).encode(),
        capture_output=True,
        env={**os.environ, "NO_COLOR": "1", **(environ or {})},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done


def line(given: object, *args: str, **environ: str) -> str:
    return show(given, *args, environ=environ).stdout.decode()


def home() -> Path:
    return Path(os.environ["MEMORY_KEEPER_HOME"])


# --- what it says -----------------------------------------------------------------------------------------------------


def test_how_full_it_is() -> None:
    assert line(payload()) == "▓▓▓▓▓▓▓░│░ 72% · 144k/200k · compacts at 167k · Sonnet 4.6\n"
    large = payload(700_000, LARGE, model={"id": "claude-opus-5-5", "display_name": "Opus 5.5"})
    assert line(large) == "▓▓▓▓▓▓▓░░│ 70% · 700k/1M · compacts at 967k · Opus 5.5\n"


def test_where_nothing_is_compacted_it_says_where_it_ends() -> None:
    assert line(payload(), DISABLE_AUTO_COMPACT="1") == "▓▓▓▓▓▓▓░│░ 72% · 144k/200k · refuses at 177k · Sonnet 4.6\n"


@rows("module", "threshold", "said")
def test_in_mode_replace_it_says_where_we_compact(module: bool, threshold: str, said: str) -> None:
    given = payload()
    record = {"event": "Window", "at": 1.0, "window": SMALL, **({"by": "module"} if module else {})}
    spool.append(str(home()), given["session_id"], record)
    name = "MEMORY_KEEPER_COMPACTION_TRIGGERS_SESSIONTOKENS_THRESHOLD"
    assert line(given, MEMORY_KEEPER_COMPACTION_MODE="replace", **{name: threshold}).startswith(said + " ·")


def test_before_the_first_answer() -> None:
    assert line(payload(None)) == "context: no response yet\n"


def test_after_a_compaction_it_is_what_that_left(tmp_path: Path) -> None:
    """As the real host says it: nothing but zeros, until the next answer."""
    transcript = Transcript("s1", str(tmp_path))
    transcript.prompt("Go on.")
    transcript.reply("Yes.")
    given = payload(0, transcript_path=str(tmp_path / "s1.jsonl"))
    given["context_window"]["current_usage"] = {"input_tokens": 0, "output_tokens": 0}
    transcript.write(tmp_path / "s1.jsonl")
    assert line(given) == "context: no response yet\n"
    transcript.compact("All is well.", post=21_000)
    transcript.append_to(tmp_path / "s1.jsonl")
    assert line(given).startswith("▓░░░░░░░│░ 10% · 21k/200k · ")


def test_an_unknown_window_has_no_percent() -> None:
    unknown = payload(144_000, None, model={"id": "", "display_name": "A\x1b[31m model\n\u202e"})
    assert line(unknown) == "144k tokens · A model\n"


@pytest.mark.parametrize(
    ("tokens", "colour"), [(100_000, "32"), (139_999, "32"), (140_000, "33"), (158_649, "33"), (158_650, "31")]
)
def test_its_colour_is_its_level(tokens: int, colour: str) -> None:
    seen = show(payload(tokens), environ={"NO_COLOR": ""}).stdout.decode()
    assert seen.startswith(f"\x1b[{colour}m▓")
    assert seen.endswith("\x1b[0m\n")
    assert "\x1b" not in show(payload(tokens), environ={"NO_COLOR": "", "TERM": "dumb"}).stdout.decode()


def test_the_settings_say_what_is_much(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude/memory-keeper.json").write_text('{"context": {"warnPercent": 10, "criticalPercent": 20}}')
    seen = show(payload(50_000, workspace={"project_dir": str(project)}), environ={"NO_COLOR": ""})
    assert seen.stdout.startswith(b"\x1b[33m")  # what is critical is the user's to say


@rows("cells", "said")
def test_what_does_not_fit_goes_from_the_right(cells: int, said: str) -> None:
    assert line(payload(), COLUMNS=str(cells + 4)).rstrip("\n") == said  # the host keeps four for itself
    assert line(payload(), "--width", str(cells)).rstrip("\n") == said
    assert line(payload(), f"--width={cells}", COLUMNS="0").rstrip("\n") == said


def test_numbers_for_people() -> None:
    said = [short(tokens) for tokens in (1, 999, 1000, 1499, 1500, 999_499, 999_500, LARGE, 1_200_000, 12_340_000)]
    assert said == ["1", "999", "1k", "1k", "2k", "999k", "1M", "1M", "1.2M", "12.3M"]


def test_the_bar() -> None:
    assert [bar(tokens, 100, 0) for tokens in (0, 4, 5, 94, 95, 100, 300)] == [
        "░░░░░░░░░░", "░░░░░░░░░░", "▓░░░░░░░░░", "▓▓▓▓▓▓▓▓▓░", "▓▓▓▓▓▓▓▓▓▓", "▓▓▓▓▓▓▓▓▓▓", "▓▓▓▓▓▓▓▓▓▓",
    ]  # fmt: skip
    assert [bar(95, 100, end) for end in (1, 83, 100, 900)] == ["│▓▓▓▓▓▓▓▓▓", "▓▓▓▓▓▓▓▓│▓", *["▓▓▓▓▓▓▓▓▓│"] * 2]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=5,
)
names = st.text(max_size=60) | st.sampled_from(["日本語のモデル", "\x1b]0;x\x07", "a\nb", "👩‍👩‍👧", "❤️", "e\u0301"])
counts = st.integers(-5, 1 << 70) | anything


@given(
    tokens=counts, window=counts, name=names, model=names, width=st.integers(0, 200),
    ends=st.integers(0, 2_000_000), level=st.sampled_from(["ok", "warn", "critical", "unknown"]), painted=st.booleans(),
)  # fmt: skip
def test_whatever_the_payload_it_is_one_clean_line_that_fits(
    tokens: Any, window: Any, name: str, model: str, width: int, ends: int, level: str, painted: bool
) -> None:
    about = {"context_window_size": window, "current_usage": {"input_tokens": tokens}}
    shown = read({"model": {"id": model, "display_name": name}, "context_window": about})
    said = compose(Answer(shown, Limits(shown.window, ends), level), width, painted)
    assert columns(clean(said)) <= width
    plain = said.replace("\x1b[0m", "").replace("\x1b[2m", "").replace(f"\x1b[{statusline.COLOURS[level]}m", "")
    assert clean(plain) == plain
    assert "\n" not in said
    said.encode()


paths = st.text(max_size=20).map(lambda text: "/" + text) | st.sampled_from(["/dev/zero", "/\ud800", "/\0", "/" * 5000])
fields = st.one_of(anything, paths, st.builds(lambda path: {"project_dir": path}, paths))


@given(given=st.dictionaries(st.sampled_from(list(payload())), fields) | anything)
@example(given=payload(cwd="/\ud800", workspace={}, transcript_path="/\udcff.jsonl"))
def test_a_payload_is_read_forgivingly(given: Any) -> None:
    with TemporaryDirectory() as folder:
        said = measure(json.dumps(given).encode(), f"{folder}/keeper", {"HOME": folder})
        assert (said is None) is not isinstance(given, dict)
        if said:
            statusline.keep(said.shown, f"{folder}/keeper", 1.0)
            compose(said, 80)


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}" * 2, b"[" * 100_000])
def test_what_is_no_payload_says_nothing(given: bytes) -> None:
    assert show(given).stdout == b""
    assert show(given, "--wrap", "echo mine").stdout == b"mine\n"
    assert not home().exists()


def test_nobody_at_the_other_end() -> None:
    for wrap in ([], ["--wrap", "cat; echo mine"]):
        for closed in ("0<&-", "1>&-", "0<&- 1>&-"):
            call = shlex.join([sys.executable, "-IS", str(START), "statusline", *wrap])
            done = subprocess.run(f"{call} {closed}", shell=True, stdin=subprocess.DEVNULL, capture_output=True)
            assert (done.returncode, done.stderr) == (0, b"")
            assert "1>&-" in closed or done.stdout == b"mine\n" * bool(wrap)


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_it_loads_what_a_hook_may_load(tmp_path: Path) -> None:
    bare = loaded("-c", "pass")
    folder = tmp_path / "project"
    folder.mkdir()
    given = json.dumps(payload(workspace={"project_dir": str(folder)})).encode()
    for _ in range(2):  # with the record, and without
        found = loaded(str(START), "statusline", given=given) - bare
        assert not found & {*NEVER, "memory_keeper.text", "memory_keeper.hooks.answer", "unicodedata"}
    found = loaded(str(START), "statusline", "--wrap", "true", given=given) - bare
    assert not found & {*NEVER, "signal"}


# --- what the hooks learn from it -------------------------------------------------------------------------------------


def windows(session: str) -> list[tuple[int, str]]:
    data = (home() / f"spool/{session}.spool").read_bytes()
    return [(record["window"], record["model"]) for record in spool.records(data, "Window")]


def test_the_hooks_learn_the_window_once() -> None:
    session = payload()["session_id"]
    for tokens in (None, 10_000, 20_000):
        line(payload(tokens))
    assert windows(session) == [(SMALL, "claude-sonnet-4-6")]
    line(payload(30_000, LARGE, model={"id": "claude-sonnet-4-6[1m]", "display_name": "x"}))
    line(payload(30_000, LARGE, model={}))
    assert windows(session) == [(SMALL, "claude-sonnet-4-6"), (LARGE, "claude-sonnet-4-6[1m]")]
    context = read_context(str(home()), session)
    assert (context.window, context.model) == (LARGE, "claude-sonnet-4-6[1m]")


@pytest.mark.parametrize("session", ["../../evil", "a/b", "x" * 300, "é"])
def test_no_session_chooses_a_path(tmp_path: Path, session: str) -> None:
    assert line(payload(session_id=session)).startswith("▓")
    (made,) = (home() / "spool").iterdir()
    assert made.name.startswith("x-")
    assert {path.name for path in tmp_path.iterdir()} == {"home", "keeper"}


@pytest.mark.parametrize("missing", [{"session_id": ""}, {"session_id": 5}, {"context_window": {}}])
def test_nothing_is_kept_of_what_is_not_said(missing: dict[str, Any]) -> None:
    line(payload(**missing))
    assert not home().exists()


def test_where_nothing_can_be_kept_the_line_is_there() -> None:
    home().write_text("not a folder")
    assert line(payload()).startswith("▓▓▓▓▓▓▓░│░ 72%")


# --- beside the user's own --------------------------------------------------------------------------------------------

OURS = "▓▓▓▓▓▓▓░│░ 72% · 144k/200k · compacts at 167k · Sonnet 4.6"


@pytest.mark.parametrize(
    ("command", "before"),
    [
        ("echo mine", "mine  "),
        ("printf mine", "mine  "),
        ("printf 'mine\\r\\n\\n'", "mine  "),
        ("printf 'one\\ntwo\\n'", "one\ntwo  "),
        ("echo mine; exit 7", "mine  "),
        ("echo mine >&2", ""),
        ("true", ""),
        ("exec /no/such/program", ""),
        ("syntax error (", ""),
        ("kill -9 $$", ""),
        ("printf '\\033[31mmine'", "\x1b[31mmine\x1b[0m  "),
        ("printf '12345678901234567'", "12345678901234567  "),
        ("printf '123456789012345678'", "123456789012345678\n"),
        ("printf '日本語日本語日本語'", "日本語日本語日本語\n"),
        (
            "printf '\\033[1;38;2;1;2;3m12345678901234567\\033[0m'",
            "\x1b[1;38;2;1;2;3m12345678901234567\x1b[0m\x1b[0m  ",
        ),
        ("printf '\\377'", "\udcff  "),
        (r"""python3 -c 'import json,sys; print(json.load(sys.stdin)["version"])'""", "2.1.325  "),
    ],
)
def test_it_comes_after_the_user_s_own(command: str, before: str) -> None:
    seen = show(payload(), "--wrap", command, "--width", str(len(OURS) + 19)).stdout
    assert seen.decode("utf-8", "surrogateescape") == before + OURS + "\n"
    assert show(payload(), f"--wrap={command}", "--width", str(len(OURS) + 19)).stdout == seen


def test_the_other_is_given_every_byte() -> None:
    given = json.dumps(payload(padding="é" * 500_000)).encode()
    seen = show(given, "--wrap", "wc -c").stdout.decode()
    assert seen.split()[0] == str(len(given))
    assert "72%" in seen
    assert "72%" in show(given, "--wrap", "true").stdout.decode()  # it need not read it


def test_the_other_has_the_last_word_when_there_is_nothing_to_say() -> None:
    assert join(b"", "", 80) == b""
    assert join(b"mine\n", "", 80) == b"mine\n"
    assert join(b" \n", "ours", 80) == b"ours\n"


def patient(seconds: float) -> str:
    """The same door with another patience."""
    path = str(Path(memory_keeper.__file__).parents[1])
    return (
        f"import sys; sys.path.insert(0, {path!r}); from memory_keeper.hooks import statusline as s;"
        f" s.PATIENCE = {seconds}; s.main(sys.argv[1:])"
    )


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(true: Callable[[], object]) -> None:
    until = monotonic() + 60
    while not true():
        assert monotonic() < until
        sleep(0.01)


def test_the_other_is_ended_when_it_takes_too_long(tmp_path: Path) -> None:
    command = f"sleep 600 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; echo mine; wait"
    for seconds in (0.5, 5, 50):  # on a busy machine it may be ended before it has begun
        assert show(payload(), "--wrap", command, code=patient(seconds)).stdout.decode() == OURS + "\n"
        if (tmp_path / "pid").exists():
            break
    wait_for(lambda: not alive(int((tmp_path / "pid").read_text())))


def test_what_the_other_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    command = f"sleep 600 & echo $! >{tmp_path}/pid; echo mine"
    assert show(payload(), "--wrap", command, code=patient(600)).stdout.decode() == f"mine  {OURS}\n"
    pid = int((tmp_path / "pid").read_text())
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_call_that_is_thrown_away_takes_the_other_with_it(tmp_path: Path, number: signal.Signals) -> None:
    command = f"sleep 600 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; wait"
    call = [sys.executable, "-IS", str(START), "statusline", "--wrap", command]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin
        process.stdin.write(json.dumps(payload()).encode())
        process.stdin.close()
        wait_for((tmp_path / "pid").exists)
        process.send_signal(number)
        process.wait(60)
    wait_for(lambda: not alive(int((tmp_path / "pid").read_text())))


def test_an_endless_other_is_cut() -> None:
    seen = show(payload(), "--wrap", "yes").stdout
    assert len(seen) < 100_000
    assert seen.decode().endswith(OURS + "\n")


@rows("text", "width")
def test_cells_of_a_terminal(text: str, width: int) -> None:
    assert columns(text) == width


@given(first=st.binary(max_size=60), width=st.integers(1, 120))
@example(first="日".encode() * 30, width=60)
def test_beside_or_below_but_never_beyond(first: bytes, width: int) -> None:
    said = join(first, "ours", width)
    assert said.endswith(b"ours\n")
    kept = first.rstrip(b"\r\n\t ")
    assert said.startswith(kept)
    last = clean(kept.rpartition(b"\n")[2].decode("utf-8", "replace")).expandtabs()
    if kept and not said.removesuffix(b"ours\n").endswith(b"\n"):
        assert columns(last) + 2 + 4 <= width


# --- put into the settings, and taken out again -----------------------------------------------------------------------


@pytest.fixture
def settings(private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings of Claude Code, which need not be there."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    (private_home / ".claude").mkdir()
    return private_home / ".claude/settings.json"


def shown(settings: Path, given: object) -> str:
    """What Claude Code would show: it runs the command with sh."""
    value = json.loads(settings.read_bytes())["statusLine"]
    assert value["type"] == "command"
    done = subprocess.run(
        ["/bin/sh", "-c", value["command"]],
        input=json.dumps(given).encode(),
        capture_output=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "160"},
        timeout=60,
        check=True,
    )
    return done.stdout.decode()


@pytest.mark.parametrize("before", [None, b"{}", b'{"model":"opus"}', b'{\r\n\t"statusLine": null\r\n}'])
def test_installed_and_removed(settings: Path, before: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    if before is not None:
        settings.write_bytes(before)
    assert run("statusline", "--install") == 0
    assert str(settings) in capsys.readouterr().out
    value = json.loads(settings.read_bytes())["statusLine"]
    assert value == {"type": "command", "command": f"{home()}/current/plugin/launch statusline"}
    assert shown(settings, payload()) == OURS + "\n"
    after = settings.read_bytes()
    assert run("statusline", "--install") == 0
    assert "there already" in capsys.readouterr().out
    assert settings.read_bytes() == after
    assert run("statusline", "--remove") == 0
    assert "as it was before" in capsys.readouterr().out
    assert (settings.read_bytes() if settings.exists() else None) == before
    assert run("statusline", "--remove") == 0
    assert "There was none of ours" in capsys.readouterr().out


@rows("command")
def test_a_status_line_of_the_user_s_goes_on(settings: Path, command: str) -> None:
    before = json.dumps({"statusLine": {"type": "command", "command": command, "padding": 1}, "a": 1}).encode()
    settings.write_bytes(before)
    assert run("statusline", "--install") == 0
    assert json.loads(settings.read_bytes())["statusLine"]["padding"] == 1
    assert shown(settings, payload()) == f"mine  {OURS}\n"
    after = settings.read_bytes()
    assert run("statusline", "--install") == 0  # it does not wrap itself
    assert settings.read_bytes() == after
    assert run("statusline", "--remove") == 0
    assert settings.read_bytes() == before


@rows("command", "ours")
def test_it_knows_itself(settings: Path, command: str, ours: bool) -> None:
    assert is_ours(command) is ours
    before = json.dumps({"statusLine": {"type": "command", "command": command}})
    settings.write_text(before)
    assert run("statusline", "--install") == 0
    assert (settings.read_text() == before) is ours


def test_what_the_user_changed_since_stays(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("statusline", "--install")
    settings.write_text('{"statusLine": {"type": "command", "command": "newer"}}')
    assert run("statusline", "--remove") == 0
    assert "it stays as it is" in capsys.readouterr().out
    assert "newer" in settings.read_text()


def test_broken_settings_are_left_alone(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_text("{broken")
    assert run("statusline", "--install") == 1
    assert "is not a JSON object" in capsys.readouterr().err
    assert settings.read_text() == "{broken"


def test_another_home_is_not_the_hooks(settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("statusline", "--install", "--home", str(tmp_path / "other")) == 1
    assert "MEMORY_KEEPER_HOME" in capsys.readouterr().err
    assert not settings.exists()


def test_a_project_s_own_wins_and_that_is_said(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".claude").mkdir()
    Path(".claude/settings.local.json").write_text('{"statusLine": {"type": "command", "command": "x"}}')
    assert run("statusline", "--install", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["did"] == "changed"
    assert ["settings.local.json" in note for note in said["notes"]] == [True]


def test_the_settings_are_where_the_host_has_them(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert run("statusline", "--install") == 0
    assert not settings.exists()
    assert shown(tmp_path / "elsewhere/settings.json", payload()) == OURS + "\n"


def test_as_pip_installs_it(settings: Path, tmp_path: Path) -> None:
    site = tmp_path / "site packages"
    package = site / "memory_keeper"
    shutil.copytree(START.parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    for part in (".claude-plugin", "bin", "plugin"):
        ignore = shutil.ignore_patterns(".python*")
        shutil.copytree(START.parents[3] / part, package / "data" / part, ignore=ignore)
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from memory_keeper.cli.main import main; main()"
    show(b"", "--install", code=code)
    assert (home() / "current").readlink() == home() / "marketplace"
    shutil.rmtree(site)
    assert shown(settings, payload()) == OURS + "\n"


def test_what_makes_no_sense(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("statusline", "--install", "--wrap", "x") == 2
    assert run("statusline", "--install", "--remove") == 2
    assert run("statusline", "--width", "wide") == 2
    assert not settings.exists()


def test_the_parser_s_way(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--wrap" in show(b"", "--help").stdout.decode()
    said = json.loads(show(payload(), "--json").stdout)
    assert said["line"] == OURS
    assert (said["tokens"], said["percent"], said["window"], said["compacts_at"]) == (144_000, 72, SMALL, 167_000)
    assert (said["level"], said["model"]) == ("warn", "claude-sonnet-4-6")
    code = f"import sys; sys.path.insert(0, {str(START.parents[2])!r}); from memory_keeper.cli.main import main; main()"
    assert show(payload(), "--wrap", "echo mine", code=code).stdout.decode() == f"mine  {OURS}\n"
