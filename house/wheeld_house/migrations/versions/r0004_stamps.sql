-- The time-stamps of checkpoints (RFC 3161), as the authority gave them.
create table house.stamp (
    wheel integer not null,
    first_seq bigint not null,
    size bigint not null,
    token bytea not null check (octet_length(token) <= 65536),
    stored_at timestamptz not null default clock_timestamp(),
    primary key (wheel, first_seq, size),
    foreign key (wheel, first_seq, size) references house.checkpoint
);

create trigger refuse_change before update or delete on house.stamp
for each row execute function house.refuse_change();

grant insert on house.stamp to wheeld_collector;
grant select on house.stamp to wheeld_reader, wheeld_collector;
