-- Times are milliseconds since 1970. Payloads are opaque.
create table rejoinder_worker(
    id blob primary key not null,
    until integer not null
) strict, without rowid;

create table rejoinder_task(
    id blob primary key not null,
    tool text not null,
    owner blob not null,
    origin blob,
    status integer not null default 0, -- 0 open, 1 completed, 2 failed, 3 cancelled, 4 expired, 5 died
    due integer, -- when it may be claimed: null while it runs, waits for answers, or has ended
    waits integer, -- since when it could run
    worker blob,
    epoch integer not null default 0,
    deaths integer not null default 0,
    steps_at_death integer not null default 0,
    created integer not null,
    updated integer not null,
    expires integer not null, -- when an open task expires, and an ended one is removed
    ttl integer not null,
    keep integer not null,
    poll integer not null,
    message blob,
    outcome blob,
    call blob not null,
    record blob not null
) strict;

create unique index rejoinder_task_origin on rejoinder_task(owner, origin) where origin is not null;
create index rejoinder_task_due on rejoinder_task(due, tool, owner) where due is not null;
create index rejoinder_task_worker on rejoinder_task(worker, owner) where worker is not null;
create index rejoinder_task_expires on rejoinder_task(expires);
create index rejoinder_task_open on rejoinder_task(owner) where status = 0;

-- In the order of their rows.
create table rejoinder_step(
    task blob not null,
    key text not null,
    value blob not null,
    unique(task, key)
) strict;

create table rejoinder_question(
    task blob not null,
    key text not null,
    name text not null,
    request blob not null,
    answer blob,
    closed integer not null default 0,
    unique(task, key)
) strict;
