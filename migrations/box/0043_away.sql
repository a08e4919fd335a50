-- When people are away: their own times, and those of a calendar that they gave (its address sealed; ical_next: when it is
-- read again, NULL where there is none). spans, ical_spans: JSON, Unix seconds.
CREATE TABLE away (
  id           TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  spans        TEXT NOT NULL DEFAULT '[]',
  sealed_ical  TEXT,
  shown_ical   TEXT,
  ical_spans   TEXT NOT NULL DEFAULT '[]',
  ical_error   TEXT,
  ical_read_at INTEGER,
  ical_next    INTEGER
) STRICT;
CREATE INDEX away_next ON away (ical_next) WHERE ical_next IS NOT NULL;

-- Shifts of people who are away then, about which they were asked: once for each.
CREATE TABLE away_asked (
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  account_id  TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  starts_at   INTEGER NOT NULL,
  ends_at     INTEGER NOT NULL,
  PRIMARY KEY (schedule_id, account_id, starts_at)
) STRICT, WITHOUT ROWID;

-- What the box has to tell one person about shifts, by their contacts. lines: JSON. path: where its link leads, below the
-- box's address. until: an attempt after it is too late. The row goes once it is told.
CREATE TABLE oncall_notes (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  title      TEXT NOT NULL,
  lines      TEXT NOT NULL,
  path       TEXT NOT NULL,
  until      INTEGER NOT NULL
) STRICT;
