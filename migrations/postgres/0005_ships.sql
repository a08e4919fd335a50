-- least: 1
-- Which pages each write changed, for the machines that stand by: written only while there is one, and kept for ten
-- minutes. `before`: the number of the write before, so that a missing row shows. pages null: too many to list.
CREATE TABLE tenant_ships (
  tenant_id text NOT NULL,
  seq       bigint NOT NULL,
  before    bigint NOT NULL,
  pages     integer[],
  made_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, seq)
);
