-- The records of a house. docs/collector.md describes all tables and views for readers.
--
-- The database itself refuses what must never be stored: a record that does not follow the last one of its wheel, and a
-- record of a collector whose lease on the wheel is over. So a fault of the program cannot store such a record.

create schema house;

do $$
begin
    if not exists (select from pg_roles where rolname = 'wheeld_collector') then
        create role wheeld_collector nologin;
    end if;
    if not exists (select from pg_roles where rolname = 'wheeld_reader') then
        create role wheeld_reader nologin;
    end if;
end
$$;

-- One row for each wheel: its last record, and which collector may write. Each change of the collector makes the
-- fencing number (fence) higher. The collector writes it with each record, and the database compares it.
create table house.wheel (
    id integer generated always as identity primary key,
    site text not null,
    table_name text not null,
    is_test boolean not null,
    head_seq bigint not null default 0,
    head_hash bytea not null default decode(repeat('00', 32), 'hex'),
    head_at timestamptz,
    holder uuid,
    fence bigint not null default 0,
    lease_until timestamptz not null default '-infinity',
    unique (site, table_name)
) with (fillfactor = 50);

-- The collectors that run, and to how many brokers each is connected.
create table house.collector (
    holder uuid primary key,
    name text not null,
    brokers integer not null,
    seen_at timestamptz not null
);

-- Every message of every feed, once. A message without a date that can be read is dated -infinity.
create table house.record (
    wheel integer not null,
    seq bigint not null check (seq > 0),
    at timestamptz not null,
    kind text not null check (kind in ('result', 'void', 'ruling', 'table')),
    coup bigint,
    prev bytea not null check (octet_length(prev) = 32),
    hash bytea not null check (octet_length(hash) = 32),
    gap_from bigint,
    payload bytea not null,
    is_signed boolean not null,
    is_readable boolean not null,
    fence bigint not null,
    stored_at timestamptz not null default clock_timestamp(),
    primary key (wheel, seq, at)
) partition by range (at);
create index on house.record (wheel, coup);
create index on house.record using brin (at);
create index on house.record (wheel, gap_from) where gap_from is not null;

-- A wheel whose clock is wrong may give any date. The parts for months from 2000 to 2099 are made when they are needed.
create table house.record_before_2000 partition of house.record for values from (minvalue) to ('2000-01-01+00');
create table house.record_after_2099 partition of house.record for values from ('2100-01-01+00') to (maxvalue);

