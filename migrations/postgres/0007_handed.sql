-- least: 1
-- What a machine confirmed while its disk alone had it, after another one took the box: whoever has the box takes it from
-- here. `id`: of the machine's file, whose lines are numbered.
CREATE TABLE tenant_handed (
  tenant_id text NOT NULL,
  id        text NOT NULL,
  n         integer NOT NULL,
  what      text NOT NULL,
  PRIMARY KEY (tenant_id, id, n)
);
