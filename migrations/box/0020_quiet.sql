-- Quiet on purpose. body: what is silenced, why and how it repeats (JSON); over_at: from then on it never holds again.
-- project_id is null where it holds in every project.
CREATE TABLE silences (
  id         TEXT PRIMARY KEY,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  repeats    TEXT NOT NULL CHECK (repeats IN ('none', 'daily', 'weekly')),
  starts_at  INTEGER NOT NULL,
  ends_at    INTEGER NOT NULL,
  over_at    INTEGER NOT NULL,
  body       TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX silences_over ON silences (over_at);

-- silenced_by: what holds its news back now, a silence's id or `alert:` and an alert's; held_until: when that is looked at
-- again; untold: nobody was told that it opened; wakes_at: when its acknowledgement ends; source: the only one it came from.
ALTER TABLE alerts ADD COLUMN silenced_by TEXT;
ALTER TABLE alerts ADD COLUMN held_until INTEGER;
ALTER TABLE alerts ADD COLUMN untold INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alerts ADD COLUMN wakes_at INTEGER;
ALTER TABLE alerts ADD COLUMN source TEXT;
CREATE INDEX alerts_silenced ON alerts (silenced_by) WHERE silenced_by IS NOT NULL;
