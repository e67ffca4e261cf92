"""How well and how fast secrets are taken out: of a made corpus, of real transcripts, and of a whole kept session.

./dev bench secrets [--data DIR] [--wrong] [--json]

Recall on the made corpus is strict: after redaction no 8 characters in a row of the secret may be left. Four secrets
are also said in a session, in a prompt and in what a tool printed; the session is kept, and every file of the home is
looked through for them, unpacked where it is packed. With --data also how often and how fast redaction acts on the
lines of real transcripts, beside parsing them.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.tools import transcripts
from bench.tools.corpus import Sample, corpus, fill, survives
from bench.tools.figures import Figure, Figures
from memory_keeper.capture import redact
from memory_keeper.keeper import Keeper
from memory_keeper.model import Source
from tests.transcripts import Transcript

SALT = b"bench"
MARK = re.compile(rb"<REDACTED:([a-z0-9-]+)(?::[0-9a-f]{4})?>")
PLANTED = ("AKIA{X16}", "ghp_{A36}", "password={~p14}", "eyJ{A33}.eyJ{A80}.{u43}")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    transcripts.argument(parser, required=False)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5, help="samples per kind")
    parser.add_argument("--wrong", action="store_true", help="print what went wrong")


def run(args: argparse.Namespace) -> Figures:
    """What is caught, and what it costs."""
    said = on_transcripts(args.data) if args.data else {}
    counts, wrong = recall(args.seed, args.each)
    for tier, (hit, total) in sorted(counts.items()):
        name, verb = (f"tier {tier}", "caught") if tier else ("look-alikes", "touched")
        print(f"{name}: {hit} of {total} {verb}, {hit / total:.1%}")
        said[f"tier_{tier}" if tier else "lookalikes"] = Figure(hit / total)
    if args.wrong:
        for kind, number in collections.Counter((sample.tier, sample.kind) for sample in wrong).most_common():
            print(number, *kind)
    left = planted(args.seed)
    print(f"planted in a session and found in what is kept: {len(left)} of {len(PLANTED)} {' '.join(left)}")
    return {**said, "planted": Figure(len(left), f"of {len(PLANTED)}", "0")}


def planted(seed: int) -> list[str]:
    """Which of some secrets are in any file of a home that has kept a session with them."""
    made = [fill(template, random.Random(seed + number)) for number, template in enumerate(PLANTED)]
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        session = Transcript("5ec2e700-0000-4000-8000-000000000000", "/home/dev/app")
        for text, _ in made:
            session.prompt(f"Use this for the deploy: {text}")
            session.call("Bash", {"command": "printenv"}, f"DEPLOY\n{text}\n")
            session.reply("Done.")
        path = session.write(Path(folder, session.name))
        with Keeper(f"{folder}/home", {}) as keeper:
            keeper.read(Source(str(path), session.session, "dir:/bench"))
        kept = [path.read_bytes() for path in Path(folder, "home").rglob("*") if path.is_file()]
    kept += [gzip.decompress(one) for one in kept if one[:2] == b"\x1f\x8b"]
    texts = [one.decode("utf-8", "replace") for one in kept]
    return [
        template
        for template, (_, secret) in zip(PLANTED, made, strict=True)
        if any(survives(secret, text) for text in texts)
    ]


def recall(seed: int, each: int) -> tuple[dict[int, tuple[int, int]], list[Sample]]:
    """Per tier: caught, all (for look-alikes: touched, all); and the samples that went wrong."""
    counts: dict[int, tuple[int, int]] = {}
    wrong = []
    for sample in corpus(seed, each):
        line = json.dumps({"type": "user", "message": {"content": sample.text}}, ensure_ascii=False).encode()
        done = json.loads(redact.redact_line(line, SALT))["message"]["content"]
        hit = done != sample.text if sample.tier == 0 else not survives(sample.secret, done)
        if hit == (sample.tier == 0):
            wrong.append(sample)
        caught, total = counts.get(sample.tier, (0, 0))
        counts[sample.tier] = (caught + hit, total + 1)
    return counts, wrong


def cpu(work: Callable[[bytes], object], lines: list[bytes]) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    for line in lines:
        work(line)
    return time.process_time() - start


def on_transcripts(folder: Path) -> Figures:
    """How often and how fast redaction acts on real lines."""
    lines = [
        line for path in transcripts.paths(folder) for line in transcripts.opened(path).read().split(b"\n") if line
    ]
    size = sum(map(len, lines)) / 1e6
    parse = min(cpu(json.loads, lines) for _ in range(3))
    clean = min(cpu(lambda line: redact.redact_line(line, SALT), lines) for _ in range(3))
    opened = [line for line in lines if b"\\u" in line or redact.suspicious(line.decode("utf-8", "surrogateescape"))]
    hits: collections.Counter[str] = collections.Counter()
    for line in lines:
        done = redact.redact_line(line, SALT)
        if done is not line:
            hits.update(match.decode() for match in MARK.findall(done))
            hits.subtract(match.decode() for match in MARK.findall(line))
    total = sum(hits.values())
    print(f"{len(lines):,} lines, {size:.1f} MB")
    print(
        f"redact_line {size / clean:.1f} MB/s of CPU, json.loads {size / parse:.0f}: {clean / parse:.2f} times its cost"
    )
    print(f"gate opened by {len(opened) / len(lines):.1%} of lines, {sum(map(len, opened)) / size / 1e6:.1%} of bytes")
    print(f"{total} hits, {total / size:.2f} per MB: {dict(hits.most_common()) or 'none'}")
    return {
        "hits": Figure(total / size, "per MB", "<= 1.5"),
        "speed": Figure(size / clean, "MB/s", ">= 5"),
        "cost": Figure(clean / parse, "x"),
    }
