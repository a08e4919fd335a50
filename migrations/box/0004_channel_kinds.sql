-- The kinds of channel are the program's list (src/out/channels/list.ts), not the table's: a new one needs no migration.
-- Nothing refers to this table, and references are off while migrations run, so that dropping it empties no other.
CREATE TABLE integrations_next (
  id                   TEXT PRIMARY KEY,
  project_id           INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name                 TEXT NOT NULL,
  type                 TEXT NOT NULL,
  url                  TEXT NOT NULL,
  sealed               TEXT,
  enabled              INTEGER NOT NULL,
  event_filter         TEXT NOT NULL,
  relay                INTEGER NOT NULL DEFAULT 0,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  failing_since        INTEGER,
  last_error           TEXT,
  created_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO integrations_next
  SELECT id, project_id, name, type, url, sealed, enabled, event_filter, relay, consecutive_failures, failing_since,
    last_error, created_at FROM integrations;
DROP TABLE integrations;
ALTER TABLE integrations_next RENAME TO integrations;
CREATE INDEX integrations_project ON integrations (project_id);
