"""The schema of a hub, one numbered step at a time; `migrate` brings one up to date in a single transaction.

Whose a connection is says its login, and nothing that the client sends. Members read and write tables themselves, under
row-level security; only the search runs with the rights of the owner, since the text index is of no use behind a
policy, and asks for the member itself. Order is the server's: `xact` is the transaction that wrote a row, and who reads
on from one stays below the oldest that is still open, so that a late commit is not missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_keeper.errors import KeeperError

if TYPE_CHECKING:
    from memory_keeper.team.hub.connection import Database

NAME = "memory_keeper"  # of the schema
ALL = "*"  # in place of a project: all of them
INDEXED = 200_000  # characters of a text that can be searched
CANDIDATES = 1_000  # rows that are ranked

TABLES = """
create schema memory_keeper;
revoke all on schema memory_keeper from public;
set local search_path = memory_keeper, pg_temp;

-- `system` is the cluster that gave out the transactions' numbers: they mean nothing in another one
create table hub (version integer not null, system bigint not null);

create table member (
    name text primary key,
    author text not null default '', -- as whose word what they share is shown
    since timestamptz not null default now(),
    removed timestamptz
);
create unique index member_author on member (lower(author)) where author != '';

-- one for each machine of a member
create table login (
    role text primary key,
    member text not null references member,
    since timestamptz not null default now(),
    seen timestamptz
);

create table project (name text primary key, since timestamptz not null default now());
create table access (member text not null references member, project text not null, primary key (member, project));

-- whoever writes first as one home is the only one who may
create table writer (writer text primary key, member text not null references member);

create table item (
    project text not null references project,
    writer text not null,
    id text not null,
    kind text not null,
    text text not null check (length(text) <= 1000000),
    at double precision not null,
    written double precision not null,
    rev bigint not null,
    "to" text not null,
    session text not null,
    gone boolean not null,
    digest text collate "C" not null,
    parts text, -- what is found besides the words of the text
    member text not null,
    xact bigint not null,
    seq bigint not null,
    received timestamptz not null,
    words tsvector not null,
    check (gone = (text = '')),
    primary key (project, writer, id)
);
create sequence item_seq;
create index item_order on item (project, xact, seq);

-- the transactions that wrote items, each under a name that no restored copy of this hub could know
create table push (xact bigint primary key, token uuid not null default gen_random_uuid());

create text search dictionary stem (template = snowball, language = english);
create text search configuration words (copy = simple);
alter text search configuration words
    alter mapping for asciiword, asciihword, hword_asciipart, word, hword, hword_part with stem;
create index item_words on item using gin (words) with (fastupdate = off);
"""

FUNCTIONS = """
set local search_path = memory_keeper, pg_temp;

-- who asks; null when that is nobody
create or replace function me() returns text language sql stable security definer
set search_path = memory_keeper, pg_temp as $$
    select m.name from login l join member m on m.name = l.member where l.role = session_user and m.removed is null
$$;

-- the projects of who asks
create or replace function mine() returns text[] language sql stable security definer
set search_path = memory_keeper, pg_temp as $$
    select coalesce(array_agg(p.name), '{}') from project p
    where exists (select from access a where a.member = me() and a.project in (p.name, '*'))
$$;

create or replace function tag(project text) returns text language sql immutable parallel safe as $$
    select 'p ' || md5(project) -- no word of a text has a blank in it
$$;

-- a member begins to work in a project: it is there from then on; false when it is not theirs, or nobody's
create or replace function enter(name text) returns boolean language plpgsql security definer
set search_path = memory_keeper, pg_temp as $$
begin
    update login set seen = now() where role = session_user and (seen is null or seen < now() - interval '1 minute');
    if exists (select from access where member = me() and project = '*') then
        insert into project values (name) on conflict do nothing;
    end if;
    perform renumber();
    return name = any(mine());
end $$;

-- in a copy that was read into another cluster, numbers of transactions mean nothing: all rows come before new ones
create or replace function renumber() returns void language plpgsql security definer
set search_path = memory_keeper, pg_temp as $$
declare current bigint := (select system_identifier from pg_control_system());
begin
    if current = (select system from hub) then return; end if;
    perform pg_advisory_xact_lock(hashtext('memory_keeper.renumber'));
    if current = (select system from hub) then return; end if;
    alter table item disable trigger user;
    update item set xact = 0;
    alter table item enable trigger user;
    delete from push;
    update hub set system = current;
end $$;

-- the name under which a member's words are shown: their own to say, once, and nobody else's
create or replace function introduce(name text) returns text language plpgsql security definer
set search_path = memory_keeper, pg_temp as $$
begin
    update member set author = introduce.name where member.name = me() and author = ''
        and not exists (select from member other where lower(introduce.name) in (lower(other.author), other.name));
    return (select coalesce(nullif(author, ''), member.name) from member where member.name = me());
end $$;

