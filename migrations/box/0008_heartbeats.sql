-- Jobs that must report. Their addresses are secrets, so only hashes of them are kept. due_at is when a row wants to
-- be looked at: what was expected hasn't come, or what is owed to the rules (events not yet committed) must be told.
CREATE TABLE heartbeats (
  id              TEXT PRIMARY KEY,
  project_id      INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name            TEXT NOT NULL,
  slug            TEXT NOT NULL,
  secret_hash     TEXT NOT NULL UNIQUE,
  uuid_hash       TEXT NOT NULL UNIQUE,
  period_seconds  INTEGER,
  cron            TEXT,
  timezone        TEXT NOT NULL,
  grace_seconds   INTEGER NOT NULL,
  max_run_seconds INTEGER,
  level           INTEGER NOT NULL,
  state           TEXT NOT NULL,
  last_at         INTEGER,
  last_duration   INTEGER,
  last_message    TEXT,
  run_at          INTEGER,
  expected_at     INTEGER,
  deadline_at     INTEGER,
  reason          TEXT,
  instance        TEXT,
  exit_status     INTEGER,
  owed            TEXT,
  due_at          INTEGER,
  created_at      INTEGER NOT NULL,
  UNIQUE (project_id, name),
  UNIQUE (project_id, slug)
) STRICT, WITHOUT ROWID;
CREATE INDEX heartbeats_due ON heartbeats (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE heartbeat_runs (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  heartbeat_id TEXT NOT NULL REFERENCES heartbeats (id) ON DELETE CASCADE,
  rid          TEXT,
  outcome      TEXT NOT NULL,
  started_at   INTEGER,
  ended_at     INTEGER,
  exit_status  INTEGER
) STRICT;
CREATE INDEX heartbeat_runs_of ON heartbeat_runs (heartbeat_id, id);
