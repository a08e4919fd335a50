-- What is counted by the hour: '' the events of a project's templates, else what rules of one selection took.
CREATE TABLE count_series (
  id         INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  selection  TEXT NOT NULL,
  since      INTEGER NOT NULL,
  UNIQUE (project_id, selection)
) STRICT;

-- One day (of Unix time) of one template; in `key` the rule's identifiers may follow it. hours: JSON of its 24 counts.
-- last: its latest event. gap: the longest silence that ended on that day, in seconds, without time in which the box was off.
CREATE TABLE hour_counts (
  series_id INTEGER NOT NULL REFERENCES count_series (id) ON DELETE CASCADE,
  day       INTEGER NOT NULL,
  key       TEXT NOT NULL,
  n         INTEGER NOT NULL,
  hours     TEXT NOT NULL,
  last      INTEGER NOT NULL,
  gap       INTEGER NOT NULL,
  PRIMARY KEY (series_id, day, key)
) STRICT, WITHOUT ROWID;
