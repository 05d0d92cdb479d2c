-- A file of schema 1 with tasks in every status. It is never changed: newer builds must read it.
BEGIN TRANSACTION;
CREATE TABLE rejoinder_question(
    task blob not null,
    key text not null,
    name text not null,
    request blob not null,
    answer blob,
    closed integer not null default 0,
    unique(task, key)
) strict;
INSERT INTO "rejoinder_question" VALUES(X'03030303030303030303030303030303','font','font',X'6120666F726D',X'3F3F3F',1);
INSERT INTO "rejoinder_question" VALUES(X'03030303030303030303030303030303','font~2','font',X'6120666F726D',X'496E746572',0);
INSERT INTO "rejoinder_question" VALUES(X'03030303030303030303030303030303','size','size',X'6120666F726D',NULL,0);
CREATE TABLE rejoinder_schema(version integer not null, least integer not null) strict;
INSERT INTO "rejoinder_schema" VALUES(1,1);
CREATE TABLE rejoinder_step(
    task blob not null,
    key text not null,
    value blob not null,
    unique(task, key)
) strict;
INSERT INTO "rejoinder_step" VALUES(X'02020202020202020202020202020202','submit',X'37');
INSERT INTO "rejoinder_step" VALUES(X'02020202020202020202020202020202','lacks font',X'74727565');
CREATE TABLE rejoinder_task(
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
INSERT INTO "rejoinder_task" VALUES(X'01010101010101010101010101010101','render',X'0101010101010101010101010101010101010101',X'61207374617465',0,1700000000000,1700000000000,NULL,0,0,0,1700000000000,1700000000000,4853600000000,3153600000000,600000,2000,NULL,NULL,X'7468652063616C6C',X'746865207265636F7264');
INSERT INTO "rejoinder_task" VALUES(X'02020202020202020202020202020202','render',X'0101010101010101010101010101010101010101',NULL,0,NULL,1700000000000,X'EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE',3,1,1,1700000000000,1700000000000,4853600000000,3153600000000,600000,2000,X'68616C66776179',NULL,X'7468652063616C6C',X'746865207265636F7264');
INSERT INTO "rejoinder_task" VALUES(X'03030303030303030303030303030303','render',X'0101010101010101010101010101010101010101',NULL,0,NULL,NULL,NULL,1,0,0,1700000000000,1700000000000,4853600000000,3153600000000,600000,2000,NULL,NULL,X'7468652063616C6C',X'746865207265636F7264');
INSERT INTO "rejoinder_task" VALUES(X'04040404040404040404040404040404','render',X'0101010101010101010101010101010101010101',NULL,0,4853600000000,4853600000000,NULL,1,0,0,1700000000000,1700000000000,4853600000000,3153600000000,600000,2000,NULL,NULL,X'7468652063616C6C',X'746865207265636F7264');
INSERT INTO "rejoinder_task" VALUES(X'05050505050505050505050505050505','render',X'0101010101010101010101010101010101010101',NULL,1,NULL,NULL,NULL,1,0,0,1700000000000,1700000000005,4853600000000,3153600000000,600000,2000,NULL,X'6120726573756C74',X'',X'');
INSERT INTO "rejoinder_task" VALUES(X'06060606060606060606060606060606','render',X'0101010101010101010101010101010101010101',NULL,2,NULL,NULL,NULL,1,0,0,1700000000000,1700000000005,4853600000000,3153600000000,600000,2000,NULL,X'616E206572726F72',X'',X'');
INSERT INTO "rejoinder_task" VALUES(X'07070707070707070707070707070707','render',X'0101010101010101010101010101010101010101',NULL,3,NULL,NULL,NULL,2,0,0,1700000000000,1700000000005,4853600000000,3153600000000,600000,2000,NULL,NULL,X'',X'');
INSERT INTO "rejoinder_task" VALUES(X'08080808080808080808080808080808','render',X'0101010101010101010101010101010101010101',NULL,4,NULL,NULL,NULL,2,0,0,1700000000000,1700000000005,4853600000000,3153600000000,600000,2000,NULL,NULL,X'',X'');
INSERT INTO "rejoinder_task" VALUES(X'09090909090909090909090909090909','render',X'0202020202020202020202020202020202020202',NULL,5,NULL,NULL,NULL,6,0,0,1700000000000,1700000000005,4853600000000,3153600000000,600000,2000,NULL,NULL,X'',X'');
CREATE TABLE rejoinder_worker(
    id blob primary key not null,
    until integer not null
) strict, without rowid;
INSERT INTO "rejoinder_worker" VALUES(X'EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE',1700000010000);
CREATE UNIQUE INDEX rejoinder_task_origin on rejoinder_task(owner, origin) where origin is not null;
CREATE INDEX rejoinder_task_due on rejoinder_task(due, tool, owner) where due is not null;
CREATE INDEX rejoinder_task_worker on rejoinder_task(worker, owner) where worker is not null;
CREATE INDEX rejoinder_task_expires on rejoinder_task(expires);
CREATE INDEX rejoinder_task_open on rejoinder_task(owner) where status = 0;
COMMIT;
