"""What a team's hub on PostgreSQL does as it grows: how long a search takes, how fast items come and go, its size.

./dev bench team [--rows 100000,1000000] [--json]

A server of its own, with what keeps data safe switched on (fsync, full pages, synchronous commits) and 1 GB of shared
buffers, reached through its socket. 200 members in 50 projects, of which some are a hundred times as large as others;
items are pieces of text of about 300 characters, no two alike, and the questions are made of them. The first rows are
put in at once; everything else is what `memory-keeper sync` does.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from random import Random
from typing import Any

from bench.tools import measure
from bench.tools.figures import Figure, Figures
from bench.tools.measure import median, quantile
from bench.tools.queries import Query, Row, questions
from bench.tools.rows import rows
from memory_keeper.model import Item
from memory_keeper.store.index import words_of
from memory_keeper.team.hub import members
from memory_keeper.team.hub.connection import Address, Database
from memory_keeper.team.hub.schema import WRITTEN
from memory_keeper.team.hub.transport import Hub
from tests.postgres import Cluster

SAFE: dict[str, Any] = {
    **dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes", "autovacuum"), "on"),
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "maintenance_work_mem": "512MB",
}
MEMBERS, PROJECTS = 200, 50
PUSHED, PULLED, ROUNDS = 2_000, 20_000, 30
BOX = 8.0  # seconds for one class of questions
BEGIN = 1_735_689_600.0
CLASSES = ("one common word", "one rare word", "two words", "three words", "a question", "an identifier")
COPY = f"copy loaded ({WRITTEN}, member) from stdin"
LOADED = """
insert into memory_keeper.item
select project, writer, id, kind, text, at, written, rev, "to", session, gone, digest, null, member,
    pg_current_xact_id()::text::bigint, nextval('memory_keeper.item_seq'), now(),
    to_tsvector('memory_keeper.words', text || ' ' || parts) || array_to_tsvector(array[memory_keeper.tag(project)])
