-- The trees of hashes over the records, as the wheels signed them, and who cosigned. docs/collector.md describes them.

-- Each checkpoint of a wheel that its stored records have proven true. A leaf of the tree is a record from first_seq on.
-- peaks: the roots of the complete subtrees, from which a later tree is computed.
create table house.checkpoint (
    wheel integer not null references house.wheel,
    first_seq bigint not null check (first_seq > 0),
    size bigint not null check (size > 0),
    root bytea not null check (octet_length(root) = 32),
    peaks bytea[] not null,
    note text not null,
    stored_at timestamptz not null default clock_timestamp(),
    primary key (wheel, first_seq, size)
);

-- The signature lines of the witnesses below a checkpoint.
create table house.cosignature (
    wheel integer not null,
    first_seq bigint not null,
    size bigint not null,
    witness text not null check (length(witness) <= 255),
    line text not null check (length(line) <= 512),
    signed_at timestamptz not null default clock_timestamp(),
    primary key (wheel, first_seq, size, witness),
    foreign key (wheel, first_seq, size) references house.checkpoint
);

create trigger refuse_change before update or delete on house.checkpoint
for each row execute function house.refuse_change();
create trigger refuse_change before update or delete on house.cosignature
for each row execute function house.refuse_change();

create view house.checkpoints as
select
    w.site, w.table_name, c.first_seq, c.size, encode(c.root, 'hex') as root, c.note, c.stored_at,
    array(
        select s.witness from house.cosignature s
        where (s.wheel, s.first_seq, s.size) = (c.wheel, c.first_seq, c.size) order by s.witness
    ) as witnesses
from house.checkpoint c join house.wheel w on w.id = c.wheel;

do $$
begin
    if not exists (select from pg_roles where rolname = 'wheeld_witness') then
        create role wheeld_witness nologin;
    end if;
end
$$;
grant usage on schema house to wheeld_witness;
grant select on house.wheel, house.record, house.checkpoint, house.cosignature to wheeld_witness;
grant insert on house.cosignature to wheeld_witness, wheeld_collector;
grant insert on house.checkpoint to wheeld_collector;
grant select on house.checkpoint, house.cosignature, house.checkpoints to wheeld_reader, wheeld_collector;