create or replace function keep() returns trigger language plpgsql security definer
set search_path = memory_keeper, pg_temp as $$
begin
    if tg_op = 'UPDATE' and new.gone
        and pg_has_role(session_user, (select relowner from pg_class where oid = tg_relid), 'usage')
    then
        new.member := old.member; -- whose hub it is may take out what anybody shared
    else
        new.member := me();
        if new.member is null then raise insufficient_privilege using message = 'you are no member'; end if;
        if not exists (select from writer w where w.writer = new.writer) then
            insert into writer values (new.writer, new.member) on conflict do nothing;
        end if;
        if new.member != (select w.member from writer w where w.writer = new.writer) then
            raise insufficient_privilege using message = 'another member writes as this home';
        end if;
    end if;
    new.xact := pg_current_xact_id()::text::bigint;
    new.seq := nextval('item_seq');
    new.received := now();
    begin
        new.words := to_tsvector('words', left(new.text, 200000) || ' ' || coalesce(left(new.parts, 50000), ''))
            || array_to_tsvector(array[tag(new.project)]);
    exception when program_limit_exceeded then
        new.words := to_tsvector('words', left(new.text, 20000)) || array_to_tsvector(array[tag(new.project)]);
    end;
    new.parts := null;
    if not exists (select from push p where p.xact = new.xact) then
        insert into push (xact) values (new.xact) on conflict do nothing;
    end if;
    return new;
end $$;
create or replace trigger keep before insert or update on item for each row execute function keep();

-- the best of a member's projects, or of one of them. A project that is somebody else's is like one that is not there.
create or replace function search(query text, only_in text default null, most integer default 20)
returns table (project text, member text, writer text, id text, kind text, at double precision, text text, rank real)
language plpgsql stable security definer set search_path = memory_keeper, pg_temp
-- only the text index pays here, whatever the planner thinks of a word that it has not seen yet; what is switched off
-- looks dear to it, for which it would compile the query first
set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan set jit = off as $$
#variable_conflict use_column
declare
    allowed text[] := mine();
    each_word tsquery := plainto_tsquery('words', left(query, 1000));
    any_word tsquery := replace(each_word::text, ' & ', ' | ')::tsquery;
    tags tsquery;
    wanted tsquery;
    found integer;
begin
    if only_in is not null then
        allowed := array(select unnest(allowed) intersect select only_in);
    end if;
    if cardinality(allowed) = 0 or numnode(each_word) = 0 then return; end if;
    -- a tag for each project lets the text index do it; of many, the rows are looked at
    if cardinality(allowed) <= 20 then
        tags := (select string_agg(quote_literal(tag(name)), ' | ') from unnest(allowed) name)::tsquery;
    end if;
    foreach wanted in array array[each_word, any_word] loop
        wanted := coalesce(wanted && tags, wanted);
        return query
            select c.project, c.member, c.writer, c.id, c.kind, c.at, c.text, ts_rank_cd(c.words, any_word) as rank
            from (
                select i.* from item i
                -- as an expression, so that no other index is taken for it
                where i.words @@ wanted and i.project || '' = any(allowed) and not i.gone
                limit 1000
            ) c
            order by 8 desc, c.seq desc limit least(most, 100);
        get diagnostics found = row_count;
        exit when found > 0;
    end loop;
end $$;
"""

# what members may, and which rows
RIGHTS = """
set local search_path = memory_keeper, pg_temp;
revoke all on all tables in schema memory_keeper from public;
revoke all on all functions in schema memory_keeper from public;
"""
POLICIES = {
    "hub": "(select me()) is not null",
    "member": "(select me()) is not null",
    "login": "member = (select me())",
    "project": "name = any((select mine())::text[])",
    "access": "member = (select me())",
    "writer": "member = (select me())",
    "item": "project = any((select mine())::text[])",
    "push": "(select me()) is not null",
}
OWN = "member = (select me()) and project = any((select mine())::text[])"
WRITTEN = 'project, writer, id, kind, text, at, written, rev, "to", session, gone, digest, parts'
CALLED = ("me()", "mine()", "enter(text)", "introduce(text)", "search(text, text, integer)")


def _tables(db: Database) -> None:
    db.run(TABLES)
    db.run(FUNCTIONS)  # which the policies ask
    for table, seen in POLICIES.items():
        db.run(f"alter table {table} enable row level security")
        db.run(f"create policy seen on {table} for select using ({seen})")
    db.run(f"create policy added on item for insert with check ({OWN})")
    db.run(f"create policy changed on item for update using ({OWN}) with check ({OWN})")
    db.run("insert into hub select 0, system_identifier from pg_control_system()")


STEPS = (_tables,)
VERSION = len(STEPS)


def version_of(db: Database) -> int:
    """The version of a hub's schema; 0 where there is none."""
    ((there,),) = db.rows("select to_regclass('memory_keeper.hub') is not null")
    return int(db.rows("select version from memory_keeper.hub")[0][0]) if there else 0


def migrate(db: Database) -> int:
    """Make a hub of a database, or bring it up to date; the version found before. Twice is once."""
    with db.change():
        db.run("select pg_advisory_xact_lock(hashtext('memory_keeper.migrate'))")
        found = version_of(db)
        if found > VERSION:
            raise KeeperError("This hub was made by a newer Memory Keeper", hint="update Memory Keeper")
        for step in STEPS[found:]:
            step(db)
        db.run(FUNCTIONS)
        db.run(RIGHTS)
        db.run("update hub set version = %s", VERSION)
    return found


def grant(db: Database, role: str) -> None:
    """Let a login do what members do: what it sees is decided row by row. `role` is quoted."""
    db.run(f"grant usage on schema memory_keeper to {role}")
    db.run(f"grant select on all tables in schema memory_keeper to {role}")
    db.run(f"grant insert ({WRITTEN}), update ({WRITTEN}) on memory_keeper.item to {role}")
    for function in CALLED:
        db.run(f"grant execute on function memory_keeper.{function} to {role}")
