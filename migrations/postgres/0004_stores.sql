-- least: 1
-- Stores that are durable here: the pages of a box's database, as of a commit that was answered.

-- Whose a store is. `epoch` rises with each taking, and nothing is written under an older one. `run`: the process that
-- took it. `seq`: the number of the latest commit that is here. `page_sum`: of the hashes of all its pages. `key_id`: the
-- key that its secrets are sealed with. `clean`: it was left, and not lost.
CREATE TABLE tenant_stores (
  tenant_id   text PRIMARY KEY,
  node        text NOT NULL,
  run         text NOT NULL,
  epoch       bigint NOT NULL,
  seq         bigint NOT NULL DEFAULT 0,
  page_count  integer NOT NULL DEFAULT 0,
  page_sum    bigint NOT NULL DEFAULT 0,
  key_id      text,
  clean       boolean NOT NULL DEFAULT false,
  alive_until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A row a page. A body is compressed where that makes it shorter. It stays in its row: one that is moved out of it leaves
-- a dead one behind at each commit.
CREATE TABLE tenant_pages (
  tenant_id text NOT NULL,
  page      integer NOT NULL,
  hash      bigint NOT NULL,
  body      bytea NOT NULL,
  PRIMARY KEY (tenant_id, page)
) WITH (fillfactor = 60);
ALTER TABLE tenant_pages ALTER COLUMN body SET STORAGE PLAIN;

-- A row for each taking: where the history of the epoch before ended.
CREATE TABLE tenant_epochs (
  tenant_id text NOT NULL,
  epoch     bigint NOT NULL,
  node      text NOT NULL,
  seq       bigint NOT NULL,
  taken_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, epoch)
);