from loaded
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What this part takes."""
    numbers = lambda given: [int(float(one)) for one in given.split(",")]  # noqa: E731
    parser.add_argument("--rows", type=numbers, default=[100_000, 1_000_000], help="sizes, each in a hub of its own")
    parser.add_argument("--queries", type=int, default=60, help="of each class")


def run(args: argparse.Namespace) -> Figures:
    """Every size, one after the other."""
    print(f"\n{measure.machine()}", flush=True)
    said: Figures = {}
    cluster = Cluster(**SAFE).start()
    try:
        ((version,),) = cluster.ask("show server_version")
        print(f"PostgreSQL {version}", flush=True)
        for size in sorted(args.rows):
            said |= one_size(cluster, size, args.queries)
    finally:
        cluster.close()
    return said


def one_size(cluster: Cluster, size: int, count: int) -> Figures:
    """A hub with so many items."""
    name = cluster.database()
    boss = Address(f"{cluster.url(name)}#{project(0)}")
    with closing(Database(boss)) as db:
        members.init(db, "Boss <boss@host>")
        begin = time.perf_counter()
        sample = load(db, size)
        print(f"\n{size:,} items, loaded in {time.perf_counter() - begin:.0f} s", flush=True)
        everything = Address(members.invite(db, boss, "everything"))
        small = project(PROJECTS - 1)
        little = Address(members.invite(db, Address(boss.of("boss", "", small)), "little", [small]))
        said = sizes(db, size)
    asked = questions(sample, count, size)
    for who, address in (("all", everything), ("one", little)):
        with closing(Hub(address)) as hub:
            said |= searches(hub, {name: asked[name] for name in CLASSES}, f"{who}_{size}")
    with closing(Database(everything)) as db:
        said |= behind_policies(db, asked["two words"], size)
    said |= moving(boss, everything, size)
    cluster.ask(f"drop database {name} with (force)")
    return said


def project(number: int) -> str:
    return f"git.example/team/app{number}"


# --- filling it ------------------------------------------------------------------------------------------------------


def load(db: Database, size: int) -> list[Row]:
    """Items of all members, put in by the owner; some of them, to make questions of."""
    random, sample = Random(size), list[Row]()
    with db.change():
        for number in range(MEMBERS):
            db.run(
                "insert into memory_keeper.member (name, author) values (%s, %s)", f"m{number}", f"M{number} <m@host>"
            )
            db.run("insert into memory_keeper.writer values (%s, %s)", writer(number), f"m{number}")
        for number in range(PROJECTS):
            db.run("insert into memory_keeper.project values (%s) on conflict do nothing", project(number))
    db.run("alter table memory_keeper.item disable trigger user")
    db.run("drop index memory_keeper.item_words")
    source, left = rows(), size
    while left:
        part = min(left, 50_000)
        with db.change():
            db.run("create temporary table loaded (like memory_keeper.item) on commit drop")
            db.run("alter table loaded alter xact drop not null, alter seq drop not null,"
                   " alter received drop not null, alter words drop not null")  # fmt: skip
            with db.connection.cursor() as cursor, cursor.copy(COPY.encode()) as copy:
                for number, row in enumerate(itertools.islice(source, part), size - left):
                    copy.write_row(as_row(random, number, row))
                    if random.random() < 20_000 / size:
                        sample.append(row)
            db.run(LOADED)
            db.run("insert into memory_keeper.push (xact) values (pg_current_xact_id()::text::bigint)")
        left -= part
        print(f"\r{size - left:,} of {size:,}", end="", flush=True)
    db.run("set statement_timeout = 0")
    db.run("create index item_words on memory_keeper.item using gin (words) with (fastupdate = off)")
    db.run("alter table memory_keeper.item enable trigger user")
    db.run("vacuum analyze memory_keeper.item")
    return sample


def as_row(random: Random, number: int, row: Row) -> tuple[Any, ...]:
    which = random.randrange(MEMBERS)
    where = project(int(PROJECTS * random.random() ** 3))  # a few are large, most are small
    at = BEGIN + number
    return (
        where, writer(which), f"note-{number:x}", "decision", row.text, at, at, 1, "", "", False, "",
        words_of(row.text)[1], f"m{which}",
    )  # fmt: skip


def writer(number: int) -> str:
    return f"{number:016x}"


def sizes(db: Database, size: int) -> Figures:
    """Bytes for each item, and where they are."""
    query = (
        "select pg_relation_size('memory_keeper.item') + pg_relation_size(reltoastrelid),"
        " pg_relation_size('memory_keeper.item_words'),"
        " pg_indexes_size('memory_keeper.item') - pg_relation_size('memory_keeper.item_words')"
        " from pg_class where oid = 'memory_keeper.item'::regclass"
    )
    ((heap, text, others),) = db.rows(query)
    print(f"table {heap / 1e6:.0f} MB, text index {text / 1e6:.0f} MB, other indexes {others / 1e6:.0f} MB")
    return {
        f"bytes_{size}": Figure(round((heap + text + others) / size), "B"),
        f"table_{size}": Figure(heap / 1e6, "MB"),
        f"text_index_{size}": Figure(text / 1e6, "MB"),
        f"other_indexes_{size}": Figure(others / 1e6, "MB"),
    }


# --- asking it -------------------------------------------------------------------------------------------------------


def timed(do: Callable[[], object]) -> float:
    """Milliseconds."""
    begin = time.perf_counter()
    do()
    return (time.perf_counter() - begin) * 1000


def boxed(queries: Sequence[Query], ask: Callable[[Query], object]) -> list[float]:
    """Each question once, after it was asked once; no longer than the box."""
    took, until = list[float](), time.perf_counter() + BOX
    for query in queries:
        ask(query)
        took.append(timed(lambda query=query: ask(query)))  # type: ignore[misc]
        if time.perf_counter() > until:
            break
    return took


def searches(hub: Hub, asked: dict[str, list[Query]], label: str) -> Figures:
    """Every class, as a member asks it."""
    every: list[float] = []
    for name, queries in asked.items():
        took = boxed(queries, lambda query: hub.search(query.text, 10, everywhere=True))
        print(f"  {label:14} {name:18} {median(took):8.2f} {quantile(took, 0.95):8.2f} ms  ({len(took)})", flush=True)
        every += took
    print(f"  {label:14} {'all of them':18} {median(every):8.2f} {quantile(every, 0.95):8.2f} ms", flush=True)
    return {
        f"search_{label}": Figure(median(every), "ms"),
        f"search_{label}_p95": Figure(quantile(every, 0.95), "ms"),
    }


def behind_policies(db: Database, queries: Sequence[Query], size: int) -> Figures:
    """The same question put to the table itself, where the policies keep the text index from being used."""
    direct = (
        "select id from memory_keeper.item"
        " where words @@ plainto_tsquery('memory_keeper.words', %s) and not gone limit 10"
    )
    took = boxed(queries, lambda query: db.rows(direct, query.text))
    through = boxed(queries, lambda query: db.rows("select id from memory_keeper.search(%s, null, 10)", query.text))
    ratio = median(took) / median(through)
    print(f"  two words, table itself {median(took):.1f} ms, by the function {median(through):.1f} ms: {ratio:.0f} x")
    return {f"policy_{size}": Figure(ratio, "x")}


# --- moving items ----------------------------------------------------------------------------------------------------


def made(label: str, which: int, texts: Iterator[Row], count: int) -> list[Item]:
    return [
        Item(f"{label}-{number:x}", "decision", row.text, "M <m@host>", writer(which), BEGIN, BEGIN, 1)
        for number, row in enumerate(itertools.islice(texts, count))
    ]


def moving(boss: Address, reader: Address, size: int) -> Figures:
    """How fast items come and go, alone and with others, and how soon another member has them."""
    texts = itertools.islice(rows(), 200_000, None)
    with closing(Hub(boss)) as hub:
        one = made("one", 1_000, texts, PUSHED)
        pushed = PUSHED / timed(lambda: hub.push(one)) * 1000
        again = timed(lambda: hub.push(one))
        batches = [made(f"many{number}", 1_001 + number, texts, PUSHED // 4) for number in range(8)]
        with ThreadPoolExecutor(8) as pool:
            together = 2 * PUSHED / timed(lambda: [*pool.map(lambda items: push(boss, items), batches)]) * 1000
        with closing(Hub(reader)) as other:
            got, cursor, more = 0, "", True
            begin = time.perf_counter()
            while more and got < PULLED:
                items, cursor, more = other.pull(cursor)
                got += len(items)
            pulled = got / (time.perf_counter() - begin)
        while items:
            with closing(Hub(reader)) as other:
                more = True
                while more:
                    items, cursor, more = other.pull(cursor)
        lags, idle = [], []
        for number in range(ROUNDS):
            item = made(f"lag{number}", 1_000, texts, 1)
            begin = time.perf_counter()
            hub.push(item)
            with closing(Hub(reader)) as other:
                items, cursor, _ = other.pull(cursor)
            lags.append((time.perf_counter() - begin) * 1000)
            assert item[0].id in {one.id for one in items}
            idle.append(timed(partial(nothing_new, reader, cursor)))
    print(
        f"  pushed {pushed:,.0f}/s by one, {together:,.0f}/s by eight; the same again {again:.0f} ms;"
        f" pulled {pulled:,.0f}/s; lag {median(lags):.1f} ms; a sync with nothing new {median(idle):.1f} ms"
    )
    return {
        f"push_{size}": Figure(pushed, "/s"),
        f"push_eight_{size}": Figure(together, "/s"),
        f"pull_{size}": Figure(pulled, "/s"),
        f"lag_{size}": Figure(median(lags), "ms"),
        f"lag_{size}_p95": Figure(quantile(lags, 0.95), "ms"),
        f"idle_{size}": Figure(median(idle), "ms"),
    }


def push(address: Address, items: Sequence[Item]) -> None:
    with closing(Hub(address)) as hub:
        assert hub.push(items) == {}


def nothing_new(address: Address, cursor: str) -> None:
    with closing(Hub(address)) as hub:
        hub.pull(cursor)
