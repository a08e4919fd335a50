-- Somebody asks others to take a stretch of theirs: [starts_at, ends_at), for another in return where the last two are set.
-- account_id: whose it is; asked_by: they themselves, or a manager. state: open, taken, declined (everybody said no), changed
-- (the schedule was another by then).
CREATE TABLE asks (
  id            TEXT PRIMARY KEY,
  schedule_id   TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  account_id    TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  asked_by      TEXT NOT NULL,
  starts_at     INTEGER NOT NULL,
  ends_at       INTEGER NOT NULL,
  return_from   INTEGER,
  return_until  INTEGER,
  note          TEXT NOT NULL,
  state         TEXT NOT NULL,
  taken_by      TEXT,
  created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX asks_schedule ON asks (schedule_id);

-- Whom it asks; said: no, or NULL.
CREATE TABLE ask_people (
  ask_id     TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  said       TEXT,
  PRIMARY KEY (ask_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ask_people_account ON ask_people (account_id);

-- The ask whose link a note leads to.
ALTER TABLE oncall_notes ADD COLUMN ask_id TEXT;
