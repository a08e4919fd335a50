-- Secret addresses that calendar programs follow: a person's own shifts, or all of one schedule.
CREATE TABLE calendars (
  id          TEXT PRIMARY KEY,
  account_id  TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  schedule_id TEXT REFERENCES schedules (id) ON DELETE CASCADE,
  hash        TEXT NOT NULL UNIQUE,
  created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX calendars_account ON calendars (account_id, coalesce(schedule_id, ''));
CREATE INDEX calendars_schedule ON calendars (schedule_id);
