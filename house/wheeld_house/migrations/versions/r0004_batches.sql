-- The check of r0001, of all wheels of a commit at once: wheel by wheel it read all records of the commit for each.
create or replace function house.check_records() returns trigger
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
