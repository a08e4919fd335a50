-- Ladders with a name. A rule that refers to one has no steps of its own.
CREATE TABLE ladders (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
ALTER TABLE rules ADD COLUMN ladder_id INTEGER REFERENCES ladders (id);
CREATE INDEX rules_ladder ON rules (ladder_id) WHERE ladder_id IS NOT NULL;
ALTER TABLE projects ADD COLUMN default_ladder_id INTEGER REFERENCES ladders (id);
-- What a ladder was before a change, and the alerts that have not followed it yet.
CREATE TABLE ladder_changes (
  id INTEGER PRIMARY KEY,
  before TEXT NOT NULL
);
CREATE TABLE ladder_followers (
  alert_id INTEGER PRIMARY KEY REFERENCES alerts (id) ON DELETE CASCADE,
  change_id INTEGER NOT NULL
);
