-- Since when events of a source are counted; NULL: none came yet.
ALTER TABLE sources ADD COLUMN heard_since INTEGER;

UPDATE sources SET heard_since = (
  SELECT min(first_seen) FROM template_counts c WHERE c.source_id = sources.id);

-- When a template came that had not come for a day or longer, in the last weeks. `after`: the silence before it in
-- seconds, NULL where it never came. `learning`: it came from a source in its first day, and counts as known.
CREATE TABLE template_returns (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  at         INTEGER NOT NULL,
  after      INTEGER,
  learning   INTEGER NOT NULL,
  source_id  INTEGER NOT NULL,
  PRIMARY KEY (project_id, id, at)
) STRICT, WITHOUT ROWID;

CREATE INDEX template_returns_by_age ON template_returns (at);

INSERT INTO template_returns (project_id, id, at, after, learning, source_id)
  SELECT c.project_id, c.id, c.first_seen, NULL,
    c.first_seen < coalesce(s.heard_since, 0) + 86400, c.source_id
  FROM template_counts c JOIN templates t ON t.project_id = c.project_id AND t.id = c.id AND t.alias_of IS NULL
    LEFT JOIN sources s ON s.id = c.source_id;

-- Stretches of a minute or longer in which the box was off, or by which its clock jumped ahead: no template's silence.
CREATE TABLE downtimes (
  id      INTEGER PRIMARY KEY,
  until   INTEGER NOT NULL,
  seconds INTEGER NOT NULL
) STRICT;