-- It attaches a finished table, because that does not wait for queries that read the records. A month that was put away
-- keeps its name. If later records come for it, they get a part with another name.
create function house.make_month(_at timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    _from timestamptz := date_trunc('month', _at, 'UTC');
    _name text := 'record_' || to_char(_from at time zone 'UTC', 'YYYY_MM');
begin
    if _at < '2000-01-01+00' or _at >= '2100-01-01+00' then
        return;
    end if;
    perform pg_advisory_xact_lock(hashtext('house.make_month'));
    while to_regclass('house.' || _name) is not null loop
        if exists (
            select from pg_inherits
            where inhparent = 'house.record'::regclass and inhrelid = to_regclass('house.' || _name)
        ) then
            return;
        end if;
        _name := _name || '_again';
    end loop;
    execute format('create table house.%I (like house.record including defaults including constraints)', _name);
    execute format(
        'alter table house.record attach partition house.%I for values from (%L) to (%L)',
        _name, _from, (_from at time zone 'UTC' + interval '1 month') at time zone 'UTC'
    );
    execute format('grant select on house.%I to wheeld_reader, wheeld_collector', _name);
end
$$;

-- Whether PostgreSQL can read a payload as JSON. A payload that it cannot read is kept, and has no columns in the views.
create function house.is_readable(_payload bytea) returns boolean
language plpgsql immutable as $$
begin
    return jsonb_typeof(convert_from(_payload, 'UTF8')::jsonb) = 'object';
exception when others then
    return false;
end
$$;

-- After each insert, this checks that every record has the fence of its wheel (else WH001), and that it follows the
-- record before it (else WH002). It checks all wheels of a commit at once. One by one, it would read all records of the
-- commit for each wheel.
create function house.check_records() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    _wheel integer;
    _fence bigint;
    _seq bigint;
begin
    perform from house.wheel w where w.id in (select a.wheel from added a) order by w.id for update;
    select a.wheel, w.fence into _wheel, _fence
    from added a left join house.wheel w on w.id = a.wheel
    where a.fence is distinct from w.fence limit 1;
    if found and _fence is null then
        raise exception 'a record of a wheel that is not known' using errcode = 'WH002';
    elsif found then
        raise exception 'wheel %: another collector writes it, with fence %', _wheel, _fence using errcode = 'WH001';
    end if;
    select each.wheel, each.seq into _wheel, _seq
    from (
        select
            a.wheel, a.seq, a.prev, a.gap_from,
            lag(a.seq, 1, w.head_seq) over by_seq as before_seq,
            lag(a.hash, 1, w.head_hash) over by_seq as before_hash
        from added a join house.wheel w on w.id = a.wheel
        window by_seq as (partition by a.wheel order by a.seq)
    ) each
    where not (
        (each.seq = each.before_seq + 1 and each.prev = each.before_hash)
        or coalesce(each.gap_from <= each.before_seq + 1 and each.before_seq < each.seq
            and each.gap_from < each.seq, false)
    )
    order by each.wheel, each.seq limit 1;
    if found then
        raise exception 'wheel %: seq % does not follow the record before', _wheel, _seq using errcode = 'WH002';
    end if;
    update house.wheel w set head_seq = a.seq, head_hash = a.hash, head_at = a.at
    from (select distinct on (wheel) wheel, seq, hash, at from added order by wheel, seq desc) a
    where w.id = a.wheel;
    return null;
end
$$;
create trigger check_records after insert on house.record
referencing new table as added for each statement execute function house.check_records();

create function house.refuse_change() returns trigger
language plpgsql as $$
begin
    raise exception 'records are never changed or removed';
end
$$;
create trigger refuse_change before update or delete on house.record
for each row execute function house.refuse_change();

-- What a person must look at, each thing once. `subject` is the SHA-256 of the message that the alarm is about, or
-- empty. `payload` is this message.
create table house.alarm (
    id bigint generated always as identity primary key,
    wheel integer not null references house.wheel,
    kind text not null,
    seq bigint not null,
    subject bytea not null,
    why text not null,
    payload bytea,
    raised_at timestamptz not null default clock_timestamp(),
    acknowledged_at timestamptz,
    acknowledged_by text check (char_length(acknowledged_by) between 1 and 200),
    reason text check (char_length(reason) between 1 and 500),
    constraint alarm_acknowledged check (num_nulls(acknowledged_at, acknowledged_by, reason) in (0, 3)),
    unique (wheel, kind, seq, subject)
);
create index alarm_open on house.alarm (wheel, id) where acknowledged_at is null;

-- A collector says that it runs. It keeps its leases, takes leases that are free or over, and gets all its leases. A
-- collector that is connected to fewer brokers than another one gives up its leases, because it may not get all
-- messages that the other one gets. One call is one transaction, so a collector that stops in the middle holds no lock.
create function house.keep_leases(
    _holder uuid, _name text, _lease_s double precision, _brokers integer, _wheels integer[]
) returns table (wheel integer, fence bigint, head_seq bigint, head_hash bytea)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    _now timestamptz := clock_timestamp();
    _lease interval := make_interval(secs => _lease_s);
    _most integer;
begin
    insert into house.collector as c (holder, name, brokers, seen_at) values (_holder, _name, _brokers, _now)
    on conflict (holder) do update set brokers = excluded.brokers, seen_at = excluded.seen_at;
    delete from house.collector c where c.seen_at < _now - interval '1 day';
    select max(c.brokers) into _most from house.collector c where c.seen_at > _now - _lease;
    if _brokers = 0 or _brokers < _most then
        update house.wheel w set holder = null, fence = w.fence + 1
        where w.id in (select l.id from house.wheel l where l.holder = _holder order by l.id for update);
        return;
    end if;
    update house.wheel w set
        fence = w.fence + case when w.holder = _holder then 0 else 1 end, holder = _holder, lease_until = _now + _lease
    where w.id in (
        select l.id from house.wheel l
        where l.id = any(_wheels) and (l.holder is null or l.holder = _holder or l.lease_until < _now)
        order by l.id for update skip locked
    );
    return query select w.id, w.fence, w.head_seq, w.head_hash from house.wheel w where w.holder = _holder;
end
$$;

-- A collector ends. Other collectors may take its wheels at once.
create function house.release_leases(_holder uuid) returns void
language sql as $$
    update house.wheel set holder = null, fence = fence + 1 where holder = _holder;
    delete from house.collector where holder = _holder;
$$;

-- For readers ------------------------------------------------------------------------------------------------------

create function house.number_of(_value jsonb) returns numeric
language sql immutable parallel safe as $$
    select case when jsonb_typeof(_value) = 'number' then (_value #>> '{}')::numeric end
$$;

-- With OFFSET 0, PostgreSQL reads the payload once for a row, and not once for each column.
create view house.messages as
select
    w.site, w.table_name, w.is_test, r.seq, r.at, r.kind, r.coup, r.is_signed, r.stored_at,
    encode(r.hash, 'hex') as hash, r.payload, b.body
from house.record r
join house.wheel w on w.id = r.wheel
cross join lateral (
    select case when r.is_readable then convert_from(r.payload, 'UTF8')::jsonb end as body offset 0
) b;

create view house.results as
select
    site, table_name, is_test, seq, at, coup, body ->> 'coup_id' as coup_id,
    house.number_of(body -> 'number')::integer as number, body ->> 'label' as label, body ->> 'colour' as colour,
    house.number_of(body -> 'laps') as laps, body ->> 'ball_direction' as ball_direction,
    house.number_of(body -> 'rotor_rpm') as rotor_rpm, body ->> 'launched_at' as launched_at,
    body ->> 'number_at' as number_at, body ->> 'confirmed_by' as confirmed_by,
    house.number_of(body -> 'margin') as margin, body ->> 'margin_of' as margin_of, is_signed, hash
from house.messages where kind = 'result';

create view house.voids as
select
    site, table_name, is_test, seq, at, coup, body ->> 'coup_id' as coup_id, body ->> 'cause' as cause,
    body ->> 'rule' as rule, body ->> 'article' as article, body ->> 'why' as why, body ->> 'by' as by_whom,
    body ->> 'user' as by_user, body ->> 'reason' as reason, body ->> 'evidence_at' as evidence_at,
    house.number_of(body -> 'margin') as margin, body ->> 'margin_of' as margin_of, is_signed, hash
from house.messages where kind = 'void';

create view house.rulings as
select
    site, table_name, is_test, seq, at, house.number_of(body -> 'about')::bigint as about, body ->> 'ruled_as' as ruled_as,
    house.number_of(body -> 'number')::integer as number, body ->> 'label' as label, body ->> 'by' as by_whom,
    body ->> 'user' as by_user, body ->> 'reason' as reason, is_signed, hash
from house.messages where kind = 'ruling';

-- What happened at the table: each change of its state, and who caused it.
create view house.events as
select
    site, table_name, is_test, seq, at, coup, body ->> 'state' as state, body ->> 'bets' as bets,
    body ->> 'bouler' as bouler, body ->> 'by' as by_whom, body ->> 'user' as by_user, body ->> 'reason' as reason,
    body -> 'failing' as failing, body -> 'without' as without_sensors, body -> 'gap' as gap, is_signed, hash
from house.messages where kind = 'table';

-- The evidence for each verdict.
create view house.evidence as
select
    site, table_name, is_test, seq, at, coup, kind as verdict, house.number_of(body -> 'margin') as margin,
    body ->> 'margin_of' as margin_of, body -> 'evidence' as figures, body -> 'sightings' as sightings,
    body -> 'unproven' as unproven, body -> 'without' as without_sensors, is_signed, hash
from house.messages where kind in ('result', 'void');

-- The present state of each table: the record with the highest number. What brokers retain may be old, and is not used.
create view house.tables as
select
    w.site, w.table_name, w.is_test, w.head_seq, w.head_at, s.at as since, s.body ->> 'state' as state,
    s.body ->> 'bets' as bets, c.name as collector, w.lease_until
from house.wheel w
left join house.collector c on c.holder = w.holder
left join lateral (
    select r.at, case when r.is_readable then convert_from(r.payload, 'UTF8')::jsonb end as body
    from house.record r where r.wheel = w.id and r.kind = 'table' order by r.seq desc limit 1
) s on true;

create view house.alarms as
select
    a.id, w.site, w.table_name, a.kind, a.seq, a.why, a.raised_at, a.payload,
    a.acknowledged_at, a.acknowledged_by, a.reason
from house.alarm a join house.wheel w on w.id = a.wheel;

grant usage on schema house to wheeld_collector, wheeld_reader;
grant select on all tables in schema house to wheeld_reader, wheeld_collector;
grant insert on house.record, house.alarm to wheeld_collector;
grant insert, update on house.wheel to wheeld_collector;
grant insert, update, delete on house.collector to wheeld_collector;
revoke execute on all functions in schema house from public;
grant execute on all functions in schema house to wheeld_collector;
grant execute on function house.number_of(jsonb) to wheeld_reader;
