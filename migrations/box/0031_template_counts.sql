-- How often each shape of message came, and when: written at most once a minute. A template's is the sum over its shapes.
CREATE TABLE template_counts (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  n          INTEGER NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen  INTEGER NOT NULL,
  -- The highest, and the source that sent the latest.
  level      INTEGER NOT NULL,
  source_id  INTEGER NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
