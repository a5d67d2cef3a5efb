-- What the fleet page needs. docs/house-page.md describes the page.

-- The acknowledgement of an alarm -----------------------------------------------------------------------------------

-- An alarm is acknowledged once. The date is the database's. Nothing else of an alarm changes.
create function house.acknowledge() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    _before jsonb := to_jsonb(old) - '{acknowledged_at,acknowledged_by,reason}'::text[];
    _after jsonb := to_jsonb(new) - '{acknowledged_at,acknowledged_by,reason}'::text[];
begin
    if old.acknowledged_at is not null then
        raise exception 'alarm % is acknowledged already', old.id;
    end if;
    if _before is distinct from _after then
        raise exception 'only the acknowledgement of an alarm may change';
    end if;
    new.acknowledged_at := clock_timestamp();
    return new;
end
$$;
create trigger acknowledge before update on house.alarm for each row execute function house.acknowledge();

-- The search --------------------------------------------------------------------------------------------------------

-- One row for each result, void and ruling. The coup of a ruling is the one that it is about.
create table house.verdict (
    wheel integer not null,
    seq bigint not null,
    at timestamptz not null,
    kind text not null,
    coup bigint,
    number smallint,
    label text,
    cause text,
    bouler text,
    primary key (wheel, seq)
);
create index verdict_at on house.verdict (at, wheel, seq);
create index verdict_number on house.verdict (number, at, wheel, seq) where number is not null;
create index verdict_cause on house.verdict (cause, at, wheel, seq) where cause is not null;
create index verdict_bouler on house.verdict (bouler, at, wheel, seq) where bouler is not null;
create index verdict_wheel on house.verdict (wheel, at, seq);
create index verdict_coup on house.verdict (wheel, coup);
create index record_table on house.record (wheel, seq) where kind = 'table';

-- The next three functions return null if a value has not the right kind or size. They raise no error, so no message of
-- a wheel can stop the collector, and no value is too long for an index.
create function house.text_of(_value jsonb, _most integer) returns text
language sql immutable parallel safe as $$
    select case when jsonb_typeof(_value) = 'string' then nullif(left(_value #>> '{}', _most), '') end
$$;

create function house.whole_of(_value jsonb, _most bigint) returns bigint
language sql immutable parallel safe as $$
    select case when house.number_of(_value) between 0 and _most and house.number_of(_value) % 1 = 0
        then house.number_of(_value)::bigint end
$$;

create function house.body_of(_payload bytea, _is_readable boolean) returns jsonb
language sql immutable parallel safe as $$
    select case when _is_readable then convert_from(_payload, 'UTF8')::jsonb end
$$;

-- What the search knows of one record. The bouler is that of the last message `table` before it. This looks only at
-- dates close to the record, so that it reads no more than two months.
create function house.verdict_of(
    _wheel integer, _seq bigint, _at timestamptz, _kind text, _coup bigint, _payload bytea, _is_readable boolean
) returns table (coup bigint, number smallint, label text, cause text, bouler text)
language sql stable as $$
    select
        case when _kind = 'ruling' then house.whole_of(b.body -> 'about', 1000000000000000) else _coup end,
        house.whole_of(b.body -> 'number', 99)::smallint,
        house.text_of(b.body -> 'label', 8),
        house.text_of(b.body -> 'cause', 64),
        case when _kind <> 'ruling' then (
            select house.text_of(house.body_of(t.payload, t.is_readable) -> 'bouler', 200)
            from house.record t
            where t.wheel = _wheel and t.kind = 'table' and t.seq < _seq
                and t.at between _at - interval '2 days' and _at + interval '2 days'
            order by t.seq desc limit 1
        ) end
    from (select house.body_of(_payload, _is_readable) as body offset 0) b
$$;

create function house.note_verdicts() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into house.verdict (wheel, seq, at, kind, coup, number, label, cause, bouler)
    select a.wheel, a.seq, a.at, a.kind, v.coup, v.number, v.label, v.cause, v.bouler
    from added a
    cross join lateral house.verdict_of(a.wheel, a.seq, a.at, a.kind, a.coup, a.payload, a.is_readable) v
    where a.kind in ('result', 'void', 'ruling')
    on conflict do nothing;
    return null;
end
$$;
-- This trigger runs after check_records, because triggers run in the order of their names.
create trigger note_verdicts after insert on house.record
referencing new table as added for each statement execute function house.note_verdicts();

-- The role of the page ----------------------------------------------------------------------------------------------

do $$
begin
    if not exists (select from pg_roles where rolname = 'wheeld_page') then
        create role wheeld_page nologin;
    end if;
end
$$;
grant select on house.verdict to wheeld_reader, wheeld_collector;
-- This role may read what every reader may read, and acknowledge an alarm.
grant wheeld_reader to wheeld_page;
grant update (acknowledged_at, acknowledged_by, reason) on house.alarm to wheeld_page;
revoke execute on function
    house.acknowledge(), house.note_verdicts(), house.text_of(jsonb, integer), house.whole_of(jsonb, bigint),
    house.body_of(bytea, boolean), house.verdict_of(integer, bigint, timestamptz, text, bigint, bytea, boolean)
from public;
grant execute on function
    house.text_of(jsonb, integer), house.whole_of(jsonb, bigint), house.body_of(bytea, boolean),
    house.verdict_of(integer, bigint, timestamptz, text, bigint, bytea, boolean)
to wheeld_reader, wheeld_collector;
