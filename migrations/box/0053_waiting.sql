-- What would open an alert of a rule with for_minutes, until its time is over. over_at: when that is; due_at: when it is looked
-- at, later where the box was off. every: seconds between two words of its sender. found: what the alert opens with, JSON.
CREATE TABLE waiting (
  id         INTEGER PRIMARY KEY,
  alert_key  TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  rule_id    INTEGER NOT NULL REFERENCES rules (id) ON DELETE CASCADE,
  dedup_key  TEXT,
  room       INTEGER,
  begun_at   INTEGER NOT NULL,
  over_at    INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  matched_at INTEGER NOT NULL,
  every      INTEGER NOT NULL,
  found      TEXT NOT NULL
) STRICT;
CREATE INDEX waiting_due ON waiting (due_at);
CREATE INDEX waiting_rule ON waiting (rule_id);
CREATE INDEX waiting_named ON waiting (project_id, dedup_key) WHERE dedup_key IS NOT NULL;
